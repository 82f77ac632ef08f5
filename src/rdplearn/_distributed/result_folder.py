"""Results of a Parquet dataset: a folder with a file for each of its parts, each written whole by a worker.

While ``scores`` is being made, its parts gather in ``scores.partial``. The final name is taken in one step when all are
there. A finished part bears in its own footer what it was made of, so that it is not made again when a stopped run is
resumed; of a part that was being written when a worker died, nothing is left in the folder once it is finished.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rdplearn._distributed.parquet_parts import Part
from rdplearn._distributed.worker_memory import keep_freed_memory
from rdplearn._files.atomic import written_whole
from rdplearn._results.formats import ParquetRows
from rdplearn._results.resumable import added_up
from rdplearn.errors import TableError
from rdplearn.table import Table
from rdplearn.table_model import TableModel

FOOTER = b"rdplearn"
MADE_OF = "_made_of.json"
ENDINGS = ("", ".parquet", ".pq")

Apply = Callable[[TableModel, Table], Iterator[Any]]  # such as `scored_rows`


@dataclass(frozen=True)
class FinishedPart:
    """What is known of a part that is done.

    watchers : have seen all its rows; none if an earlier run has done it
    told : warnings
    """

    n_rows: int
    tally: list[int]
    watchers: Sequence[Any] = ()
    told: list[str] = field(default_factory=list)


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
        if file is not None:
            file.sign({"made_of": made_of, "n_rows": n_rows, "tally": tally})
    return FinishedPart(n_rows, tally, watchers, [str(warning.message) for warning in told])


class PartFile:
    """A Parquet file that is written whole or not at all, and says in its footer what it was made of."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self._stack = ExitStack()
        self._writer: Any = None

    def __enter__(self) -> PartFile:
        self.target.parent.mkdir(parents=True, exist_ok=True)
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
        self.made_of, self.resume = json.loads(json.dumps(made_of)), resume

    def __enter__(self) -> ResultFolder:
        if self.partial.exists() and not self.resume:
            shutil.rmtree(self.partial)
        if self.partial.exists():
            self._check_same()
        self.partial.mkdir(exist_ok=True)
        with written_whole(self.partial / MADE_OF) as temporary:
            temporary.write_text(json.dumps(self.made_of))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            for left_over in (self.partial / MADE_OF, *self.partial.rglob(".*.part")):
                left_over.unlink(missing_ok=True)
            os.rename(self.partial, self.target)
        elif self.made_of is None or not any(self.partial.rglob("*.parquet")):
            shutil.rmtree(self.partial, ignore_errors=True)

    def path_of(self, part: Part) -> Path:
        """Where the results of a part go."""
        return (self.partial / part.name).with_suffix(".parquet")

    def finished(self, part: Part, made_of: Mapping[str, Any]) -> FinishedPart | None:
        """What an earlier run has made of a part, if it is done and nothing has changed since."""
        path = self.path_of(part)
        if not path.exists():
            return None
        try:
            footer = json.loads((pq.read_metadata(path).metadata or {})[FOOTER])
        except (OSError, pa.ArrowException, KeyError, ValueError):
            return None
        if footer.get("made_of") != json.loads(json.dumps(made_of)):
            return None
        return FinishedPart(int(footer["n_rows"]), [int(count) for count in footer["tally"]])

    def write_empty(self, parts: Sequence[Part], like: Part) -> None:
        """Write files without rows for parts that have none."""
        schema = pq.read_schema(self.path_of(like)).remove_metadata()
        for part in parts:
            self.path_of(part).parent.mkdir(parents=True, exist_ok=True)
            with written_whole(self.path_of(part)) as temporary:
                pq.write_table(schema.empty_table(), temporary)

    def _check_same(self) -> None:
        try:
            made_of = json.loads((self.partial / MADE_OF).read_text())
        except (OSError, ValueError):
            raise TableError(f"'{self.partial}' cannot be continued. Start anew without --resume.") from None
        if made_of != self.made_of:
            keys = {*(made_of or {}), *(self.made_of or {})}
            differing = sorted(key for key in keys if (made_of or {}).get(key) != (self.made_of or {}).get(key))
            raise TableError(
                f"'{self.partial.name}' was begun with another {' and '.join(differing)}. Start anew without --resume."
            )


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
