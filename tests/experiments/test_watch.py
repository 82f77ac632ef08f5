"""The figures on the page are those of the result lines, and they reach what is promised."""

from __future__ import annotations

from experiments.results import read_file
from experiments.watch.__main__ import LINES, PAGE, by_drift, with_figures

RUNS = list(read_file(LINES))


def test_the_page_shows_the_figures_of_the_result_lines():
    assert with_figures(PAGE.read_text(), RUNS) == PAGE.read_text()


def test_tables_of_the_same_source_are_called_changed_as_seldom_as_promised():
    verdicts = [verdict for run in RUNS for verdict in run["same"]]
    assert len(verdicts) >= 200
    assert sum(verdict["due"] for verdict in verdicts) <= 0.05 * len(verdicts)


def test_planted_changes_are_found_as_often_as_promised():
    found = {words: sum(v["due"] for v in verdicts) / len(verdicts) for words, verdicts in by_drift(RUNS).items()}
    assert sum(share >= 0.9 for share in found.values()) >= 20
