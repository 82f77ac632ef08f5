"""scikit-learn's own list of checks, whole, with no expected failures."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from rdplearn import RDPClusterer, RDPDetector, RDPTransformer

DETECTOR = RDPDetector()
# Small, because the checks fit some hundred times; nothing else about them is special.
PAPER_DETECTOR = RDPDetector.paper(n_members=3, n_rounds=2, n_steps=60, max_samples=256)
TRANSFORMER = RDPTransformer(n_components=8, n_steps=30, batch_size=32)
PAPER = RDPTransformer.paper(n_components=8, n_steps=30, batch_size=32)
CLUSTERER = RDPClusterer(transformer=RDPTransformer(n_steps=30), n_init=2)


@parametrize_with_checks([DETECTOR, PAPER_DETECTOR, TRANSFORMER, PAPER, CLUSTERER])
def test_scikit_learn_common_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("estimator", "wanted"),
    [
        (DETECTOR, {"check_outliers_train", "check_outliers_fit_predict"}),
        (TRANSFORMER, {"check_transformer_general", "check_transformer_preserve_dtypes"}),
        (CLUSTERER, {"check_clustering", "check_transformer_general"}),
    ],
    ids=["detector", "transformer", "clusterer"],
)
def test_the_common_checks_really_ran(estimator, wanted):
    names = {getattr(check, "func", check).__name__ for _, check in estimator_checks_generator(estimator)}
    assert len(names) > 40
    assert wanted | {"check_methods_subset_invariance"} <= names
