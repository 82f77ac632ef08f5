"""Files of all formats and odd ways of writing them, read in batches of bounded size."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import time
import warnings

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from rdplearn.errors import RDPWarning, TableError
from rdplearn.table import TableEncoder, open_table
from rdplearn.table.sniffing import sniff_separator


def read(source, **options) -> dict[str, list]:
    table = open_table(source, **options)
    batches = list(table.batches())
    return pa.Table.from_batches(batches).to_pydict() if batches else {name: [] for name in table.column_names}


@pytest.fixture
def table() -> pa.Table:
    rng = np.random.default_rng(0)
    n = 3000
    return pa.table(
        {
            "amount": rng.lognormal(size=n),
            "count": rng.integers(0, 50, n),
            "city": rng.choice(["Oslo", "Rome", "Bonn"], n),
            "member": rng.random(n) < 0.3,
            "when": np.datetime64("2024-01-01T00:00:00") + rng.integers(0, 10**7, n).astype("timedelta64[s]"),
        }
    )


def write(table: pa.Table, path, ending: str):
    match ending:
        case "csv":
            pa.csv.write_csv(table, path)
        case "parquet":
            pa.parquet.write_table(table, path, row_group_size=700)
        case "feather":
            pa.feather.write_feather(table, str(path))
        case "arrows":
            with pa.ipc.new_stream(path, table.schema) as stream:
                stream.write_table(table)
        case "jsonl":
            rows = json.loads(table.to_pandas().to_json(orient="records", date_format="iso", double_precision=15))
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "arrows", "jsonl"])
def test_every_format_gives_the_same_matrix(table, tmp_path, ending):
    path = tmp_path / f"without_a_telling_name_{ending}"
    write(table, path, ending)
    encoder = TableEncoder()
    expected = encoder.fit_transform(table)
    again = TableEncoder().fit(path)
    assert again.feature_names_ == encoder.feature_names_
    np.testing.assert_allclose(again.transform(path), expected, rtol=1e-6)
    np.testing.assert_allclose(encoder.transform(path), expected, rtol=1e-6)


def test_batches_are_bounded_and_can_be_read_again(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a\n" + "12\n" * 200_000)
    opened = open_table(path)
    for _ in range(2):
        sizes = [batch.num_rows for batch in opened.batches()]
        assert sum(sizes) == 200_000
        assert max(sizes) <= 65_536
    wide = open_table(pa.table({f"c{i}": np.zeros(2000) for i in range(2000)}))
    assert max(batch.num_rows for batch in wide.batches()) <= 2**21 // 2000


def test_standard_input_can_be_read_twice(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n2,y\n")))
    opened = open_table("-")
    assert opened.name == "standard input"
    assert [read(opened) for _ in range(2)] == [{"a": ["1", "2"], "b": ["x", "y"]}] * 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_can_be_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a\n1\n2\n",))
    writer.start()
    assert read(pipe) == {"a": ["1", "2"]}
    writer.join()


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2\n", ";"),
        ("a\tb c\n1\t2,3\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a\n1\n2\n", ","),
        ('"a;x",b\n"1;2",3\n', ","),
        ("a,b;c,d\n1,2;3,4\n", ","),
        ("", ","),
    ],
)
def test_the_separator_is_found(text, separator):
    assert sniff_separator(text) == separator


def test_a_header_is_no_title_of_what_another_separator_makes():
    assert sniff_separator("day;paid;left\n" + "01/03/2024;5 313,88 €;54 436,00 €\n" * 3) == ";"


def test_what_is_told_is_not_guessed(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes("a~b\n1~é\n".encode("latin-1"))
    assert read(path, separator="~", encoding="latin-1", header=True) == {"a": ["1"], "b": ["é"]}
    assert read(path, separator="~", encoding="latin-1", header=False)["column_2"] == ["b", "é"]
    with pytest.raises(TableError, match=r"The separator must be one ASCII character. Got '::' instead"):
        open_table(path, separator="::", encoding="latin-1")
    with pytest.raises(TableError, match="The encoding 'latin-one' is not known"):
        open_table(path, encoding="latin-one")
    with pytest.raises(
        TableError, match=r"must be one of 'csv', 'parquet', 'arrow', 'jsonl'. Got 'parket' instead. Did you"
    ):
        open_table(path, format="parket")
    with pytest.raises(TableError, match=r"Cannot read .*x.txt"):
        open_table(path, format="parquet")
    with pytest.raises(TableError, match="is not written in utf-8"):
        open_table(path, encoding="utf-8")


def test_guesses_that_may_be_wrong_are_told(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("città,n\nForlì,1\n".encode("cp1252"))
    with pytest.warns(RDPWarning, match="x.csv' is not UTF-8 and was read as cp1252. Pass --encoding"):
        assert read(path) == {"città": ["Forlì"], "n": ["1"]}
    path.write_text("5.1,3.5\n4.9,3.0\n")
    with pytest.warns(RDPWarning, match="seems to have no header, as its first row holds the number '5.1'"):
        assert read(path)["column_1"] == ["5.1", "4.9"]


@pytest.mark.parametrize("text", ["year,2019,x\n1,2,3\n", "name\nAnna\n", "a,b\n1,2\n", ",a\n0,5\n1,6\n"])
def test_a_header_is_recognised(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert len(read(path)) == len(text.split("\n")[0].split(","))
    assert "column_2" not in read(path)


@pytest.mark.parametrize("header", ["1990,1991,1992", ",1990,1991,1992", "0,0.5,1,1.5"])
def test_numbers_that_rise_in_equal_steps_are_names_and_that_is_said(tmp_path, header):
    path = tmp_path / "x.csv"
    path.write_text(f"{header}\n" + "\n".join(",".join(["7", "3", "9", "2"][: header.count(",") + 1]) for _ in "ab"))
    with pytest.warns(RDPWarning, match=r"is taken for its header, .* rise in equal steps"):
        assert list(read(path))[-3:] == header.split(",")[-3:]
    path.write_text("1,2,3\n2,3,4\n")
    with pytest.warns(RDPWarning, match="seems to have no header"):
        assert list(read(path)) == ["column_1", "column_2", "column_3"]


def test_a_header_without_a_name_for_row_names_is_one_field_short(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('"age","city"\n"1",31,"Oslo"\n"2",57,"Rome"\n')
    assert read(path) == {"column_1": ["1", "2"], "age": ["31", "57"], "city": ["Oslo", "Rome"]}
    path.write_text("age,city\n31,Oslo,\n57,Rome,\n")
    assert read(path) == {"age": ["31", "57"], "city": ["Oslo", "Rome"], "column_3": [None, None]}
    path.write_text("age,city\n31,Oslo,x\n57,Rome\n")
    with pytest.raises(TableError, match=r"Row 1 of .* has 3 fields"):
        read(path)


@pytest.mark.parametrize("blank", ["\n\n", "\r\n", "\r\r\r", "\ufeff\n"])
def test_blank_lines_above_the_header_are_passed_over(tmp_path, blank):
    end = blank[-2:] if blank == "\r\n" else blank[-1]
    path = tmp_path / "table.csv"
    path.write_text(blank + end.join(["age,city", "31,Oslo", "", "57,Rome", ""]), newline="")
    assert [batch.to_pydict() for batch in open_table(path).batches()] == [
        {"age": ["31", "57"], "city": ["Oslo", "Rome"]}
    ]
    path.write_text(blank + end.join(["age,city", "31,Oslo", "57", ""]), newline="")
    with pytest.raises(TableError, match=r"Row 2 of .* has 1 field "):
        list(open_table(path).batches())


@pytest.mark.parametrize("text", ["a,b", "hello", "a,b\n", "a,b\r\n"])
def test_a_header_alone_is_a_table_without_rows(tmp_path, text):
    path = tmp_path / "header.csv"
    path.write_text(text)
    assert read(path) == {name: [] for name in text.strip().split(",")}
    with pytest.raises(TableError, match=r"There are no rows in .*header.csv'\. Pass a table with at least one row"):
        TableEncoder().fit(path)


@pytest.mark.parametrize("series", [pd.Series([1, 2]), pl.Series([1, 2])])
def test_a_column_is_no_table_and_that_is_said(series):
    with pytest.raises(TableError, match=r"Cannot read a table from \S+\.Series\. Pass a data frame, such as"):
        open_table(series)


def test_a_missing_file_is_named_with_its_neighbour(tmp_path):
    (tmp_path / "sales.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match=r"There is no file '.*sale.csv'. Did you mean '.*sales.csv'\?"):
        open_table(tmp_path / "sale.csv")
    with pytest.raises(TableError, match="Cannot read"):
        open_table("a\x00b")
    with pytest.raises(TableError, match="is not a regular file"):
        open_table("/dev/null")


def test_keys_that_appear_late_are_columns(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n' * 600_000 + '{"b": "x", "a": "y"}\n')
    columns = read(path)
    assert list(columns) == ["a", "b"]
    assert columns["a"][-1] == "y"
    assert columns["b"][-1] == "x"
    assert columns["b"][0] is None


def test_brackets_in_texts_are_no_nesting(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": "[[["}\n' * 1000)
    assert set(read(path)["a"]) == {"[[["}


@pytest.fixture
def small_blocks(monkeypatch) -> int:
    monkeypatch.setattr("rdplearn.table.csv_files.BLOCK_BYTES", 1 << 16)
    return 1 << 16


def test_of_a_long_csv_arrow_reads_few_blocks_ahead(small_blocks, tmp_path):
    n_rows = 400_000
    pa.csv.write_csv(pa.table({"row": np.arange(n_rows), "x": np.arange(n_rows)}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").stat().st_size > 80 * small_blocks
    at_start = pa.total_allocated_bytes()
    first_row, most = 0, 0
    for batch in open_table(tmp_path / "t.csv").batches():
        if first_row < 50_000:
            time.sleep(0.05)  # Arrow reads on by itself
        most = max(most, pa.total_allocated_bytes() - at_start)
        assert batch.column("row").cast(pa.int64()).equals(pa.array(range(first_row, first_row + batch.num_rows)))
        first_row += batch.num_rows
    assert first_row == n_rows
    assert most < 20 * small_blocks  # 32 parts are 8 blocks; the rest are rows that are made of others


@pytest.mark.parametrize("place", [0, 5000, 9999])
def test_a_row_longer_than_a_part_of_a_block_is_read_and_no_row_twice(small_blocks, place, tmp_path):
    texts = ["short"] * 10_000
    texts[place] = "long\n" * (small_blocks // 10)
    pa.csv.write_csv(pa.table({"row": range(10_000), "text": texts}), tmp_path / "t.csv")
    rows = read(tmp_path / "t.csv")
    assert rows["row"] == [f"{row}" for row in range(10_000)]
    assert rows["text"] == texts


def test_pandas_round_trip_through_csv(table, tmp_path):
    path = tmp_path / "x.csv"
    table.to_pandas().to_csv(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RDPWarning)
        encoder = TableEncoder().fit(path)
    assert encoder.describe()[0]["kind"] == "identifier"  # the index that pandas writes
    frame = pd.read_csv(path, index_col=0)
    np.testing.assert_allclose(encoder.transform(frame), TableEncoder().fit_transform(table), rtol=1e-5)


SWALLOWED = {
    "to the end": ('a,b\n1,x\n2,"y\n3,z\n', r"Line 3 of '.*' opens a quotation mark that is never closed", 0),
    "to the end of a wide row": ('a,b\n1,x\n"2,y\n3,z\n', r"Line 3 of '.*' opens a quotation mark that is never", 0),
    "up to the next": ('a,b\n1,x\n2,"y\n3,"z"\n4,w\n', r"Line 3 of '.*' opens a quotation mark that line 4 closes", 3),
    "among others": (
        'a,b\n1,"x\ny"\n\n2,"y\n3,"z"\n4,w\n',
        r"Line 5 of '.*' opens a quotation mark that line 6 closes",
        3,
    ),
}


@pytest.mark.parametrize("name", SWALLOWED)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_quotation_mark_left_open_is_told_with_its_line(name: str, line_end: str, tmp_path):
    content, told, n_rows = SWALLOWED[name]
    path = tmp_path / "open.csv"
    path.write_text(content.replace("\n", line_end), newline="")
    if n_rows == 0:
        with pytest.raises(TableError, match=told + r".*Close it, or double it if it belongs to the text\."):
            read(path)
        return
    table = open_table(path)
    with pytest.warns(RDPWarning, match=told + r" inside of a cell, so that all between is one cell\. Close it"):
        assert sum(batch.num_rows for batch in table.batches()) == n_rows
    assert sum(batch.num_rows for batch in table.batches()) == n_rows  # told once


@pytest.mark.parametrize(
    "content",
    [
        'a,b\n1,"x\ny"\n2,"he said ""no""\nand ""yes"""\n',
        'a,b\n1,5" pipe\n2,6" pipe\n',
        'a,b\n1,"x" y\n2,"x\ny"\n',
        'a;b\n1;"x,\n"""\n2;y\n',
        'a\n"one\n\ntwo"\n"three"',
    ],
)
def test_quotation_marks_that_are_closed_are_fine(content: str, tmp_path):
    path = tmp_path / "closed.csv"
    path.write_text(content)
    assert len(read(path)["a"]) == 2


