"""What the paper states without an experiment: the measurements do what they say, and the statements hold."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.theory import bounds, class_structure, command, kernel, learning, rounding
from experiments.theory.tables_of_rows import project, small_table

from experiments import theory


@pytest.mark.parametrize("n_targets", [10, 100, 1_000])
def test_projections_stay_within_equations_6_and_7(n_targets):
    measured = bounds.measure({"data": "sklearn/digits", "n_targets": n_targets, "n_draws": 5, "seed": 0})
    for tolerance in bounds.TOLERANCES:
        assert measured[f"norms_beyond_{tolerance}"] <= bounds.norm_bound(tolerance, n_targets)
        assert measured[f"inner_products_beyond_{tolerance}"] <= bounds.inner_product_bound(tolerance, n_targets)


def test_all_pairs_keep_their_distance_at_the_size_that_the_lemma_names():
    size = bounds.lemma_size(bounds.N_ROWS, 0.3)
    measured = bounds.measure({"data": "sklearn/digits", "n_targets": size, "n_draws": 3, "seed": 0})
    assert measured["distances_beyond_0.3"] == 0  # equation 5


def test_bounds_are_those_of_the_paper():
    assert bounds.norm_bound(0.5, 100) == pytest.approx(2 * np.exp(-(0.25 - 0.125) * 25))
    assert bounds.inner_product_bound(0.5, 100) == pytest.approx(4 * np.exp(-(0.25 - 0.125) * 25))
    assert bounds.norm_bound(0.2, 10) == bounds.inner_product_bound(0.2, 10) == 1


def test_fourier_features_are_unbiased_and_their_error_falls_with_the_root_of_k():
    few, many = (
        kernel.measure({"data": "sklearn/digits", "n_targets": k, "n_draws": 100, "seed": 0}) for k in (20, 500)
    )
    assert few["error_of_one"] / many["error_of_one"] == pytest.approx(5, rel=0.15)
    for measured in (few, many):
        assert measured["error_of_mean"] < 1.5 * measured["standard_error"]
        assert measured["pairs_beyond_two_standard_errors"] < 0.1


def test_agreement_of_a_space_with_classes():
    random = np.random.default_rng(0)
    classes = np.arange(200) % 4
    apart = np.eye(4)[classes] + 0.05 * random.normal(size=(200, 4))
    assert class_structure.agreement(apart, classes)["pair_auc"] > 0.99
    assert class_structure.agreement(random.normal(size=(200, 4)), classes)["pair_auc"] == pytest.approx(0.5, abs=0.05)


def test_noise_belongs_to_a_row_and_is_as_large_as_asked():
    rows, _ = small_table("sklearn/digits", 300, 0)
    clean, noisy = (class_structure.noisy_mapping(rows, 64, noise, 0)(rows) for noise in (0.0, 2.0))
    noise = noisy - clean
    assert noise.std() / clean.std() == pytest.approx(2, rel=0.1)
    correlations = np.corrcoef(noise)[np.triu_indices(300, 1)]
    assert abs(correlations.mean()) < 0.02
    again = class_structure.noisy_mapping(rows, 64, 2.0, 0)(rows[:7])
    np.testing.assert_allclose(again, noisy[:7], atol=1e-4)


def test_the_distance_loss_is_recorded_over_steps():
    setting = {"task": "detection", "data": "sklearn/breast_cancer", "auxiliary": 1.0, "n_steps": 300, "seed": 0}
    measured = learning.measure(setting)
    assert len(measured["step"]) == len(measured["distance_loss"]) > 10
    assert learning.learned({"measured": measured}) < 0.9


def test_the_curvature_tells_where_steps_are_too_long():
    rows = np.ones((50, 300))
    assert rounding.sharpness(rows, 50) == pytest.approx(2 / 50 * 301)
    assert rounding.sharpness(rows, 50) == pytest.approx(rounding.sharpness(np.ones((400, 300)), 50))
    assert rounding.stable_below(0.1) == pytest.approx(38)  # the paper's rate, momentum 0.9


def test_the_table_of_kernels_has_the_curvature_of_each_set():
    setting = {"data": "lung", "n_steps": 10}
    measured = {"auc_roc": dict.fromkeys(rounding.KERNELS, 0.5), "largest_difference": {"Nehalem": 1e-7}}
    lines = [{"setting": setting, "measured": one} for one in (measured, {**measured, "sharpness": 34})]
    assert rounding.as_markdown(lines).count("| 1e-07 | 34 | 38 |") == 2


def test_mappings_are_drawn_anew_by_seed():
    rows, _ = small_table("sklearn/digits", 20, 0)
    one, again, other = (project(rows, "linear", 8, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert not np.allclose(one, other)


def test_lines_resume_and_are_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    for name in ("bounds", "kernel", "class_structure", "learning"):
        assert command.work(name, tmp_path, quick=True) == len(theory.statement(name).settings(True))
        assert command.work(name, tmp_path, quick=True) == 0
        (path,) = command.draw_all(name, tmp_path, tmp_path / "figures")
        assert path.read_text().startswith("<?xml")
        for record in command.read(name, tmp_path):
            assert {"setting", "measured", "machine", "versions", "commit"} <= set(record)


def test_unknown_statements_are_refused():
    with pytest.raises(KeyError, match="must be one of bounds, kernel"):
        theory.statement("nonsense")
