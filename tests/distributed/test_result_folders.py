"""Result folders: every row once, of this run alone, whatever names the parts have and whatever an earlier run left."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rdplearn
from rdplearn import RDPDetector, TableModel
from rdplearn._distributed.client import Tasks
from rdplearn._distributed.dataset_results import write_results
from rdplearn._distributed.parquet_parts import open_dataset
from rdplearn._distributed.result_folder import PartFile, ResultFolder
from rdplearn._results.scored import scored_rows
from rdplearn.cli.checks import identity_of
from rdplearn.errors import TableError

ROWS = 500
MADE_OF = {"model": "the same"}


def rows_from(first: int, n_rows: int = ROWS) -> pa.Table:
    return pa.table({"key": np.arange(first, first + n_rows), "x": np.random.default_rng(first).normal(size=n_rows)})


@pytest.fixture(scope="module")
def model():
    detector = RDPDetector(n_members=2, n_rounds=1, n_steps=10, random_state=0)
    return TableModel(detector, rdplearn.TableEncoder(ignore=["key"])).fit(rows_from(0))


@pytest.fixture
def place(tmp_path):
    """Three parts."""
    (tmp_path / "in").mkdir()
    for number, name in enumerate(["a", "b", "c"]):
        pq.write_table(rows_from(number * ROWS), tmp_path / "in" / f"{name}.parquet")
    return tmp_path


def score(client, model, table, output, *, resume=False, apply=scored_rows, made_of=MADE_OF, count=lambda n_rows: None):
    dataset = open_dataset(table)
    with ResultFolder(output, made_of, resume=resume) as folder:
        n_rows, _, was_begun = write_results(
            dataset, model, apply, Tasks(client), folder, name="rdp-score-part", carried=["key"], watchers=[],
            identity_of=identity_of, count=count,
        )  # fmt: skip
    return n_rows, was_begun


def keys_in(folder) -> list[int]:
    return sorted(key for path in folder.rglob("*.parquet") for key in pq.read_table(path)["key"].to_pylist())


def stop_before_the_end(output) -> None:
    """Make of a finished folder what a run leaves that is stopped just before it takes its name."""
    partial = output.with_name(f"{output.name}.partial")
    output.rename(partial)
    (partial / "_made_of.json").write_text(json.dumps(MADE_OF))
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in sorted(partial.glob("*.parquet"))
    ]
    (partial / "_checksums.sha256").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("resume", [False, True])
def test_a_second_run_with_the_same_output_is_refused(client, model, place, resume):
    output = place / "out"
    with ResultFolder(output, MADE_OF) as first:
        finished = first.partial / "done.parquet"
        finished.touch()
        with pytest.raises(TableError, match=r"Another run is writing '.*out'. Wait for it, or pass another name"):
            score(client, model, place / "in", output, resume=resume)
        assert finished.exists()
    assert (output / "done.parquet").exists()
    assert sorted(os.listdir(place)) == ["in", "out"]


def test_what_a_killed_run_leaves_holds_nobody_up(client, model, place):
    (place / "out.partial.lock").touch()
    assert score(client, model, place / "in", place / "out") == (3 * ROWS, False)
    assert sorted(os.listdir(place)) == ["in", "out"]


def test_a_folder_of_somebody_else_is_left_alone(client, model, place):
    (place / "out.partial").mkdir()
    (place / "out.partial" / "notes.txt").touch()
    with pytest.raises(TableError, match=r"is not a folder of unfinished results. Pass another name"):
        score(client, model, place / "in", place / "out")
    assert (place / "out.partial" / "notes.txt").exists()


@pytest.mark.parametrize("names", [["a.parquet", "a.pq"], ["sales.2024-01", "sales.2024-02", "sales.2024-03"]], ids=str)
def test_parts_with_names_alike_keep_all_their_rows(client, model, tmp_path, names):
    (tmp_path / "in").mkdir()
    for number, name in enumerate(names):
        pq.write_table(rows_from(number * ROWS), tmp_path / "in" / name)
    n_rows, _ = score(client, model, str(tmp_path / "in" / f"{names[0][0]}*"), tmp_path / "out")
    assert n_rows == len(names) * ROWS
    assert keys_in(tmp_path / "out") == list(range(n_rows))


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a.pq", "a.pq.parquet"], r"would both be called 'a\.pq\.parquet'. Rename one"),
        (["_a.parquet", "b.parquet"], r"_a\.parquet' begins with a dot or an underscore"),
    ],
    ids=str,
)
def test_parts_whose_results_would_be_lost_are_refused(client, model, tmp_path, names, told):
    (tmp_path / "in").mkdir()
    for number, name in enumerate(names):
        pq.write_table(rows_from(number * ROWS), tmp_path / "in" / name)
    with pytest.raises(TableError, match=told):
        score(client, model, str(tmp_path / "in" / "*"), tmp_path / "out")
    assert os.listdir(tmp_path) == ["in"]


def remove_an_input(place):
    (place / "in" / "c.parquet").unlink()
    return range(2 * ROWS)


def rename_an_input(place):
    (place / "in" / "c.parquet").rename(place / "in" / "d.parquet")
    return range(3 * ROWS)


def move_an_input(place):
    (place / "in" / "deep").mkdir()
    (place / "in" / "a.parquet").rename(place / "in" / "deep" / "a.parquet")
    return range(3 * ROWS)


def rewrite_an_input(place):
    pq.write_table(rows_from(9000, 7), place / "in" / "b.parquet")
    return [*range(ROWS), *range(2 * ROWS, 3 * ROWS), *range(9000, 9007)]


def zero_a_page(place):
    path = place / "out.partial" / "b.parquet"
    content = bytearray(path.read_bytes())
    content[200:1200] = bytes(1000)
    path.write_bytes(content)
    return range(3 * ROWS)


def shorten_a_result(place):
    path = place / "out.partial" / "b.parquet"
    whole = pq.read_table(path)
    pq.write_table(whole.slice(0, 10).replace_schema_metadata(pq.read_metadata(path).metadata), path)
    return range(3 * ROWS)


def tear_the_checksums(place):
    path = place / "out.partial" / "_checksums.sha256"
    path.write_bytes(path.read_bytes()[:-30] + b"\xff")
    return range(3 * ROWS)


CHANGES = [
    remove_an_input, rename_an_input, move_an_input, rewrite_an_input, zero_a_page, shorten_a_result, tear_the_checksums
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_resumed_run_has_every_row_once(client, model, place, change):
    score(client, model, place / "in", place / "out")
    stop_before_the_end(place / "out")
    kept = (place / "out.partial" / "a.parquet").stat().st_ino
    expected = sorted(change(place))
    n_rows, was_begun = score(client, model, place / "in", place / "out", resume=True)
    assert was_begun is (change is not move_an_input)  # which changes the numbers of all rows
    assert n_rows == len(expected)
    assert keys_in(place / "out") == expected
    if change is not move_an_input:
        assert (place / "out" / "a.parquet").stat().st_ino == kept
    fresh = score(client, model, place / "in", place / "fresh")
    assert fresh == (n_rows, False)
    assert files_in(place / "out") == files_in(place / "fresh")


def files_in(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("n_rows", [ROWS, ROWS + 100, ROWS - 100], ids=["as many", "more", "fewer"])
def test_a_part_that_is_replaced_while_it_runs_is_an_error(client, model, place, n_rows):
    other = place / "other.parquet"
    pq.write_table(rows_from(9000, n_rows), other)
    replaced = str(place / "in" / "b.parquet")

    def replace_and_score(model, table):
        with suppress(FileNotFoundError):  # another worker has done it
            os.replace(other, replaced)
        yield from scored_rows(model, table)

    # whichever worker notices it first: the one that counts the rows, or the one that still reads them
    noticed = r"b\.parquet' (has changed since its 500 rows were counted. Repeat|was changed while it was read)"
    with pytest.raises(TableError, match=noticed):
        score(client, model, place / "in", place / "out", apply=replace_and_score)
    assert not (place / "out").exists()
    score(client, model, place / "in", place / "out", resume=True)
    assert keys_in(place / "out") == [*range(ROWS), *range(2 * ROWS, 3 * ROWS), *range(9000, 9000 + n_rows)]


def test_a_late_part_of_another_run_is_noticed(client, model, place):
    score(client, model, place / "in", place / "earlier", made_of={"model": "another"})
    late, taken = place / "earlier" / "a.parquet", place / "out.partial" / "a.parquet"

    def be_late(n_rows):
        if taken.exists() and late.exists():
            os.replace(late, taken)

    with pytest.raises(
        TableError, match=r"a\.parquet' is not what this run has made of '.*a\.parquet'. Something else"
    ):
        score(client, model, place / "in", place / "out", count=be_late)
    assert not (place / "out").exists()


def test_a_worker_makes_no_folder_for_a_run_that_has_ended(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"), PartFile(tmp_path / "out.partial" / "a.parquet"):
        pass
    assert os.listdir(tmp_path) == []


def test_results_that_something_else_removes_are_missed(client, model, place):
    partial = place / "out.partial"

    def score_and_lose(model, table):
        yield from scored_rows(model, table)
        shutil.rmtree(partial)
        partial.mkdir()

    with pytest.raises((TableError, OSError)):
        score(client, model, place / "in", place / "out", apply=score_and_lose)
    assert not (place / "out").exists()
