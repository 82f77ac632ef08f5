"""A table of results in a database, written in one transaction.

Rows gather in a temporary file while they are made, so that the transaction is short: nobody waits for a table that is
locked while rows are scored. A run that is stopped or killed, at whatever moment, leaves the database as it was.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import pyarrow as pa

from rdplearn._files.atomic import disk_faults_told
from rdplearn.errors import TableError
from rdplearn.table.databases import Database
from rdplearn.table.uuids import uuids_of

MODES = {"fail": "create", "replace": "replace", "append": "create_append"}  # as ADBC calls them
ROOM = "Make room, or name another folder in TMPDIR."


class SqlTable:
    """Takes batches of rows, and writes them when all is there; use it as a context manager.

    Parameters
    ----------
    name : of the table; its schema may stand before a dot
    read : the table that is read meanwhile, which must be another one
    if_exists : {"fail", "replace", "append"}
        What becomes of a table of that name.

    Attributes
    ----------
    n_rows, tally : of earlier runs, as in `GrowingFile`: there are none, for a transaction cannot be continued

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "shop.db"
    >>> path.touch()
    >>> database = Database(f"sqlite:///{path}")
    >>> with SqlTable(database, "scores", "fail") as table:
    ...     table.add(pa.record_batch({"row": [1, 2]}))
    >>> [batch.to_pydict() for batch in database.read("SELECT * FROM scores", "the scores")]
    [{'row': [1, 2]}]
    """

    def __init__(self, database: Database, name: str, if_exists: str, *, read: str | None = None) -> None:
        self.database, self.name, self.if_exists = database, name, if_exists
        self.n_rows = 0
        self.tally: list[int] = []
        self._writer: Any = None
        if not name:
            raise TableError("-o sql:TABLE must name a table, such as sql:scores. Got no name.")
        if name == read:
            raise TableError(f"'{name}' is the table itself. Pass another name for the result.")
        self._there = database.schema_of(name)  # asked now: while rows are read, the connection has no time
        if if_exists == "fail" and self._there is not None:
            raise TableError(f"Table '{name}' exists already. Pass --if-exists replace or append, or another name.")

    def __enter__(self) -> SqlTable:
        with disk_faults_told(tempfile.gettempdir(), remedy=ROOM):
            self._copy = tempfile.TemporaryFile(prefix="rdplearn-")
        return self

    def add(self, batch: pa.RecordBatch, *, tally: Sequence[int] = ()) -> None:
        """Take in rows."""
        for place, name in enumerate(batch.schema.names):
            if name in self.database.uuids:  # a key returns as what it was
                batch = batch.set_column(place, name, uuids_of(batch.column(place)))
        with disk_faults_told(tempfile.gettempdir(), remedy=ROOM):
            if self._writer is None:
                self._check_columns(batch.schema)
                self._writer = pa.ipc.new_stream(self._copy, batch.schema)
            self._writer.write_batch(batch)

    def _check_columns(self, schema: pa.Schema) -> None:
        """See before rows are scored that they can be appended."""
        if self.if_exists != "append" or self._there is None:
            return
        lacking = [name for name in schema.names if name not in self._there.names]
        if lacking:
            raise TableError(
                f"Table '{self.name}' has no column '{lacking[0]}' to append to. Pass --if-exists replace, or another "
                "name."
            )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._copy:
            if kind is not None or self._writer is None:
                return
            with disk_faults_told(tempfile.gettempdir(), remedy=ROOM):
                self._writer.close()
            self._copy.seek(0)
            self.database.write(self.name, pa.ipc.open_stream(self._copy), mode=MODES[self.if_exists])
