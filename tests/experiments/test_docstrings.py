"""The examples in the docstrings of the experiments run."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = ("baselines.doc2vec", "datasets", "metrics", "significance", "study.comparison", "study.values")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name):
    results = doctest.testmod(importlib.import_module(f"experiments.{name}"))
    assert results.attempted > 0
    assert results.failed == 0
