"""A result that grows batch by batch beside its final name, and can be continued after a kill.

While ``scores.csv`` is being made there are ``scores.csv.partial``, the bytes so far, and ``scores.csv.partial.json``,
the journal: what the result is made of, how many rows and bytes are safe on the disk, and a checksum over those bytes
and over itself. The final name is taken in one step when all is there. To resume, both are held against their
checksums, the bytes after the last entry of the journal are cut off, and the rows that it counts are passed over.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from rdplearn._files.atomic import checked_target, disk_faults_told, open_own, remove_left_overs, replaced_whole
from rdplearn._files.lock import is_ours
from rdplearn._results.formats import format_of
from rdplearn.errors import TableError

SECONDS_BETWEEN_ENTRIES = 1.0
BLOCK_BYTES = 1 << 20


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
        self.partial, self.journal = names_beside(self.target)
        self.made_of = json.loads(json.dumps(made_of))
        self.n_rows = 0
        self.tally: list[int] = []
        self._format = format_of(self.target)
        self._n_bytes, self._checksum = 0, hashlib.sha256()
        self._last_entry = time.monotonic()
        self._resume = resume

    def __enter__(self) -> GrowingFile:
        self._file = os.fdopen(open_own(self.partial, like=self.target), "ab")
        try:
            if not is_ours(self._file.fileno(), self.partial):
                # held by the other run, or just given its final name by it
                raise TableError(f"Another run is writing '{self.target}'. Wait for it, or pass another name.")
            for path in (self.target, self.journal):
                remove_left_overs(path)
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
        with disk_faults_told(self.target):
            if self._n_bytes == 0:
                self._write(self._format.start(batch.schema))
            self._write(self._format.rows(batch))
            self.n_rows += batch.num_rows
            self.tally = added_up(self.tally, tally)
            if time.monotonic() - self._last_entry >= SECONDS_BETWEEN_ENTRIES:
                self._enter()

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        self._checksum.update(content)
        self._n_bytes += len(content)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with disk_faults_told(self.target), self._file:  # open, and others locked out, until all is done
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
            "sha256": self._checksum.hexdigest(),
        }
        with replaced_whole(self.journal) as temporary:
            temporary.write_text(json.dumps({"entry": entry, "sha256": _checksum_of(entry)}))
        self._last_entry = time.monotonic()

    def _take_up(self) -> None:
        """Read the journal of a partial result, if there is one that can be continued."""
        if not self.journal.exists() or self.partial.stat().st_size == 0:
            return
        entry = self._read_journal()
        made_of, n_bytes = entry["made_of"], entry["n_bytes"]
        if made_of != self.made_of:
            differing = sorted(key for key in {*made_of, *self.made_of} if made_of.get(key) != self.made_of.get(key))
            raise TableError(
                f"'{self.partial.name}' was begun with another {' and '.join(differing)}. Start again without --resume."
            )
        if self.partial.stat().st_size < n_bytes:
            raise TableError(f"'{self.partial}' is shorter than its journal says. Start again without --resume.")
        self._take_in(n_bytes)
        if self._checksum.hexdigest() != entry["sha256"]:
            raise TableError(
                f"'{self.partial}' was changed or damaged since its journal was written. Start again without --resume."
            )
        self.n_rows, self.tally, self._n_bytes = entry["n_rows"], entry["tally"], n_bytes

    def _read_journal(self) -> dict[str, Any]:
        """The last entry, held against its checksum."""
        try:
            content = json.loads(self.journal.read_text())
            entry: dict[str, Any] = content["entry"]
            if content["sha256"] == _checksum_of(entry):
                return entry
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        raise TableError(f"'{self.journal}' cannot be read: it is damaged. Start again without --resume.")

    def _take_in(self, n_bytes: int) -> None:
        """Take the bytes that are there into the checksum of all bytes."""
        with open(self.partial, "rb") as file:
            while n_bytes and (block := file.read(min(BLOCK_BYTES, n_bytes))):
                self._checksum.update(block)
                n_bytes -= len(block)


def names_beside(target: Path) -> tuple[Path, Path]:
    """The names of the bytes so far and of their journal.

    Examples
    --------
    >>> [path.name for path in names_beside(Path("scores.csv"))]
    ['scores.csv.partial', 'scores.csv.partial.json']
    """
    partial = target.with_name(f"{target.name}.partial")
    return partial, partial.with_name(f"{partial.name}.json")


def _checksum_of(entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()


def added_up(tally: Sequence[int], more: Sequence[int]) -> list[int]:
    """Two tallies as one; an empty one counts as zeros.

    Examples
    --------
    >>> added_up([], [1, 2]), added_up([1, 2], [3, 4])
    ([1, 2], [4, 6])
    """
    return [count + further for count, further in zip(tally or [0] * len(more), more, strict=True)]