TITLES = {
    "padded": ("Sales of ACME,,\nprinted 2024-01-01,,\n", 2),
    "bare": ("Sales of ACME\n\n", 1),
    "with a date beside it": ("Sales of ACME,,\n,printed,\n", 2),
}


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("name", TITLES)
def test_a_title_above_the_header_is_skipped_and_told(name: str, separator: str, tmp_path):
    title, n_rows = TITLES[name]
    body = "city,amount,when\nOslo,3,\nRome,4,2024-01-02\n"
    path = tmp_path / "titled.csv"
    path.write_text((title + body).replace(",", separator))
    told = rf"The first {'row' if n_rows == 1 else '2 rows'} of .* above 'city' (is|are) taken for a title.*--header"
    with pytest.warns(RDPWarning, match=told):
        table = open_table(path)
    assert pa.Table.from_batches(table.batches()).to_pydict() == {
        "city": ["Oslo", "Rome"],
        "amount": ["3", "4"],
        "when": [None, "2024-01-02"],
    }
    path.write_text(path.read_text() + "x\n")
    with pytest.warns(RDPWarning), pytest.raises(TableError, match=r"Row 3 of .* has 1 field "):
        read(path)


@pytest.mark.parametrize(
    "content",
    ["city,,\nOslo,1,2\nRome,3,4\n", ",a,b\nx,y,z\nx,y,z\n", "a\nb\nc\n", "name,\nx,y\nz,w\n", "a,b,c\n1,2,3\n4,5,6\n"],
)
def test_a_header_with_holes_is_no_title(content: str, tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text(content)
    assert len(next(iter(read(path).values()))) == 2


def test_a_workbook_of_several_sheets_says_which_one_is_read(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active.append(["these are the sales"])
    book.create_sheet("sales").append(["city", "amount"])
    book["sales"].append(["Oslo", 3])
    book.save(tmp_path / "book.xlsx")
    told = r"has 2 sheets, and the first, 'notes', is read\. For another, pass --sheet: 'sales'\."
    with pytest.warns(RDPWarning, match=told):
        open_table(tmp_path / "book.xlsx")
    assert read(tmp_path / "book.xlsx", sheet="sales") == {"city": ["Oslo"], "amount": ["3"]}


@pytest.mark.parametrize("separator", [",", ";"])
def test_lines_of_fewer_fields_above_the_header_are_a_title(separator: str, tmp_path):
    path = tmp_path / "statement.csv"
    lines = ["Statement", "IBAN,DE89", "703165,-9.5", "", "date,text,paid,left", *["2024-01-31,food,3,5"] * 5]
    path.write_text("\n".join(lines).replace(",", separator))
    with pytest.warns(RDPWarning, match=r"The first 3 rows of .* above 'date' are taken for a title"):
        table = open_table(path)
    assert pa.Table.from_batches(table.batches())["paid"].to_pylist() == ["3"] * 5


HEADERS_OF_TWO_ROWS = {
    "groups above": ",2023,,2024\ncity,sales,returns,sales\n",
    "merged downwards": "city,2023,,2024\n,sales,returns,sales\n",
}


@pytest.mark.filterwarnings("ignore:The first row of .* is taken for a title")
@pytest.mark.parametrize("title", ["", "Sales of ACME,,,\n", "Sales of ACME\n\n"])
@pytest.mark.parametrize("header", HEADERS_OF_TWO_ROWS.values(), ids=list(HEADERS_OF_TWO_ROWS))
def test_a_header_of_two_rows_is_read_as_one(title: str, header: str, tmp_path):
    path = tmp_path / "merged.csv"
    path.write_text(title + header + "Oslo,1,2,3\nRome,4,5,6\n")
    with pytest.warns(RDPWarning, match=r"header of .* has two rows, read as one, such as '2023 sales'\. Pass --h"):
        table = open_table(path)
    assert table.column_names == ("city", "2023 sales", "2023 returns", "2024 sales")
    assert [len(batch) for batch in table.batches()] == [2]
    path.write_text(",a,,b\nx,y,z,w\nu,v,t,s\n")  # nothing tells that the second row has names
    assert open_table(path).column_names == ("column_1", "a", "column_3", "b")


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_the_line_in_which_a_spreadsheet_names_the_separator_is_no_header(separator: str, tmp_path):
    path = tmp_path / "sep.csv"
    rows = [f"sep={separator}", *(separator.join(row) for row in ("abc", "1x2", "3y4"))]
    path.write_text("\n".join(rows) + "\n")
    assert read(path) == {"a": ["1", "3"], "b": ["x", "y"], "c": ["2", "4"]}


def test_rows_of_units_below_the_header_are_left_out_and_told(tmp_path):
    path = tmp_path / "units.csv"
    path.write_text("site,power,wind,hour\nUnits,kW,m/s,\n[0],p_kw,wind_ms,h\n" + "A,1.5,7,2\nB,2.5,?,3\n" * 3)
    with pytest.warns(
        RDPWarning, match=r"The 2 rows below the header of .*, with words such as 'h' where .* taken for units"
    ):
        table = open_table(path)
    assert table.column_names == ("site", "power", "wind", "hour")
    assert pa.Table.from_batches(table.batches())["power"].to_pylist() == ["1.5", "2.5"] * 3
    assert len(read(path, header=True)["power"]) == 8


@pytest.mark.parametrize("first", ["A,?,n/a,-", "A,,,", "A,1.5,error,2", "A,1.5,2,x"])
def test_a_first_row_without_some_numbers_is_no_row_of_units(first: str, tmp_path):
    path = tmp_path / "first.csv"
    path.write_text(f"site,power,wind,hour\n{first}\n" + "A,1.5,7,2\nB,2.5,?,3\n" * 3)
    assert len(read(path)["power"]) == 7


def test_footnotes_at_the_end_are_left_out_and_told_once(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("city,amount\nOslo,3\nRome,4\n\n* preliminary\nPrinted by HR\n")
    table = open_table(path)
    with pytest.warns(RDPWarning, match=r"The last 2 rows of .* are notes of one field, such as '\* preliminary'"):
        assert [batch.num_rows for batch in table.batches()] == [2]
    assert [batch.num_rows for batch in table.batches()] == [2]


@pytest.mark.parametrize(("last", "place"), [("Osl\n", 3), ("3\n", 3), ("New York\nOslo,3\n", 3), ("a b,c,d\n", 3)])
def test_a_row_that_was_cut_is_no_footnote(last: str, place: int, tmp_path):
    path = tmp_path / "cut.csv"
    path.write_text("city,amount\nOslo,3\nRome,4\n" + last)
    with pytest.raises(TableError, match=rf"Row {place} of .* has [13] fields? where the first row has 2"):
        read(path)


def test_columns_of_one_name_are_told_apart_aloud(tmp_path):
    path = tmp_path / "repeated.csv"
    path.write_text("qty,cost,qty,cost\n1,2,3,4\n")
    told = r"'qty' occurs 2 times in .* \(columns 1 and 3\); the second is called 'qty \(2\)' here, and so for 1 more"
    with pytest.warns(RDPWarning, match=told):
        table = open_table(path)
    assert table.column_names == ("qty", "cost", "qty (2)", "cost (2)")


BETWEEN_BLANKS = {
    "aligned": "  day  temp  press\n 2024-01-01   3.5  1010\n 2024-01-02  -1.25  998 \n",
    "of R": '"day" "temp" "press"\n"1" "2024-01-01" 3.5 1010\n"2" "2024-01-02" -1.25 998\n',
    "with a comment": "# station\nday temp press\n2024-01-01 3.5 1010\n2024-01-02 -1.25 998\n",
    "in cp1252": "stationß temp press\n2024-01-01 3.5 1010\n2024-01-02 -1.25 998\n",
}


@pytest.mark.filterwarnings("ignore:The first row of .* is taken for a title", "ignore:.* was read as cp1252")
@pytest.mark.parametrize("name", BETWEEN_BLANKS)
def test_blanks_between_columns_are_found(name: str, tmp_path):
    path = tmp_path / "station.dat"
    path.write_bytes(BETWEEN_BLANKS[name].encode("cp1252" if "ß" in BETWEEN_BLANKS[name] else "utf-8"))
    found = read(path)
    assert [found["temp"], found["press"]] == [["3.5", "-1.25"], ["1010", "998"]]
    assert len(found) == (4 if name == "of R" else 3)


@pytest.mark.parametrize(
    "content",
    ["name\nAnna Li\nBo Ek\n", "when\n2024-01-01 10:00\n2024-01-02 10:00\n", "size\n12 kg\n13 kg\n", "x y\na b\n"],
)
def test_blanks_inside_of_cells_stay_there(content: str, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text(content)
    assert len(read(path)) == 1


def test_columns_in_fixed_places_are_told(tmp_path):
    path = tmp_path / "fixed.dat"
    path.write_text("id   years    div\n1    < 12      No\n2   10.5      No\n")
    with pytest.warns(
        RDPWarning, match=r"is read as one column, 'id   years    div'\. Its columns seem to stand in fixed"
    ):
        open_table(path)


def test_one_column_of_very_long_cells_is_read(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("note\n" + "x" * 200_000 + "\n")
    assert read(path)["note"] == ["x" * 200_000]


def test_groups_above_empty_cells_alone_name_their_columns(tmp_path):
    path = tmp_path / "stock.csv"
    path.write_text(",,A,B\ncity,x,,\nOslo,1,2,3\nRome,2,3,4\nLima,1,2,3\n")
    with pytest.warns(RDPWarning, match="has two rows, read as one, such as 'city'"):
        assert open_table(path).column_names == ("city", "x", "A", "B")
