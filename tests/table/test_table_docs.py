"""The code blocks of docs/tables.md run as they stand."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_page_on_tables_runs():
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.attempted > 20
    assert results.failed == 0


def test_the_examples_in_docstrings_run():
    import rdplearn.table as package

    n_run = 0
    for path in sorted(Path(package.__file__).parent.glob("*.py")):
        module = __import__(f"rdplearn.table.{path.stem}", fromlist=["*"]) if path.stem != "__init__" else package
        results = doctest.testmod(module)
        assert results.failed == 0, path.name
        n_run += results.attempted
    assert n_run > 40
