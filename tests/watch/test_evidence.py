"""The tests are those of SciPy, and effects do not grow with the number of rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, chi2_contingency, fisher_exact, mannwhitneyu

from rdplearn._watch.evidence import (
    above_promise,
    change_of_share,
    corrected,
    distance_of_counts,
    rise_of_ranks,
    rise_of_share,
)


def test_counts_are_compared_by_the_chi_squared_test():
    known, new = [120, 80, 200, 40], [30, 60, 90, 25]
    expected = chi2_contingency([known, new], correction=False).pvalue
    assert distance_of_counts(known, new).p_value == pytest.approx(expected)


def test_places_with_few_rows_are_put_together():
    crowded = distance_of_counts([100, 100], [100, 100])
    assert distance_of_counts([100, 98, 1, 1], [100, 99, 0, 1]).p_value == pytest.approx(crowded.p_value)
    assert distance_of_counts([3], [4]).p_value == 1.0
    assert distance_of_counts([0, 0], [4, 5]).p_value == 1.0


def test_an_effect_is_the_share_of_rows_that_moved_whatever_their_number():
    for scale in (100, 10_000, 1_000_000):
        evidence = distance_of_counts([5 * scale, 5 * scale], [6 * scale, 4 * scale])
        assert evidence.effect == pytest.approx(0.1, abs=0.01)


def test_what_chance_does_is_no_effect():
    rng = np.random.default_rng(0)
    shares = np.full(20, 0.05)
    effects = [
        distance_of_counts(rng.multinomial(500, shares), rng.multinomial(200, shares)).effect for _ in range(200)
    ]
    assert np.median(effects) < 0.04
    p_values = [
        distance_of_counts(rng.multinomial(500, shares), rng.multinomial(400, shares)).p_value for _ in range(400)
    ]
    assert np.mean(np.array(p_values) < 0.05) < 0.09


def test_shares_are_compared_by_fishers_exact_test():
    one_sided = fisher_exact([[30, 970], [10, 1990]], alternative="greater").pvalue
    assert rise_of_share(10, 2000, 30, 1000).p_value == pytest.approx(one_sided)
    assert change_of_share(10, 2000, 30, 1000).p_value == pytest.approx(2 * one_sided)
    assert change_of_share(100, 2000, 1, 1000).p_value < 1e-6
    assert rise_of_share(100, 2000, 1, 1000).p_value == pytest.approx(1.0)


def test_a_promise_is_tested_by_the_exact_binomial_test():
    expected = binomtest(25, 1000, 0.01, alternative="greater").pvalue
    assert above_promise(0.01, 25, 1000) == pytest.approx(expected)


def test_ranks_are_compared_by_the_mann_whitney_test():
    rng = np.random.default_rng(0)
    before, now = rng.integers(0, 10, 300), rng.integers(2, 11, 200)
    counts = (np.bincount(values, minlength=11) for values in (before, now))
    expected = mannwhitneyu(now, before, alternative="greater", use_continuity=False, method="asymptotic")
    evidence = rise_of_ranks(*counts)
    assert evidence.p_value == pytest.approx(expected.pvalue)
    assert evidence.effect == pytest.approx(2 * expected.statistic / (300 * 200) - 1)


def test_many_tests_are_corrected_together():
    assert corrected([0.01] * 5) == pytest.approx([0.05] * 5)
    assert corrected([0.6, 0.001]) == pytest.approx([0.6, 0.002])
