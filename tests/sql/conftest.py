"""Real databases: a PostgreSQL server of our own, files of SQLite and DuckDB, each with the table of sales."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pytest

from tests.cli.conftest import model, run, sales, table  # noqa: F401 - fixtures
from tests.sql.postgresql import Server, programs_of_postgresql, running_server

DRIVERS = {
    "postgresql": "adbc_driver_postgresql.dbapi",
    "sqlite": "adbc_driver_sqlite.dbapi",
    "duckdb": "adbc_driver_duckdb.dbapi",
}


@dataclass(frozen=True)
class Shop:
    """A database with a table of sales."""

    kind: str
    uri: str

    def connect(self):
        place = self.uri if self.kind == "postgresql" else self.uri.partition(":///")[2]
        return closing(import_module(DRIVERS[self.kind]).connect(place, autocommit=True))

    def run(self, *statements: str) -> None:
        with self.connect() as connection:
            for statement in statements:
                with connection.cursor() as cursor:
                    cursor.execute(statement)

    def rows(self, query: str) -> list[dict]:
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetch_arrow_table().to_pylist()

    def fill(self, name: str, rows: pa.Table) -> None:
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(name, rows, mode="replace")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    programs = programs_of_postgresql()
    if programs is None:
        pytest.skip("There is no PostgreSQL server here. Debian's package is called postgresql.")
    pytest.importorskip("adbc_driver_postgresql", reason="databases need rdplearn[sql]")
    with running_server(programs) as running:
        yield running


@pytest.fixture
def postgresql(server: Server) -> Iterator[Shop]:
    """A database of this test alone."""
    main = Shop("postgresql", server.uri())
    name = f"shop_{os.urandom(6).hex()}"
    main.run(f"CREATE DATABASE {name}")
    yield Shop("postgresql", server.uri(database=name))
    main.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def sqlite(tmp_path: Path) -> Shop:
    (tmp_path / "shop.db").touch()
    return Shop("sqlite", f"sqlite:///{tmp_path}/shop.db")


@pytest.fixture
def duckdb(tmp_path: Path) -> Shop:
    shop = Shop("duckdb", f"duckdb:///{tmp_path}/shop.duckdb")
    shop.run("SELECT 1")  # makes the file
    return shop


@pytest.fixture(params=[pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql")), "sqlite", "duckdb"])
def shop(request) -> Shop:
    """Each database in turn, with the table of sales."""
    pytest.importorskip("adbc_driver_manager", reason="databases need rdplearn[sql]")
    found: Shop = request.getfixturevalue(request.param)
    found.fill("sales", sales_as_arrow())
    return found


def sales_as_arrow(n_rows: int = 300) -> pa.Table:
    """The sales of the command line's tests, with types."""
    return pc.read_csv(pa.py_buffer(sales(n_rows).encode()))
