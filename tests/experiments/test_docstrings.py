"""The examples in the docstrings of the experiments run."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = (
    "baselines.doc2vec", "datasets", "false_alarms", "markdown", "metrics", "mixed.columns", "mixed.loading",
    "mixed.measuring", "mixed.planting", "significance", "study.comparison", "study.values",
)  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name):
    results = doctest.testmod(importlib.import_module(f"experiments.{name}"))
    assert results.attempted > 0
    assert results.failed == 0
