"""A small table of sales with planted frauds, a model of it, and a way to run commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from rdplearn.cli.app import app

QUICK = ["--members", "2", "--rounds", "2", "--steps", "30", "--jobs", "1"]
FRAUDS = (57, 157, 257)
Run = Callable[..., Result]


def sales(n_rows: int = 300, *, frauds: tuple[int, ...] = FRAUDS, labels: tuple[int, ...] = FRAUDS) -> str:
    """A CSV of orders; `labels` need not be true."""
    rng = np.random.default_rng(0)
    lines = ["order,amount,city,sold,fraud"]
    for row in range(n_rows):
        amount = 9800 + row if row in frauds else round(float(rng.uniform(20, 310)), 2)
        city = ("Oslo", "Rome", "Paris")[int(rng.integers(3))]
        lines.append(f"A{row:05d},{amount},{city},2024-01-{1 + row % 28:02d},{int(row in labels)}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def run() -> Run:
    def run_command(*arguments: object, stdin: str | None = None, exit_code: int = 0) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        assert "Traceback" not in result.output
        assert result.exit_code == exit_code, result.output
        return result

    return run_command


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    path.write_text(sales())
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fitted")
    (folder / "sales.csv").write_text(sales())
    arguments = [
        "fit",
        folder / "sales.csv",
        "-m",
        folder / "model.safetensors",
        "--id",
        "order",
        "--label",
        "fraud",
        "--strict",
    ]
    result = CliRunner().invoke(app, [str(argument) for argument in [*arguments, *QUICK]])
    assert result.exit_code == 0, result.output
    return folder / "model.safetensors"
