"""A result that grows batch by batch beside its final name, and can be continued after a kill.

While ``scores.csv`` is being made there are ``scores.csv.partial``, the bytes so far, and ``scores.csv.partial.json``,
the journal: what the result is made of, and how many rows and bytes are safe on the disk. The final name is taken in
one step when all is there. To resume, the bytes after the last entry of the journal are cut off, and the rows that it
counts are passed over.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rdplearn._files.atomic import checked_target, written_whole
from rdplearn._files.lock import is_ours
from rdplearn._results.formats import format_of
from rdplearn.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

SECONDS_BETWEEN_ENTRIES = 1.0


class GrowingFile:
    """Writes batches of rows to a file whose ending is its format; use it as a context manager.

    Parameters
    ----------
    path : the final name
    made_of : plain values that decide the content, or None
        A partial result is continued only if its own are the same; without any it is never continued, and goes away
        when there is a fault.
    resume : bool
        Continue a partial result if there is one; otherwise it is begun anew.

    Attributes
    ----------
    n_rows : rows written so far
    tally : what was counted over them

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "scores.csv"
    >>> with GrowingFile(path, {"model": "1"}) as file:
    ...     file.add(pa.record_batch({"row": [1, 2]}), tally=[])
    >>> path.read_text().split()
    ['"row"', '1', '2']
    """

    def __init__(
        self, path: str | os.PathLike[str], made_of: Mapping[str, Any] | None, *, resume: bool = False
    ) -> None:
        self.target = checked_target(path)
        self.partial = self.target.with_name(f"{self.target.name}.partial")
        self.journal = self.target.with_name(f"{self.target.name}.partial.json")
        self.made_of = json.loads(json.dumps(made_of))
        self.n_rows = 0
        self.tally: list[int] = []
        self._format = format_of(self.target)
        self._n_bytes = 0
        self._last_entry = time.monotonic()
        self._resume = resume

    def __enter__(self) -> GrowingFile:
        self._file = open(self.partial, "ab")
        try:
            if not is_ours(self._file, self.partial):
                raise TableError(f"Another run is writing '{self.target}'. Wait for it, or pass another name.")
            if self._resume:
                self._take_up()
            if self._n_bytes == 0:
                self.journal.unlink(missing_ok=True)
            self._file.truncate(self._n_bytes)
        except BaseException:
            self._file.close()
            raise
        return self

    def add(self, batch: pa.RecordBatch, *, tally: Sequence[int]) -> None:
        """Append rows, with counts to add up; about once a second they are made safe and entered in the journal."""
        if self._n_bytes == 0:
            self._n_bytes += self._file.write(self._format.start(batch.schema))
        self._n_bytes += self._file.write(self._format.rows(batch))
        self.n_rows += batch.num_rows
        self.tally = added_up(self.tally, tally)
        if time.monotonic() - self._last_entry >= SECONDS_BETWEEN_ENTRIES:
            self._enter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:  # open, and others locked out, until all is done
            if kind is None:
                self._file.flush()
                self._format.finish(self.partial, self.target)
                self.journal.unlink(missing_ok=True)
            elif self.made_of is not None and self.n_rows > 0:
                self._enter()  # what is done can be continued
            else:
                self.partial.unlink()

    def _enter(self) -> None:
        if self.made_of is None:
            return
        self._file.flush()
        os.fsync(self._file.fileno())
        entry = {
            "made_of": self.made_of,
            "n_rows": self.n_rows,
            "tally": self.tally,
            "n_bytes": self._n_bytes,
        }
        with written_whole(self.journal) as temporary:
            temporary.write_text(json.dumps(entry))
        self._last_entry = time.monotonic()

    def _take_up(self) -> None:
        """Read the journal of a partial result, if there is one that can be continued."""
        if not self.journal.exists() or self.partial.stat().st_size == 0:
            return
        try:
            entry = json.loads(self.journal.read_text())
            made_of, tally = entry["made_of"], [int(count) for count in entry["tally"]]
            n_rows, n_bytes = int(entry["n_rows"]), int(entry["n_bytes"])
        except (ValueError, KeyError, TypeError):
            raise TableError(f"'{self.journal}' cannot be read. Start anew without --resume.") from None
        if made_of != self.made_of:
            differing = sorted(key for key in {*made_of, *self.made_of} if made_of.get(key) != self.made_of.get(key))
            raise TableError(
                f"'{self.partial.name}' was begun with another {' and '.join(differing)}. Start anew without --resume."
            )
        if self.partial.stat().st_size < n_bytes:
            raise TableError(f"'{self.partial}' is shorter than its journal says. Start anew without --resume.")
        self.n_rows, self.tally, self._n_bytes = n_rows, tally, n_bytes


def added_up(tally: Sequence[int], more: Sequence[int]) -> list[int]:
    """Two tallies as one; an empty one counts as zeros.

    Examples
    --------
    >>> added_up([], [1, 2]), added_up([1, 2], [3, 4])
    ([1, 2], [4, 6])
    """
    return [count + further for count, further in zip(tally or [0] * len(more), more, strict=True)]
