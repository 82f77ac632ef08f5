"""Databases: one connection that reads and writes, tells its faults in words, and keeps its password to itself.

All passes over a query see one snapshot, where the database can have one without keeping others from writing: a
transaction stays open between them. It ends before anything is written, so that the connection is never in its own way.
"""

from __future__ import annotations

import os
import re
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from rdplearn.errors import TableError
from rdplearn.table.uuids import is_uuid
from rdplearn.table.wording import printable

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMES = "postgresql://USER@HOST/DATABASE, sqlite:///FILE or duckdb:///FILE"
FAULTS: tuple[type[Exception], ...] = (OSError, ValueError, NotImplementedError)  # of Arrow
PERCENT = "Write the characters @ / : ? # of a user or password as %40 %2F %3A %3F %23, or use PGPASSWORD or ~/.pgpass."
# What drivers add to a message: a status before it, and after it the query once more, with an arrow below.
AROUND_A_MESSAGE = re.compile(
    r"^.*?ERROR:\s+|^[A-Z_]+: |\[\w+\] |Failed to \w+ query: |\n\s*[Qq]uery(?: was)?:.*|\s*LINE \d+:.*", re.DOTALL
)


@dataclass(frozen=True)
class _Kind:
    """How a database is spoken to.

    Parameters
    ----------
    driver : imports the module whose `connect` opens it
    is_file : a file, or else a server
    read : keeps every pass from changing anything, where its transaction does not
    snapshot : begins a transaction that sees the same rows, in the same order as far as it can, on every pass
    again : makes ready for another pass in it, wherever the last one has stopped
    write : begins a transaction that writes
    options : of every statement
    """

    driver: Callable[[], Any]
    is_file: bool = True
    read: Sequence[str] = ()
    snapshot: Sequence[str] = ("BEGIN TRANSACTION READ ONLY",)
    again: Sequence[str] = ()
    write: Sequence[str] = ("BEGIN TRANSACTION",)
    options: dict[str, str] = field(default_factory=dict)


def _postgresql() -> Any:
    import adbc_driver_postgresql.dbapi as driver

    return driver


def _sqlite() -> Any:
    import adbc_driver_sqlite.dbapi as driver

    return driver


def _duckdb() -> Any:
    import adbc_driver_duckdb.dbapi as driver

    return driver


POSTGRESQL = _Kind(
    _postgresql,
    is_file=False,
    snapshot=(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        # Scans that begin in the middle, and workers side by side, would give the same rows in another order.
        "SET LOCAL synchronize_seqscans = off",
        "SET LOCAL max_parallel_workers_per_gather = 0",
        "SET LOCAL idle_in_transaction_session_timeout = 0",  # training may take its time
        "SAVEPOINT before_rows",
    ),
    again=("ROLLBACK TO SAVEPOINT before_rows",),
    write=("BEGIN", "SET LOCAL lock_timeout = '30s'"),
)
# No snapshot: between two passes it would keep others from writing. Whether they did is noticed by its rows.
SQLITE = _Kind(
    _sqlite,
    read=("PRAGMA query_only = ON",),
    snapshot=(),
    write=("PRAGMA query_only = OFF", "BEGIN TRANSACTION"),
    options={"adbc.sqlite.query.batch_rows": "65536"},
)
DUCKDB = _Kind(_duckdb)
KINDS = {"postgresql": POSTGRESQL, "postgres": POSTGRESQL, "sqlite": SQLITE, "duckdb": DUCKDB}


