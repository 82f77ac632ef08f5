"""The figures on the page are those of the result file; reasons that name two columns are the same with all seeds."""

from __future__ import annotations

import json

import numpy as np
from experiments.near_equal_columns import FIGURES, MOVED, N_SEEDS, planted_table, with_figures
from experiments.planted_explanations import DETECTORS, PAGE

RUNS = json.loads(FIGURES.read_text())


def test_the_page_shows_the_figures_of_the_result_file():
    assert [(run["detector"], run["moved"]) for run in RUNS] == [(name, which) for name in DETECTORS for which in MOVED]
    assert with_figures(PAGE.read_text(), RUNS) == PAGE.read_text()


def test_all_named_columns_are_right_and_the_same_at_least_as_often_as_the_first():
    default, paper = (run for run in RUNS if run["moved"] == "both columns")
    assert default["named right"] >= 0.95 * N_SEEDS * default["rows"]
    assert default["named same"] >= 0.95 * default["rows"]
    assert default["named same"] >= default["first same"]
    assert paper["named same"] > paper["first same"]


def test_pairs_are_nearly_equal_but_where_one_was_moved():
    rows, moved = planted_table(1, seed=0)
    apart = np.abs(rows[:, 0::2] - rows[:, 1::2])
    changed = np.isin(np.arange(len(rows)), list(moved))
    assert apart[~changed].max() < 0.2
    assert (apart[changed].max(axis=1) > 5).all()
