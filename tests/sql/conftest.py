"""Real databases: a PostgreSQL server of our own, files of SQLite and DuckDB, each with the table of sales."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.csv as pc
import pytest

from tests.cli.conftest import model, run, sales, table  # noqa: F401 - fixtures

PASSWORD = "pass@word/1"
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


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL server."""

    port: int
    user: str = "bob"

    def uri(self, password: str = PASSWORD, database: str = "postgres") -> str:
        return f"postgresql://{self.user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"


def programs_of_postgresql() -> Path | None:
    """Where Debian has them, or wherever else they are found."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    on_path = shutil.which("postgres")
    return found[-1].parent if found else Path(on_path).resolve().parent if on_path else None


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """PostgreSQL on a free port, in a folder of its own, as somebody who is not root; stopped and removed after."""
    programs = programs_of_postgresql()
    if programs is None:
        pytest.skip("There is no PostgreSQL server here. Debian's package is called postgresql.")
    folder = Path(tempfile.mkdtemp(prefix="rdplearn-postgresql-"))
    nobody = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
    secret = folder / "password"
    secret.write_text(PASSWORD)
    for path in (folder, secret):
        if nobody:
            shutil.chown(path, "nobody")
    process = None
    try:
        start = [programs / "initdb", "-D", folder / "data", "-U", "bob", "-A", "scram-sha-256", f"--pwfile={secret}"]
        settled = [*start, "--no-sync", "--encoding=UTF8", "--locale=C"]
        subprocess.run(settled, check=True, capture_output=True, cwd=folder, **nobody)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen(
            [*f"{programs}/postgres -D {folder}/data -h 127.0.0.1 -p {port} -k {folder} -c fsync=off".split()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            **nobody,
        )
        wait_for(process, port)
        yield Server(port)
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(process: subprocess.Popen, port: int) -> None:
    driver = import_module(DRIVERS["postgresql"])
    until = time.monotonic() + 60
    while True:
        try:
            driver.connect(Server(port).uri()).close()
            return
        except driver.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.05)


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
