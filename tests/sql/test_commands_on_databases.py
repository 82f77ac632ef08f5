"""`rdplearn` on databases: every command reads them, and results return to them in one transaction."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rdplearn.table import databases
from tests.cli.conftest import QUICK, Run
from tests.sql.conftest import Shop, sales_as_arrow
from tests.sql.postgresql import PASSWORD

FAST = ["--steps", "20", "--jobs", "1"]


def test_detect_writes_scores_back(run: Run, shop: Shop, tmp_path: Path):
    read = ["--sql", shop.uri, "--table", "sales", "--id", "order", "--label", "fraud", *QUICK]
    told = run("detect", *read, "-o", "sql:scores").stdout
    assert "Scores: sql:scores" in told
    run("detect", *read, "-o", tmp_path / "scores.parquet")
    expected = pq.read_table(tmp_path / "scores.parquet").to_pylist()
    found = shop.rows('SELECT * FROM scores ORDER BY "row"')
    assert [{**row, "anomalous": bool(row["anomalous"])} for row in found] == expected
    joined = 'SELECT sales.fraud, scores.anomalous FROM sales JOIN scores USING ("order")'
    assert sum(row["fraud"] for row in shop.rows(joined) if row["anomalous"]) == 3


def test_a_table_that_is_there_stops_it_or_is_replaced_or_grows(run: Run, shop: Shop, model: Path):
    score = ["score", model, "--sql", shop.uri, "--table", "sales", "-o", "sql:scores", "--jobs", 1]
    count = "SELECT count(*) AS n FROM scores"
    run(*score, "--if-exists", "append")  # to a table that is not there yet
    told = run(*score, exit_code=1).stderr
    assert "Table 'scores' exists already. Pass --if-exists replace or append" in told
    run(*score, "--if-exists", "append")
    assert shop.rows(count) == [{"n": 600}]
    run(*score, "--if-exists", "replace")
    assert shop.rows(count) == [{"n": 300}]
    other = [*score, "--id", "city", "--if-exists", "append"]
    assert "Table 'scores' has no column 'city' to append to." in run(*other, exit_code=1).stderr
    run(*score, "--id", "city", "--if-exists", "replace")
    assert set(shop.rows("SELECT * FROM scores")[0]) == {"row", "city", "anomaly_score", "anomalous"}


def test_fit_inspect_explain_report_watch_and_review_read_a_query(run: Run, shop: Shop, tmp_path: Path):
    query = ["--sql", shop.uri, "--query", 'SELECT * FROM sales ORDER BY "order"']
    fitted = tmp_path / "model.safetensors"
    assert "300 rows" in run("fit", *query, "-m", fitted, "--id", "order", "--label", "fraud", *QUICK).stdout
    facts = json.loads(run("inspect", *query, "--json").stdout)
    assert (facts["table"], facts["n_rows"]) == ("the query", 300)
    assert {column["column"]: column["kind"] for column in facts["columns"]}["sold"] == "date"
    found = json.loads(run("explain", fitted, *query, "--id", "order", "--top", 3, "--jobs", 1, "--json").stdout)
    assert {row["id"] for row in found["rows"]} == {"A00057", "A00157", "A00257"}
    assert all(row["sentences"][0].startswith("amount") for row in found["rows"])
    run("report", fitted, *query, "-o", tmp_path / "page.html", "--jobs", 1)
    assert not json.loads(run("watch", fitted, *query, "--json").stdout)["due"]
    run("review", fitted, *query, "--answers", tmp_path / "answers.csv", stdin="yq")
    assert "anomalous" in (tmp_path / "answers.csv").read_text()
    for file in (fitted, tmp_path / "page.html"):
        content = file.read_bytes()
        assert PASSWORD.encode() not in content
        assert shop.uri.encode() not in content


def test_cluster_and_embed_read_and_write(run: Run, shop: Shop, tmp_path: Path):
    read = ["--sql", shop.uri, "--table", "sales", "--id", "order"]
    kept = tmp_path / "groups.safetensors"
    run("cluster", *read, "-k", 3, "-m", kept, "-o", "sql:groups", *FAST)
    first = shop.rows('SELECT * FROM groups ORDER BY "row"')
    run("cluster", kept, *read, "-o", "sql:groups", "--if-exists", "replace", "--jobs", 1)
    assert shop.rows('SELECT * FROM groups ORDER BY "row"') == first
    run("embed", *read, "--components", 2, "-o", "sql:features", *FAST)
    assert set(shop.rows("SELECT * FROM features")[0]) == {"row", "order", "feature_1", "feature_2"}


def test_the_scores_of_a_file_go_to_a_database(run: Run, shop: Shop, model: Path, tmp_path: Path):
    pq.write_table(sales_as_arrow(), tmp_path / "sales.parquet")
    score = ["score", model, tmp_path / "sales.parquet", "--id", "sold", "--jobs", 1]
    run(*score, "--sql", shop.uri, "-o", "sql:scores")
    run(*score, "-o", tmp_path / "scores.parquet")
    expected = pq.read_table(tmp_path / "scores.parquet")
    found = shop.rows('SELECT * FROM scores ORDER BY "row"')
    assert [row["anomaly_score"] for row in found] == expected.column("anomaly_score").to_pylist()
    assert [str(row["sold"]) for row in found] == [str(day) for day in expected.column("sold").to_pylist()]


@pytest.mark.xdist_group("postgresql")
def test_keys_keep_their_type_and_schemas_are_found(run: Run, postgresql: Shop, model: Path):
    postgresql.fill("plain", sales_as_arrow())
    postgresql.run(
        "CREATE SCHEMA shop",
        "CREATE TABLE shop.sales AS SELECT *, gen_random_uuid() AS key FROM plain",
        "CREATE SCHEMA results",
    )
    score = ["score", model, "--sql", postgresql.uri, "--table", "shop.sales", "--id", "key", "--jobs", 1]
    for if_exists in ("fail", "append"):
        run(*score, "-o", "sql:results.scores", "--if-exists", if_exists)
    joined = "SELECT count(*) AS n FROM shop.sales JOIN results.scores USING (key) WHERE fraud = 1 AND anomalous"
    assert postgresql.rows(joined) == [{"n": 6}]


@pytest.mark.xdist_group("postgresql")
def test_a_table_that_somebody_uses_is_told(run: Run, postgresql: Shop, model: Path, monkeypatch):
    quick = replace(databases.POSTGRESQL, write=("BEGIN", "SET LOCAL lock_timeout = '200ms'"))
    monkeypatch.setitem(databases.KINDS, "postgresql", quick)
    postgresql.fill("sales", sales_as_arrow())
    score = ["score", model, "--sql", postgresql.uri, "--table", "sales", "-o", "sql:scores", "--jobs", 1]
    run(*score)
    with postgresql.connect() as other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT * FROM scores")
        told = run(*score, "--if-exists", "replace", exit_code=1).stderr
    assert "Table 'scores' cannot be written: canceling statement due to lock timeout" in told
    assert "Wait until nobody else uses it" in told
    assert postgresql.rows("SELECT count(*) AS n FROM scores") == [{"n": 300}]


def test_a_fault_amid_the_rows_writes_nothing(run: Run, shop: Shop, model: Path):
    bad = sales_as_arrow().set_column(3, "sold", pa.array(["2024-01-31"] * 299 + ["never"]))
    shop.fill("sales", bad)
    score = ["score", model, "--sql", shop.uri, "--table", "sales", "-o", "sql:scores", "--jobs", 1]
    assert "row 300" in run(*score, exit_code=1).stderr
    assert "scores" in run("inspect", "--sql", shop.uri, "--table", "scores", exit_code=1).stderr


def test_a_column_that_is_gone_is_told(run: Run, shop: Shop, model: Path):
    shop.run("ALTER TABLE sales DROP COLUMN amount")
    told = run("score", model, "--sql", shop.uri, "--table", "sales", "--jobs", 1, exit_code=1).stderr
    assert "'amount'" in told


WRONG = {
    "nothing to read": (["fit", "-m", "m"], 2, "TABLE: is missing. Name a file, or use --sql"),
    "no query": (["fit", "--sql", "URI", "-m", "m"], 2, "needs one of --query and --table"),
    "two of them": (["inspect", "--sql", "URI", "--table", "sales", "--query", "SELECT 1"], 2, "needs one of"),
    "no database": (["inspect", "sales.csv", "--query", "SELECT 1"], 2, "needs one of --query and --table"),
    "a file as well": (["detect", "sales.csv", "--sql", "URI", "--table", "sales"], 2, "reads a database, not a file"),
    "a separator": (
        ["detect", "--sql", "URI", "--table", "sales", "--separator", ";"],
        2,
        "reads a database, not a file",
    ),
    "a database in vain": (["detect", "sales.csv", "--sql", "URI"], 2, "needs --query or --table to read, or -o sql:"),
    "no database to write": (["detect", "sales.csv", "-o", "sql:scores"], 2, "needs --sql, the database of the table"),
    "no name": (["detect", "sales.csv", "--sql", "URI", "-o", "sql:"], 1, "must name a table, such as sql:scores"),
    "the table itself": (
        ["detect", "--sql", "URI", "--table", "sales", "-o", "sql:sales", "--if-exists", "replace"],
        1,
        "'sales' is the table itself",
    ),
    "if a file exists": (["detect", "sales.csv", "-o", "s.csv", "--if-exists", "replace"], 2, "is about the table of"),
    "resumed reading": (
        ["score", "MODEL", "--sql", "URI", "--table", "sales", "-o", "s.csv", "--resume"],
        2,
        "needs a file to read, a file to write",
    ),
    "resumed writing": (
        ["score", "MODEL", "sales.csv", "--sql", "URI", "-o", "sql:scores", "--resume"],
        2,
        "needs a file to read, a file to write",
    ),
    "a cluster": (
        ["score", "MODEL", "--sql", "URI", "--table", "sales", "--dask", "local:1"],
        2,
        "reads and writes only files",
    ),
    "a model over the database": (["fit", "--sql", "URI", "--table", "sales", "-m", "FILE"], 1, "the database itself"),
    "no such table": (["detect", "--sql", "URI", "--table", "cakes"], 1, "Cannot read 'cakes': no such table"),
    "no such column": (["detect", "--sql", "URI", "--table", "sales", "--id", "ordre"], 1, "Did you mean 'order'?"),
    "answers without a file": (["review", "MODEL", "--sql", "URI", "--table", "sales"], 2, "is needed with --sql"),
    "a model alone": (["embed", "MODEL", "-o", "f.csv"], 2, "is a model. Name the table after it"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_told(case: str, run: Run, sqlite: Shop, model: Path, table: Path, monkeypatch):
    monkeypatch.chdir(table.parent)
    sqlite.fill("sales", sales_as_arrow())
    words, exit_code, told = WRONG[case]
    place = sqlite.uri.partition(":///")[2]
    known = {"URI": sqlite.uri, "MODEL": str(model), "FILE": place}
    before = Path(place).read_bytes()
    result = run(*[known.get(word, word) for word in words], exit_code=exit_code)
    assert told in " ".join(result.stderr.replace("│", " ").split())
    assert Path(place).read_bytes() == before
