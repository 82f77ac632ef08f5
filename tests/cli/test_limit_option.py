"""`--limit`: what stops a file that asks for much is raised by the option that the error names."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from tests.cli.conftest import Run


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_limit_is_raised_by_the_option_that_the_error_names(form: str, tmp_path: Path, run: Run):
    path, names = tmp_path / f"wide.{form}", [f"c{place}" for place in range(30)]
    table = pa.table({name: [1, 2, 3] for name in names})
    if form == "csv":
        path.write_text("\n".join(",".join(row) for row in (names, ["1"] * 30, ["2"] * 30)))
    elif form == "arrow":
        feather.write_feather(table, path)
    else:
        pq.write_table(table, path)
    told = run("inspect", path, "--limit", "columns=29", exit_code=1).stderr
    assert "has 30 columns, more than the limit of 29. If you mean it, raise the limit: --limit columns=30." in told
    run("inspect", path, "--limit", "columns=30")


def test_a_limit_on_the_command_line_is_a_name_and_a_number(tmp_path: Path, run: Run):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    assert "must be NAME=NUMBER, such as cell=64" in run("inspect", path, "--limit", "cell", exit_code=2).output
    assert "one of 'columns', 'cell', 'block'" in run("inspect", path, "--limit", "rows=3", exit_code=1).stderr
