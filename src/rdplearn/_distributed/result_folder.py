"""Results of a Parquet dataset: a folder with a file for each of its parts, each written whole by a worker.

While ``scores`` is being made, its parts gather in ``scores.partial``, and ``scores.partial.lock`` keeps other runs
out. The final name is taken in one step when all parts are there, with all their rows, and nothing else. A finished
part bears in its own footer what it was made of, and its checksum is noted beside it, so that it is not made again when
a stopped run is resumed; of a part that was being written when a worker died, nothing is left in the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rdplearn._distributed.parquet_parts import Part, is_hidden
from rdplearn._distributed.worker_memory import keep_freed_memory
from rdplearn._files.atomic import written_whole
from rdplearn._files.lock import is_ours
from rdplearn._results.formats import ParquetRows
from rdplearn._results.resumable import added_up
from rdplearn.errors import TableError
from rdplearn.table import Table
from rdplearn.table_model import TableModel

FOOTER = b"rdplearn"
MADE_OF = "_made_of.json"
CHECKSUMS = "_checksums.sha256"  # as sha256sum writes and checks them
ENDINGS = ("", ".parquet", ".pq")

Apply = Callable[[TableModel, Table], Iterator[Any]]  # such as `scored_rows`


@dataclass(frozen=True)
class FinishedPart:
    """What is known of a part that is done.

    watchers : have seen all its rows; none if an earlier run has done it
    told : warnings
    checksum : of the file of results, if there is one
    """

    n_rows: int
    tally: list[int]
    watchers: Sequence[Any] = ()
    told: list[str] = field(default_factory=list)
    checksum: str | None = None


def apply_to_part(
    part: Part,
    model: TableModel,
    apply: Apply,
    target: Path | None,
    made_of: Mapping[str, Any],
    carried: Sequence[str],
    watchers: Sequence[Any],
) -> FinishedPart:
    """Apply a model to one part, a batch at a time, and write the results whole or not at all.

    apply : gives batches of rows with results; target : where results go, if anywhere
    made_of : goes into the footer; watchers : are shown each batch
    """
    keep_freed_memory()
    n_rows, tally = 0, list[int]()
    with warnings.catch_warnings(record=True) as told, ExitStack() as stack:
        warnings.simplefilter("always", UserWarning)
        file = None if target is None else stack.enter_context(PartFile(target))
        for batch in apply(model, part.open()):
            numbered = replace(batch, first_row=batch.first_row + part.first_row)
            if file is not None:
                file.add(numbered.result(carried))
            for watcher in watchers:
                watcher.add(numbered)
            n_rows += batch.rows.num_rows
            tally = added_up(tally, numbered.tally())
        if n_rows != part.n_rows:
            raise part.changed()
        if file is not None:
            file.sign({"made_of": made_of, "n_rows": n_rows, "tally": tally})
    messages = [str(warning.message) for warning in told]
    return FinishedPart(n_rows, tally, watchers, messages, None if target is None else checksum_of(target))


def finished_earlier(part: Part, target: Path, checksum: str, made_of: Mapping[str, Any]) -> FinishedPart | None:
    """What an earlier run has made of a part, if all of it is still there and nothing has changed since."""
    try:
        if checksum_of(target) != checksum:
            return None
        metadata = pq.read_metadata(target)
        footer = json.loads((metadata.metadata or {})[FOOTER])
    except (OSError, pa.ArrowException, KeyError, ValueError):
        return None
    if footer.get("made_of") != made_of or not metadata.num_rows == footer.get("n_rows") == part.n_rows:
        return None
    return FinishedPart(part.n_rows, [int(count) for count in footer["tally"]], checksum=checksum)


def checksum_of(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class PartFile:
    """A Parquet file that is written whole or not at all, and says in its footer what it was made of."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self._stack = ExitStack()
        self._writer: Any = None

    def __enter__(self) -> PartFile:
        self._temporary = self._stack.enter_context(written_whole(self.target))
        return self

    def add(self, result: pa.RecordBatch) -> None:
        """Append rows."""
        if self._writer is None:
            encodings = ParquetRows().encodings(result.schema)
            self._writer = pq.ParquetWriter(self._temporary, result.schema, **encodings)
            self._stack.push(self._writer)  # closed before the file takes its name
        self._writer.write_batch(result)

    def sign(self, facts: Mapping[str, Any]) -> None:
        """Say in the footer what the file was made of."""
        self._writer.add_key_value_metadata({FOOTER: json.dumps(facts)})

    def __exit__(self, *fault: Any) -> None:
        self._stack.__exit__(*fault)


