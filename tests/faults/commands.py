"""The commands that write, on a small table, and what is left of them after a fault."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from rdplearn.cli.app import app
from tests.cli.conftest import QUICK, sales

FEW = [*QUICK, "-q"]
ANSWERS = """row,answer,when,order,amount,city,sold,fraud
58,anomalous,2026-11-18T03:51:07Z,A00057,9857,Oslo,2024-01-02,0
3,normal,2026-11-18T03:51:09Z,A00002,120.5,Rome,2024-01-03,0
"""


@dataclass(frozen=True)
class Command:
    """Words, in which {} is the folder, and the files that it writes there."""

    line: str
    writes: tuple[str, ...]
    options: tuple[str, ...] = ("-q",)

    def words(self, folder: Path) -> list[str]:
        """The words to run in this folder."""
        return [*(word.format(folder) for word in self.line.split()), *self.options]


def commands() -> dict[str, Command]:
    """All of them, by name."""
    jobs, few = ("--jobs", "1", "-q"), tuple(FEW)
    return {
        "fit": Command("fit {0}/sales.csv -m {0}/new --id order --label fraud", ("new",), few),
        "update": Command("fit {0}/sales.csv --update {0}/model", ("model",), jobs),
        "score csv": Command("score {0}/model {0}/sales.csv --id order -o {0}/s.csv --resume", ("s.csv",), jobs),
        "score jsonl": Command("score {0}/model {0}/sales.csv -o {0}/s.jsonl --resume", ("s.jsonl",), jobs),
        "score parquet": Command("score {0}/model {0}/sales.csv -o {0}/s.parquet --resume", ("s.parquet",), jobs),
        "detect": Command(
            "detect {0}/sales.csv -o {0}/s.csv -m {0}/new --report {0}/page.html", ("new", "page.html", "s.csv"), few
        ),
        "embed": Command("embed {0}/features {0}/sales.csv -o {0}/f.parquet --resume", ("f.parquet",), jobs),
        "cluster": Command("cluster {0}/groups {0}/sales.csv -o {0}/g.csv --resume", ("g.csv",), jobs),
        "export": Command("export {0}/model -o {0}/m.onnx", ("m.onnx",)),
        "report": Command("report {0}/model {0}/sales.csv -o {0}/page.html", ("page.html",), jobs),
        "tell": Command("tell {0}/model {0}/answers.csv -o {0}/told", ("told",)),
        "mute": Command("mute {0}/model {0}/answers.csv --row 58 --same city -o {0}/quiet", ("quiet",)),
        "watch": Command("watch {0}/model {0}/sales.csv --report {0}/page.html", ("page.html",), jobs),
    }


def inputs(folder: Path) -> None:
    """Make the files that the commands read."""
    (folder / "sales.csv").write_text(sales())
    (folder / "answers.csv").write_text(ANSWERS)
    learned = "--ignore order --steps 30 --components 3 --jobs 1 -q"
    for words in (
        f"fit {folder}/sales.csv -m {folder}/model --id order --label fraud {' '.join(FEW)}",
        f"embed {folder}/sales.csv -m {folder}/features -o {folder}/f.csv {learned}",
        f"cluster {folder}/sales.csv -k 2 -m {folder}/groups {learned}",
    ):
        done = CliRunner().invoke(app, words.split())
        assert done.exit_code == 0, done.output
    (folder / "f.csv").unlink()


def fresh(command: Command, given: Path, folder: Path) -> None:
    """A folder with the inputs alone, and old files where the command will write."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(given, folder)
    for name in command.writes:
        if not (folder / name).exists():
            (folder / name).write_text("old")


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder; of a page without the minute in which it was written."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {
        name: re.sub(rb"\d{4}-\d\d-\d\d \d\d:\d\d", b"", content) if name.endswith(".html") else content
        for name, content in found.items()
    }
