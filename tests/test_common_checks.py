"""scikit-learn's own list of checks, whole, with no expected failures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from rdplearn import RDPClusterer, RDPDetector, RDPTransformer

DETECTOR = RDPDetector()
# Small, because the checks fit some hundred times; nothing else about them is special.
PAPER_DETECTOR = RDPDetector.paper(n_members=3, n_rounds=2, n_steps=60, max_samples=256)
TRANSFORMER = RDPTransformer(n_components=8, n_steps=30, batch_size=32)
PAPER = RDPTransformer.paper(n_components=8, n_steps=30, batch_size=32)
CLUSTERER = RDPClusterer(transformer=RDPTransformer(n_steps=30), n_init=2)
ESTIMATORS = [DETECTOR, PAPER_DETECTOR, TRANSFORMER, PAPER, CLUSTERER]


def name_of(check) -> str:
    return getattr(check, "func", check).__name__


def with_checks(estimators: list[BaseEstimator]) -> pytest.MarkDecorator:
    """As `parametrize_with_checks`, but for those of array APIs: SciPy must be told of them before it is imported."""
    names, pairs = parametrize_with_checks(estimators).args
    return pytest.mark.parametrize(
        names,
        [pair for pair in pairs if not name_of(pair[1]).startswith("check_array_api")],
        **parametrize_with_checks(estimators).kwargs,
    )


def check_array_apis(estimators: list[BaseEstimator]) -> None:
    """The others, to be run where SCIPY_ARRAY_API is set; says how many there were."""
    checks = [pair for estimator in estimators for pair in estimator_checks_generator(estimator)]
    checks = [(estimator, check) for estimator, check in checks if name_of(check).startswith("check_array_api")]
    for estimator, check in checks:
        check(estimator)
    sys.stdout.write(f"{len(checks)} checked")


def checked_with_array_apis(names: str) -> str:
    """Run them in a process of its own. names : of a list of estimators, with its module."""
    module, _, name = names.rpartition(".")
    code = f"from tests.test_common_checks import check_array_apis; from {module} import {name} as all; "
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + "check_array_apis(all)"],
        cwd=Path(__file__).parents[1], env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_array_apis_may_be_switched_on():
    assert checked_with_array_apis("tests.test_common_checks.ESTIMATORS") == "5 checked"


@with_checks(ESTIMATORS)
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
    names = {name_of(check) for _, check in estimator_checks_generator(estimator)}
    assert len(names) > 40
    assert wanted | {"check_methods_subset_invariance"} <= names
