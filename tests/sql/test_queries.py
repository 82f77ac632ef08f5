"""Tables from databases: the same rows as from files, on every pass, and faults in words."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import rdplearn
from rdplearn import TableError
from rdplearn.table import open_table
from rdplearn.table.query_rows import RowChecksum
from tests.sql.conftest import Shop, sales_as_arrow
from tests.sql.postgresql import PASSWORD, Server

MORE = "INSERT INTO sales SELECT * FROM sales"


def rows_of(table) -> pa.Table:
    return pa.Table.from_batches(list(table.batches()))


def test_a_table_of_a_database_scores_as_a_file(shop: Shop, model: Path):
    loaded = rdplearn.load(model)
    expected = loaded.score_samples(sales_as_arrow())
    whole = open_table(connection=shop.uri, table="sales")
    assert whole.name == "'sales'"
    np.testing.assert_array_equal(loaded.score_samples(whole), expected)
    some = open_table(connection=shop.uri, query="SELECT * FROM sales WHERE amount > 9000 ORDER BY amount")
    np.testing.assert_array_equal(loaded.score_samples(some), expected[[57, 157, 257]])


def test_a_fit_from_a_database_is_that_from_a_file(shop: Shop):
    def fitted(table):
        encoder = rdplearn.TableEncoder(ignore=["order", "fraud"])
        detector = rdplearn.RDPDetector(n_members=2, n_rounds=1, n_steps=20, n_jobs=1, random_state=0)
        return rdplearn.TableModel(detector, encoder).fit(table)

    table = sales_as_arrow()
    expected = fitted(table).score_samples(table)
    from_sql = fitted(open_table(connection=shop.uri, query="SELECT * FROM sales"))
    np.testing.assert_array_equal(from_sql.score_samples(table), expected)


def test_rows_are_those_of_the_first_pass_or_their_change_is_noticed(shop: Shop):
    table = open_table(connection=shop.uri, table="sales")
    before = rows_of(table)
    shop.run(MORE, "UPDATE sales SET amount = 0")
    if shop.kind == "sqlite":  # has no snapshots that let others write
        with pytest.raises(TableError, match="'sales' gave other rows than before"):
            rows_of(table)
    else:
        assert rows_of(table).equals(before)
    assert rows_of(open_table(connection=shop.uri, table="sales")).num_rows == 600


@pytest.mark.xdist_group("postgresql")
def test_passes_that_are_given_up_do_not_read_the_other_rows(postgresql: Shop):
    """The query takes a lock near its end, so the database knows who has read so far."""
    many = ", ".join(f"random() AS r{column}" for column in range(8))  # more than the driver reads ahead
    locking = "CASE WHEN i = 1400000 THEN pg_advisory_lock(1)::text END AS locked"
    query = f"SELECT i, {locking}, {many} FROM generate_series(1, 1500000) s(i)"
    table = open_table(connection=postgresql.uri, query=query)
    for _ in range(3):
        batches = table.batches()
        assert next(batches).num_rows > 10_000
        batches.close()
    locks = "SELECT objid FROM pg_locks WHERE locktype = 'advisory'"
    assert not postgresql.rows(locks)
    assert sum(batch.num_rows for batch in table.batches()) == 1_500_000
    assert postgresql.rows(locks)


def test_small_batches_are_joined(shop: Shop):
    shop.fill("numbers", pa.table({"n": range(150_000)}))
    table = open_table(connection=shop.uri, table="numbers")
    sizes = [batch.num_rows for batch in table.batches()]
    assert sum(sizes) == 150_000
    assert len(sizes) <= 5


def test_other_rows_on_a_later_pass_are_noticed(shop: Shop):
    with shop.connect() as connection:  # which has no snapshot: each query sees the rows of its moment
        table = open_table(connection=connection, query="SELECT * FROM sales")
        assert rows_of(table).equals(rows_of(table))
        with connection.cursor() as cursor:
            cursor.execute("UPDATE sales SET city = 'Rom' WHERE \"order\" = 'A00007'")
        with pytest.raises(
            TableError, match="The query gave other rows than before, or the same rows in another order"
        ):
            rows_of(table)


def test_another_order_on_a_later_pass_is_noticed(shop: Shop):
    table = open_table(connection=shop.uri, query="SELECT * FROM sales ORDER BY random()")
    rows_of(table)
    with pytest.raises(TableError, match="Add ORDER BY with a key"):
        rows_of(table)


def test_checksums_see_every_kind_of_cell():
    rows = pa.table(
        {
            "whole": pa.array([1, None, 3, 4]),
            "text": ["a", "", None, "bcd"],
            "wide": pa.array(["a", "b", None, "c"], pa.large_string()),
            "flag": [True, None, False, False],
            "enum": pa.array(["x", "y", None, "z"]).dictionary_encode(),
            "money": pa.array([1, 2, None, 4], pa.decimal128(10, 2)),
            "list": [[1], None, [2, 3], []],
            "day": pa.array([1, 2, None, 4], pa.date32()),
            "empty": pa.nulls(4),
        }
    )

    def digest(*parts: pa.Table) -> tuple[int, ...]:
        seen = RowChecksum()
        for part in parts:
            for batch in part.to_batches():
                seen.add(batch)
        return seen.digest()

    whole = digest(rows)
    assert digest(rows[:1], rows[1:3], rows[3:]) == whole
    assert digest(rows[:2].combine_chunks(), rows[2:]) == whole
    for name in rows.column_names[:-1]:
        changed = rows.set_column(rows.column_names.index(name), name, rows.column(name).take([3, 1, 2, 0]))
        assert digest(changed) != whole, name
    assert digest(rows[:3]) != whole


def test_an_open_connection_of_duckdb_is_a_database():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE sales AS SELECT i AS n FROM range(10) r(i)")
        table = open_table(connection=connection, table="sales")
        assert rows_of(table).column("n").to_pylist() == list(range(10))
        with pytest.raises(TableError, match=r"Cannot read 'cakes': Catalog Error: Table with name cakes does not"):
            open_table(connection=connection, table="cakes")


class OnlyAStream:
    """What any library may hand over."""

    def __init__(self, table: pa.Table) -> None:
        self.reader = table.to_reader(max_chunksize=7)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.reader.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("make", [lambda table: table.to_reader(max_chunksize=7), OnlyAStream])
def test_an_arrow_stream_is_a_table_that_can_be_read_twice(make, model: Path):
    sold = sales_as_arrow()
    with_categories = sold.set_column(2, "city", sold.column("city").dictionary_encode())
    table = open_table(make(with_categories))
    assert [batch.num_rows for batch in table.batches()] == [300]
    assert rows_of(table).equals(rows_of(table))
    loaded = rdplearn.load(model)
    np.testing.assert_array_equal(loaded.score_samples(make(sold)), loaded.score_samples(sold))


def test_a_relation_of_duckdb_is_a_stream():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        table = open_table(connection.sql("SELECT i AS n FROM range(5000) r(i)"))
        assert [batch.num_rows for batch in table.batches()] == [5000]
        assert rows_of(table).num_rows == 5000


def test_a_stream_that_fails_is_told():
    def batches():
        yield pa.record_batch({"n": [1]})
        raise OSError("the line went dead")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"n": pa.int64()}), batches())
    with pytest.raises(TableError, match=r"Cannot read the stream: .*the line went dead"):
        open_table(reader)


@pytest.mark.xdist_group("postgresql")
def test_types_of_postgresql_become_plain_columns(postgresql: Shop):
    postgresql.run(
        "CREATE TABLE kinds AS SELECT '6f1f34a6-7a2b-4d6e-9a6e-0123456789ab'::uuid AS key, 12.50::numeric AS price, "
        "'{\"a\": 1}'::jsonb AS note, true AS member, timestamptz '2024-01-31 12:00+02' AS at, ARRAY[1, 2] AS several, "
        "NULL::text AS nothing, 'x'::char(3) AS code, 7::smallint AS small, 1.5::real AS real"
    )
    table = open_table(connection=postgresql.uri, table="kinds")
    (row,) = rows_of(table).to_pylist()
    assert row["key"] == "6f1f34a6-7a2b-4d6e-9a6e-0123456789ab"
    assert row["price"] == "12.50"
    assert row["note"] == '{"a": 1}'
    assert row["at"].isoformat() == "2024-01-31T10:00:00+00:00"
    assert (row["member"], row["several"], row["nothing"], row["small"]) == (True, [1, 2], None, 7)


@pytest.mark.parametrize("query", ["DROP TABLE sales", "DELETE FROM sales", "DELETE FROM sales RETURNING *"])
def test_a_query_that_would_change_the_database_changes_nothing(shop: Shop, query: str):
    told = r"Cannot read the query: .*\. Pass a query that reads, such as SELECT\.|There are no columns in the query\."
    with pytest.raises(TableError, match=told):
        rows_of(open_table(connection=shop.uri, query=query))
    assert rows_of(open_table(connection=shop.uri, table="sales")).num_rows == 300


def test_a_fault_of_the_query_is_one_line(shop: Shop):
    for query, told in {
        "SELECT * FROM cakes": r"Cannot read the query: .*(cakes|CAKES).*",
        "SELEC 1": r"Cannot read the query: .*syntax error.*",
        "": r"Cannot read the query: .*",
    }.items():
        with pytest.raises(TableError, match=told) as fault:
            rows_of(open_table(connection=shop.uri, query=query))
        assert "\n" not in str(fault.value)
    assert rows_of(open_table(connection=shop.uri, table="sales")).num_rows == 300


@pytest.mark.xdist_group("postgresql")
def test_a_fault_amid_the_rows_is_told_and_the_table_can_be_read_again(postgresql: Shop):
    table = open_table(
        connection=postgresql.uri, query="SELECT 1 / (100000 - i) AS n FROM generate_series(1, 200000) i"
    )
    for _ in range(2):
        with pytest.raises(TableError, match="Cannot read the query: division by zero"):
            rows_of(table)


@pytest.mark.xdist_group("postgresql")
def test_a_server_that_goes_away_amid_the_rows_is_told(postgresql: Shop):
    query = "SELECT i, pg_backend_pid() AS pid, repeat('x', 500) FROM generate_series(1, 2000000) i"
    batches = open_table(connection=postgresql.uri, query=query).batches()
    pid = next(batches).column("pid")[0].as_py()
    postgresql.run(f"SELECT pg_terminate_backend({pid})")
    with pytest.raises(TableError, match="Cannot read the query: "):
        for _ in batches:
            pass


def test_a_column_of_sqlite_with_two_types_is_told(sqlite: Shop):
    sqlite.run("CREATE TABLE mixed (x)", "INSERT INTO mixed VALUES (1)")
    sqlite.run("INSERT INTO mixed SELECT x FROM mixed " + "CROSS JOIN (SELECT 1 UNION SELECT 2) " * 17)
    sqlite.run("INSERT INTO mixed VALUES ('two')")
    with pytest.raises(TableError, match=r"Type mismatch in column 0.*Cast the column in the query"):
        rows_of(open_table(connection=sqlite.uri, table="mixed"))
    assert rows_of(open_table(connection=sqlite.uri, query="SELECT CAST(x AS TEXT) AS x FROM mixed")).num_rows > 2


def test_two_columns_of_one_name_are_told(shop: Shop):
    with pytest.raises(TableError, match=r"Column name 'city' occurs 2 times in the query"):
        open_table(connection=shop.uri, query="SELECT city, city FROM sales")


WRONG = {
    "another database": ("mysql://host/shop", "A database is named by postgresql://"),
    "no file": ("sqlite:///nowhere.db", "There is no database file 'nowhere.db'"),
    "two slashes": ("duckdb://shop.duckdb", "with three slashes"),
    "a password with @": (f"postgresql://bob:{PASSWORD}@host/shop", "cannot be understood. Write the characters"),
    "a password with /": ("postgresql://bob:word/1@host/shop", "cannot be understood"),
    "a password with #": ("postgresql://bob:word#1@host/shop", "cannot be understood|has a #"),
    "a port that is none": ("postgresql://bob@host:word/shop", "cannot be understood"),
    "no server": ("postgresql://bob:word1@127.0.0.1:1/shop", "The database cannot be opened: .*Connection refused"),
    "an odd option": ("postgresql://127.0.0.1:1/shop?sslpassword=word1&word=1", "The database cannot be opened"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_uri_that_leads_nowhere_is_told_without_its_password(case: str):
    uri, told = WRONG[case]
    with pytest.raises(TableError, match=told) as fault:
        open_table(connection=uri, table="sales")
    assert "word1" not in str(fault.value)
    assert "word/1" not in str(fault.value)


@pytest.mark.xdist_group("postgresql")
def test_wrong_credentials_are_told_without_them(server: Server):
    with pytest.raises(TableError, match='password authentication failed for user "bob"') as fault:
        open_table(connection=server.uri("geheim"), table="sales")
    assert "geheim" not in str(fault.value)


@pytest.mark.xdist_group("postgresql")
def test_credentials_come_from_the_environment_or_a_file(postgresql: Shop, server: Server, tmp_path, monkeypatch):
    bare = postgresql.uri.replace(f"{PASSWORD.replace('@', '%40').replace('/', '%2F')}", "").replace("bob:@", "")
    assert "bob" not in bare
    monkeypatch.setenv("PGUSER", "bob")
    with monkeypatch.context() as patch:
        patch.setenv("PGPASSWORD", PASSWORD)
        assert open_table(connection=bare, query="SELECT 1 AS n").column_names == ("n",)
    secrets = tmp_path / "pgpass"
    secrets.write_text(f"127.0.0.1:{server.port}:*:bob:{PASSWORD}\n")
    secrets.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(secrets))
    assert open_table(connection=bare, query="SELECT 1 AS n").column_names == ("n",)


def test_open_table_says_what_it_needs():
    for arguments in ({}, {"query": "SELECT 1"}, {"connection": "sqlite:///x"}):
        with pytest.raises(TableError, match="open_table needs"):
            open_table(**arguments)
    with pytest.raises(TableError, match="needs either a query or a table, and no source"):
        open_table("sales.csv", connection="sqlite:///x", table="sales")
    with pytest.raises(TableError, match=r"must be a URI or a connection of ADBC or DuckDB. Got builtins.int"):
        open_table(connection=3, table="sales")


def test_without_a_driver_the_remedy_is_told(sqlite: Shop, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "adbc_driver_sqlite.dbapi", None)
    with pytest.raises(TableError, match=r"pip install 'rdplearn\[sql\]'"):
        open_table(connection=sqlite.uri, table="sales")


def test_connections_are_closed_with_their_table(shop: Shop):
    n_threads = threading.active_count()
    for _ in range(3):
        rows_of(open_table(connection=shop.uri, table="sales"))
    shop.run("DROP TABLE sales")  # nobody holds it
    assert threading.active_count() <= n_threads
