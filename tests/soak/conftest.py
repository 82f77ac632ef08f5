"""Sizes, and figures that a part leaves behind when it has passed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rdplearn._version import __version__

RESULTS = Path(__file__).parent / "results"
SHARE = float(os.environ.get("RDPLEARN_SOAK_SHARE", "1"))  # of the full size

Record = Callable[..., None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in Path(item.path).parents:
            item.add_marker(pytest.mark.soak)


def sized(full: int) -> int:
    """How many cases to run."""
    return max(1, round(full * SHARE))


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """Keep figures of a part that has passed: `record(part, **figures)`, once, at the end of a test."""
    start = time.monotonic()

    def keep(part: str, **figures: int | float | str) -> None:
        RESULTS.mkdir(exist_ok=True)
        line = {
            "part": part,
            "figures": figures,
            "share": SHARE,
            "seconds": round(time.monotonic() - start),
            "version": __version__,
            "day": datetime.now(UTC).date().isoformat(),
            "test": request.node.nodeid.split("/")[-1],
        }
        name = part.lower().replace(" ", "-").replace(",", "")
        (RESULTS / f"{name}.json").write_text(json.dumps(line, indent=1) + "\n")

    return keep


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of sales."""
    from typer.testing import CliRunner

    from rdplearn.cli.app import app
    from tests.cli.conftest import QUICK, sales

    folder = tmp_path_factory.mktemp("fitted")
    (folder / "sales.csv").write_text(sales())
    words = ["fit", folder / "sales.csv", "-m", folder / "model", "--id", "order", "--label", "fraud", *QUICK]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return folder / "model"
