"""Result folders on a cluster, stopped and resumed while parts of the table change: every key once, and no other.

A run is stopped when its first part is done, or later. Of what was done, the second run keeps the parts that are the
same and begin at the same row, and makes all others again: which these are, the test works out by itself. In every
second trial the first part stays as it is, so that there is something to keep.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from rdplearn._distributed.parquet_parts import open_dataset
from rdplearn._distributed.result_folder import CHECKSUMS, result_name
from rdplearn._results.scored import scored_rows
from rdplearn.errors import TableError
from tests.distributed.conftest import client  # noqa: F401 - a fixture
from tests.distributed.test_result_folders import (  # noqa: F401 - fixtures
    files_in,
    keys_in,
    model,
    rows_from,
    score,
)
from tests.soak.conftest import Record, sized

TRIALS, MOST_PARTS, MOST_ROWS = 60, 8, 300
NAMES = ("a.parquet", "a.pq", "b.parquet", "c", "d", "sales.2024-01", "sales.2024-02", "deep/a.parquet", "deep/a.pq")
TAKEN = "a.pq.parquet"  # by the results of a.pq
SAME_NAME = "would both be called"
Rng = np.random.Generator


class Parts:
    """The parts of a table, in which every row has a key of its own."""

    def __init__(self, folder: Path, rng: Rng, *, keeps_the_first: bool) -> None:
        self.folder, self.rng, self.next_key = folder, rng, 0
        for name in rng.choice(NAMES, int(rng.integers(4, MOST_PARTS)), replace=False):
            self.write(str(name))
        self.kept = self.paths()[0] if keeps_the_first else None

    def write(self, name: str) -> None:
        n_rows = int(self.rng.integers(1, MOST_ROWS))
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows_from(self.next_key, n_rows), self.folder / name)
        self.next_key += n_rows

    def paths(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def keys(self) -> list[int]:
        return sorted(key for path in self.paths() for key in pq.read_table(path)["key"].to_pylist())

    def last_key(self) -> int:
        return int(pq.read_table(self.paths()[-1])["key"][0].as_py())

    def one(self) -> Path:
        some = [path for path in self.paths() if path != self.kept]
        return some[int(self.rng.integers(len(some)))]

    def free_name(self) -> str:
        free = [
            name
            for name in (*NAMES, TAKEN)
            if not (self.folder / name).exists() and (self.kept is None or self.kept < self.folder / name)
        ]
        return str(self.rng.choice(free)) if free else "t_more.parquet"


def remove(parts: Parts) -> None:
    if len(parts.paths()) > 2:
        parts.one().unlink()


def rename(parts: Parts) -> None:
    target = parts.folder / parts.free_name()
    target.parent.mkdir(exist_ok=True)
    parts.one().rename(target)


def replace(parts: Parts) -> None:
    parts.write(str(parts.one().relative_to(parts.folder)))


def add(parts: Parts) -> None:
    parts.write(parts.free_name())


def swap(parts: Parts) -> None:
    first, second = parts.one(), parts.one()
    if first != second:
        first.rename(parts.folder / "between")
        second.rename(first)
        (parts.folder / "between").rename(second)


def leave(parts: Parts) -> None:
    """Nothing has changed."""


CHANGES: tuple[Callable[[Parts], None], ...] = (remove, rename, replace, add, swap, leave)


def facts_of(table: str) -> dict[str, tuple[Any, ...]]:
    """What decides the results of each part, by the names of these."""
    facts: dict[str, tuple[Any, ...]] = {}
    for part in open_dataset(table).parts:
        content = Path(part.path).read_bytes()
        changed = Path(part.path).stat().st_mtime_ns
        facts[result_name(part)] = (part.path, part.first_row, part.n_rows, changed, hashlib.sha256(content).digest())
    return facts


def failing_at(key: int, noted: Path, first: str) -> Callable[[Any, Any], Any]:
    """Score, but fail at the part that has this key, once the results of the first part are noted."""

    def apply(model: Any, table: Any) -> Any:  # noqa: F811 - runs on a worker
        for batch in scored_rows(model, table):
            if key in batch.rows.column("key").to_pylist():
                for _ in range(1000):
                    if noted.exists() and first in noted.read_text():
                        break
                    time.sleep(0.05)
                raise RuntimeError("stopped here")
            yield batch

    return apply


def kept_files(partial: Path, before: dict[str, tuple[Any, ...]], table: str) -> dict[str, int]:
    """The results that a resumed run should keep, with the numbers that the disk has for them."""
    noted = [line.partition("  ")[2] for line in (partial / CHECKSUMS).read_text().splitlines()]
    after = facts_of(table)
    return {name: (partial / name).stat().st_ino for name in noted if before[name] == after.get(name)}


def test_every_key_comes_out_once_whatever_changes(client, model, tmp_path: Path, record: Record):  # noqa: F811
    tally = Counter({change.__name__: 0 for change in CHANGES}, refused=0, resumed=0, parts_kept=0, parts_made=0)
    for trial in range(sized(TRIALS)):
        rng = np.random.default_rng(trial)
        place = tmp_path / str(trial)
        parts, output = Parts(place / "in", rng, keeps_the_first=trial % 2 == 1), place / "out"
        partial, table = place / "out.partial", str(place / "in" / "**")
        before = facts_of(table)
        stop = failing_at(parts.last_key(), partial / CHECKSUMS, next(iter(before)))
        with pytest.raises((RuntimeError, TableError), match=f"stopped here|{SAME_NAME}"):
            score(client, model, table, output, apply=stop)
        assert not output.exists()
        for _ in range(int(rng.integers(1, 4))):
            change = CHANGES[int(rng.integers(len(CHANGES)))]
            change(parts)
            tally[change.__name__] += 1
        names = [f"{str(path).removesuffix('.parquet')}.parquet" for path in parts.paths()]
        if len(set(names)) < len(names):
            with pytest.raises(TableError, match=SAME_NAME):
                score(client, model, table, output, resume=True)
            assert not output.exists()
            tally["refused"] += 1
            continue
        kept = kept_files(partial, before, table) if partial.exists() else {}
        n_rows, was_begun = score(client, model, table, output, resume=True)
        assert was_begun == bool(kept), f"trial {trial}"
        assert kept.items() <= {name: (output / name).stat().st_ino for name in facts_of(table)}.items()
        tally.update(resumed=was_begun, parts_kept=len(kept), parts_made=len(names) - len(kept))
        assert keys_in(output) == parts.keys(), f"trial {trial}"
        assert n_rows == len(parts.keys()), f"trial {trial}"
        score(client, model, table, place / "fresh")
        assert files_in(output) == files_in(place / "fresh"), f"trial {trial}"
        assert not list(place.glob("*.partial*")), f"trial {trial}"
        shutil.rmtree(place)
    assert tally["resumed"] + tally["refused"] >= sized(TRIALS) // 2
    record("Conservation of keys on Dask", trials=sized(TRIALS), **tally, lost_or_doubled=0)