class Database:
    """A database, by its URI or by a connection that is open already.

    Parameters
    ----------
    connection : str, or connection of ADBC or DuckDB
        ``postgresql://USER@HOST/DATABASE``, ``sqlite:///FILE`` (four slashes before an absolute path) or
        ``duckdb:///FILE``. A connection that is handed over is read as it is, in whatever transaction it is in.

    Examples
    --------
    >>> Database("mysql://host/shop")
    Traceback (most recent call last):
    rdplearn.errors.TableError: A database is named by postgresql://USER@HOST/DATABASE, sqlite:///FILE or \
duckdb:///FILE. Got something else.
    """

    def __init__(self, connection: Any) -> None:
        self.path: str | None = None  # of the file, if it is one
        self.uuids: set[str] = set()  # columns of queries that are texts in our tables only
        self._kind: _Kind | None = None
        self._secrets: list[str] = []
        self._in_snapshot = False
        if isinstance(connection, str):
            self._connection = self._connected(connection)
            weakref.finalize(self, self._connection.close)
        elif hasattr(connection, "cursor"):
            self._connection = connection
        else:
            kind = f"{type(connection).__module__}.{type(connection).__name__}"
            raise TableError(f"The 'connection' must be a URI or a connection of ADBC or DuckDB. Got {kind} instead.")

    def _connected(self, uri: str) -> Any:
        self._kind, place = _kind_and_place(uri)
        self.path = place if self._kind.is_file else None
        self._secrets = _passwords(uri)
        try:
            driver = self._kind.driver()
        except ModuleNotFoundError as fault:
            raise TableError(
                f"A database needs its driver, and {fault.name} is not installed. Run: pip install 'rdplearn[sql]'."
            ) from None
        with self._told("The database cannot be opened"):
            return driver.connect(place, autocommit=True)  # transactions begin and end by our own words

    def column_names(self, query: str, name: str) -> list[str]:
        """The columns of a query, without its rows where the driver can tell."""
        with self._told(f"Cannot read {name}"), closing(self._connection.cursor()) as cursor:
            self._begin_pass()
            if hasattr(cursor, "adbc_execute_schema"):
                with suppress(*_driver_errors("NotSupportedError")):
                    schema = cursor.adbc_execute_schema(query)
                    self.uuids |= {column.name for column in schema if is_uuid(column.type)}
                    return list(schema.names)
            return list(_executed(cursor, query).schema.names)

    def read(self, query: str, name: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query from the start; each pass sees what the first one saw."""
        with self._told(f"Cannot read {name}"), closing(self._connection.cursor()) as cursor:
            self._begin_pass()
            if self._kind is not None and self._kind.options:
                cursor.adbc_statement.set_options(**self._kind.options)
            batches = _executed(cursor, query)
            try:
                yield from batches
            except GeneratorExit:
                if self._kind is not None and not self._kind.is_file:
                    cursor.adbc_cancel()  # or the driver would read the other rows, to throw them away
                raise

    def schema_of(self, table: str) -> pa.Schema | None:
        """The columns of a table, None if there is no such table."""
        schema, name = parted(table)
        with suppress(*_driver_errors("Error")):
            return self._connection.adbc_get_table_schema(name, db_schema_filter=schema)
        return None

    def write(self, table: str, rows: pa.RecordBatchReader, *, mode: str) -> None:
        """Write rows in one transaction: all of them are there, or nothing has changed.

        mode : "create", "replace" or "create_append", as ADBC has it
        """
        if self._kind is None:
            raise TableError("A database is written to by its URI. Got a connection instead.")
        schema, name = parted(table)
        with self._told(f"Table '{table}' cannot be written"):
            self._end_snapshot()
            self._run(self._kind.write)
            try:
                with closing(self._connection.cursor()) as cursor:
                    cursor.adbc_ingest(name, rows, mode=mode, db_schema_name=schema)
                self._run(["COMMIT"])
            except BaseException:
                with suppress(*_driver_errors("Error")):
                    self._run(["ROLLBACK"])
                raise

    def _begin_pass(self) -> None:
        if self._kind is None:
            return
        self._run([*self._kind.read, *(self._kind.again if self._in_snapshot else self._kind.snapshot)])
        self._in_snapshot = bool(self._kind.snapshot)

    def _end_snapshot(self) -> None:
        if self._in_snapshot:
            self._run(["ROLLBACK"])
            self._in_snapshot = False

    def _run(self, statements: Sequence[str]) -> None:
        for statement in statements:
            with closing(self._connection.cursor()) as cursor:
                cursor.execute(statement)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Say of a driver's fault what could not be done, without passwords and the query."""
        try:
            yield
        except TableError:
            raise
        except FAULTS + _driver_errors("Error") as fault:
            reason = " ".join(AROUND_A_MESSAGE.sub("", str(fault)).split()).rstrip(".")
            for secret in self._secrets:
                reason = reason.replace(secret, "***")
            raise TableError(f"{what}: {printable(reason[:300])}.{_remedy(reason)}") from None


def quoted(table: str) -> str:
    """The name of a table as it stands in a query; a dot parts schema and table.

    Examples
    --------
    >>> quoted("sales"), quoted("shop.sales"), quoted('odd"name')
    ('"sales"', '"shop"."sales"', '"odd""name"')
    """
    return ".".join('"' + part.replace('"', '""') + '"' for part in parted(table) if part is not None)


def parted(table: str) -> tuple[str | None, str]:
    """Schema, if there is one, and name of a table."""
    schema, _, name = table.rpartition(".")
    return schema or None, name


def _executed(cursor: Any, query: str) -> Any:
    """The batches of a query: ADBC and DuckDB differ in the words for it."""
    if not hasattr(cursor, "fetch_record_batch"):
        return cursor.sql(query).to_arrow_reader(65_536)
    cursor.execute(query)
    return cursor.fetch_record_batch()


def _driver_errors(name: str) -> tuple[type[Exception], ...]:
    """A class of errors, of each driver that is at work."""
    modules = (sys.modules.get("adbc_driver_manager"), sys.modules.get("duckdb"))
    return tuple(getattr(module, name) for module in modules if module is not None)


def _remedy(reason: str) -> str:
    if "Type mismatch" in reason:  # SQLite's columns take anything, Arrow's one type each
        return " Cast the column in the query, such as CAST(price AS TEXT)."
    if re.search(r"read-?\s?only", reason, re.IGNORECASE):
        return " Pass a query that reads, such as SELECT."
    if "lock" in reason:
        return " Wait until nobody else uses it, or write to another table."
    return ""


def _kind_and_place(uri: str) -> tuple[_Kind, str]:
    """The kind of database, and where its driver finds it."""
    scheme, _, rest = uri.partition("://")
    kind = KINDS.get(scheme)
    if kind is None:
        raise TableError(f"A database is named by {SCHEMES}. Got something else.")
    if not kind.is_file:
        _check_parts(uri)
        return kind, uri
    path = rest[1:]
    if not rest.startswith("/") or not path:
        raise TableError(f"A file is named by {scheme}:///FILE, with three slashes, four before an absolute path.")
    if not os.path.isfile(path):
        raise TableError(f"There is no database file {path!r}.")
    return kind, path


def _check_parts(uri: str) -> None:
    """See that a URI can be taken apart in one way only: else a part of the password would pass for a host or port."""
    _, _, rest = uri.partition("://")
    place, _, others = rest.partition("/")
    hosts = place.rpartition("@")[2]
    ports = [host.rpartition(":")[2] for host in re.sub(r"\[[^]]*\]", "", hosts).split(",") if ":" in host]
    if place.count("@") > 1 or "@" in others.partition("?")[0] or not all(port.isdecimal() for port in ports):
        raise TableError(f"The URI of the database cannot be understood. {PERCENT}")
    if "#" in rest:
        raise TableError(f"The URI of the database has a #. {PERCENT}")


def _passwords(uri: str) -> list[str]:
    """What must not be seen, as it is written and as it is meant; the longest first."""
    parts = urlsplit(uri)
    _, _, password = parts.netloc.rpartition("@")[0].partition(":")
    options = [value for key, value in parse_qsl(parts.query) if "password" in key]
    raw = [password, unquote(password), *options]
    return sorted((secret for secret in raw if secret), key=len, reverse=True)
