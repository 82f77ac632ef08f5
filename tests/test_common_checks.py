"""scikit-learn's own list of checks, whole, with no expected failures."""

from __future__ import annotations

from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from rdplearn import RDPDetector

# Small, because the checks fit some hundred times; nothing else about it is special.
DETECTOR = RDPDetector(n_members=3, n_rounds=2, n_steps=60, max_samples=256)


@parametrize_with_checks([DETECTOR])
def test_scikit_learn_common_check(estimator, check):
    check(estimator)


def test_the_common_checks_really_ran():
    names = {check.func.__name__ for _, check in estimator_checks_generator(DETECTOR)}
    assert len(names) > 40
    assert {"check_outliers_train", "check_outliers_fit_predict", "check_methods_subset_invariance"} <= names