class ResultFolder:
    """A folder that takes its name when all its parts are there; use it as a context manager.

    Parameters
    ----------
    path : the final name; nothing may bear it yet
    made_of : plain values that decide the content of all parts, or None
        A partial folder is continued only if its own are the same; without any it goes away when there is a fault.
    resume : bool
        Continue a partial folder if there is one; otherwise it is begun anew.
    """

    def __init__(
        self, path: str | os.PathLike[str], made_of: Mapping[str, Any] | None, *, resume: bool = False
    ) -> None:
        self.target = checked_folder(path)
        self.partial = self.target.with_name(f"{self.target.name}.partial")
        self.lock = self.target.with_name(f"{self.target.name}.partial.lock")
        self.made_of, self.resume = json.loads(json.dumps(made_of)), resume

    def __enter__(self) -> ResultFolder:
        self._lock = open(self.lock, "ab")
        try:
            if not is_ours(self._lock.fileno(), self.lock):
                raise TableError(f"Another run is writing '{self.target}'. Wait for it, or pass another name.")
            try:
                self._begin()
            except BaseException:
                self.lock.unlink(missing_ok=True)
                raise
        except BaseException:
            self._lock.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:  # others locked out until all is done
            try:
                if kind is None:
                    checked_folder(self.target)
                    os.rename(self.partial, self.target)
                    for own in (MADE_OF, CHECKSUMS):  # not before: a run that is stopped here can be resumed
                        (self.target / own).unlink(missing_ok=True)
                elif self.made_of is None or not any(self.partial.rglob("*.parquet")):
                    self._remove()
            finally:
                self.lock.unlink(missing_ok=True)

    def _remove(self) -> None:
        """Remove all that was begun; a worker that has not heard of the end may be putting a file there just now."""
        for _ in range(10):
            shutil.rmtree(self.partial, ignore_errors=True)
            if not self.partial.exists():
                return
            time.sleep(0.1)

    def make_folders(self, parts: Sequence[Part]) -> None:
        """Make the folders that parts lie in. Workers make none: the run that they work for may have ended."""
        for folder in {self.path_of(part).parent for part in parts}:
            folder.mkdir(parents=True, exist_ok=True)

    def path_of(self, part: Part) -> Path:
        """Where the results of a part go."""
        return self.partial / result_name(part)

    def checksums(self) -> dict[str, str]:
        """The checksums of the parts that were finished earlier, by their names; a line that is torn is none."""
        try:
            lines = (self.partial / CHECKSUMS).read_text("utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return {}
        return {name: checksum for checksum, gap, name in (line.partition("  ") for line in lines) if gap}

    def note(self, part: Part, finished: FinishedPart) -> None:
        """Note the checksum of a part that is finished; should the note be lost, the part is made again."""
        with open(self.partial / CHECKSUMS, "a", encoding="utf-8") as file:
            file.write(f"{finished.checksum}  {result_name(part)}\n")

    def complete(self, parts: Sequence[Part], made_of: Sequence[Mapping[str, Any]]) -> None:
        """Write files for parts without rows, remove what belongs to no part, and see that every row is there, of ours.

        made_of : of each part. A worker that has not heard of the end of an earlier run may have put one there since.
        """
        self._write_empty([part for part in parts if not part.n_rows], like=next(part for part in parts if part.n_rows))
        ours = {self.path_of(part) for part in parts} | {self.partial / MADE_OF, self.partial / CHECKSUMS}
        for folder, _, files in os.walk(self.partial, topdown=False):
            for path in (Path(folder, file) for file in files):
                if path not in ours:
                    path.unlink()
            if Path(folder) != self.partial and not os.listdir(folder):
                os.rmdir(folder)
        for part, made in zip(parts, made_of, strict=True):
            path = self.path_of(part)
            n_rows, made_here = _told_by(path)
            if n_rows != part.n_rows or made_here != (made if part.n_rows else None):
                raise TableError(
                    f"'{path}' is not what this run has made of '{part.path}'. Something else has changed the results "
                    "while they were being made: repeat the command."
                )

    def _begin(self) -> None:
        checked_folder(self.target)  # once more: the run that had the lock may just have ended
        if self.partial.exists():
            if any(self.partial.iterdir()) and not (self.partial / MADE_OF).exists():
                raise TableError(
                    f"'{self.partial}' is not a folder of unfinished results. Pass another name, or remove it first."
                )
            if self.resume:
                self._check_same()
            else:
                remove_folder(self.partial, last=MADE_OF)
        self.partial.mkdir(exist_ok=True)
        with written_whole(self.partial / MADE_OF) as temporary:
            temporary.write_text(json.dumps(self.made_of))

    def _write_empty(self, parts: Sequence[Part], like: Part) -> None:
        schema = pq.read_schema(self.path_of(like)).remove_metadata()
        for part in parts:
            with written_whole(self.path_of(part)) as temporary:
                pq.write_table(schema.empty_table(), temporary)

    def _check_same(self) -> None:
        if not any(self.partial.iterdir()):
            return
        try:
            made_of = json.loads((self.partial / MADE_OF).read_text())
        except (OSError, ValueError):
            raise TableError(f"'{self.partial}' cannot be continued. Start again without --resume.") from None
        if made_of != self.made_of:
            keys = {*(made_of or {}), *(self.made_of or {})}
            differing = sorted(key for key in keys if (made_of or {}).get(key) != (self.made_of or {}).get(key))
            raise TableError(
                f"'{self.partial.name}' was begun with another {' and '.join(differing)}. Start again without --resume."
            )


def _told_by(path: Path) -> tuple[int, Any]:
    """Rows of a part of results, -1 if there is none, and what its footer says that it was made of."""
    if not path.exists():
        return -1, None
    metadata = pq.read_metadata(path)
    footer = (metadata.metadata or {}).get(FOOTER)
    return metadata.num_rows, None if footer is None else json.loads(footer)["made_of"]


def result_name(part: Part) -> str:
    """The name of the file with the results of a part: its own, with .parquet added if it ends otherwise.

    Examples
    --------
    >>> result_name(Part("", "2024/a.parquet", 0, 0)), result_name(Part("", "sales.2024-01", 0, 0))
    ('2024/a.parquet', 'sales.2024-01.parquet')
    """
    return part.name if part.name.endswith(".parquet") else f"{part.name}.parquet"


def check_names(parts: Sequence[Part]) -> None:
    """See before the work that each part has a file of results of its own, which those who read folders see."""
    takers: dict[str, Part] = {}
    for part in parts:
        first = takers.setdefault(os.path.normcase(result_name(part)), part)
        if first is not part:
            raise TableError(
                f"The results of '{first.path}' and '{part.path}' would both be called '{result_name(part)}'. Rename "
                "one of them, or leave it out."
            )
        if is_hidden(part.name):
            raise TableError(
                f"'{part.path}' begins with a dot or an underscore, and so would its results, which readers of Parquet "
                "folders skip. Rename it, or pass a pattern that leaves it out."
            )


def remove_folder(folder: Path, last: str) -> None:
    """Remove a folder, and one file in it at the very end: it says whose the rest is, should we be stopped."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != last:
            entry.unlink()
    shutil.rmtree(folder)


def checked_folder(path: str | os.PathLike[str]) -> Path:
    """The folder that a path leads to; an error where none could be put, or where there is something already."""
    target = Path(os.path.realpath(path))
    if target.suffix not in ENDINGS:
        raise TableError(f"'{path}' must be the name of a folder: with --dask, results are a folder of Parquet files.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder '{target.parent}' to write '{target.name}' in. Create it first.")
    if target.exists():
        raise FileExistsError(f"'{path}' exists already. Pass another name, or remove it first.")
    return target
