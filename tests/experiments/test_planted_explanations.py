"""The figures on the page are those of the result file, and they reach what is promised."""

from __future__ import annotations

import json

from experiments.planted_explanations import DETECTORS, FIGURES, PAGE, with_figures

RUNS = json.loads(FIGURES.read_text())


def test_the_page_shows_the_figures_of_the_result_file():
    assert with_figures(PAGE.read_text(), RUNS) == PAGE.read_text()


def test_changed_columns_are_named_as_often_as_promised():
    for name in DETECTORS:
        for which, wanted in {"one column": 0.95, "two or three": 0.85}.items():
            counts = [run[which] for run in RUNS if run["detector"] == name]
            n_top = sum(count["in the top 1 %"] for count in counts)
            assert n_top >= 100
            assert sum(count["of these named"] for count in counts) >= wanted * n_top
