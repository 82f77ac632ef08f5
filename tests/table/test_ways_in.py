"""Excel workbooks, ZIP archives, and several files as one table."""

from __future__ import annotations

import datetime
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rdplearn
from rdplearn import RDPDetector, TableEncoder, TableError, TableModel
from rdplearn.table import open_table
from rdplearn.table.archives import FREE_BYTES
from tests.conftest import SMALL

CSV = "age,city\n31,Oslo\n57,Rome\n"


def rows_of(source: object, **ways: object) -> list[dict]:
    return pa.Table.from_batches(list(open_table(source, **ways).batches())).to_pylist()


pytestmark = pytest.mark.filterwarnings("ignore:.*has 2 sheets, and the first")


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    book = openpyxl.Workbook()
    first = book.active
    first.title = "people"
    rows = [["age", "zip", "born", "seen", "member", "note"]]
    rows += [[31, "0012", datetime.date(1990, 1, 31), datetime.datetime(2024, 1, 31, 13, 45), True, "a, b\nc"]]
    rows += [[None] * 6, [57.25, "9999", datetime.date(1970, 12, 1), None, False, ""]]
    for row in rows:
        first.append(row)
    book.create_sheet("2024").append(["only", "header"])
    book["2024"].append([1e300, -3])
    book.save(tmp_path / "people.xlsx")
    return tmp_path / "people.xlsx"


def test_the_first_sheet_of_a_workbook_is_read_as_it_was_typed(workbook: Path):
    first, second = rows_of(workbook)
    assert first == {
        "age": "31",
        "zip": "0012",
        "born": "1990-01-31",
        "seen": "2024-01-31 13:45:00",
        "member": "true",
        "note": "a, b\nc",
    }
    assert (second["age"], second["seen"], second["note"]) == ("57.25", None, None)


def test_other_sheets_are_read_by_name(workbook: Path):
    assert rows_of(workbook, sheet="2024", header=True) == [{"only": "1e+300", "header": "-3"}]
    with pytest.raises(TableError, match=r"has no sheet '2023'. It has 'people', '2024': pass one with --sheet."):
        open_table(workbook, sheet="2023")


def test_a_workbook_means_the_same_as_its_csv(tmp_path: Path):
    rng = np.random.default_rng(0)
    rows = [[int(rng.integers(20, 70)), str(rng.choice(["Oslo", "Rome"]))] for _ in range(200)]
    book = openpyxl.Workbook()
    for row in [["age", "city"], *rows]:
        book.active.append(row)
    book.save(tmp_path / "people.xlsx")
    (tmp_path / "people.csv").write_text("age,city\n" + "".join(f"{age},{city}\n" for age, city in rows))
    scores = [rdplearn.detect(tmp_path / f"people.{ending}", **SMALL)["anomaly_score"] for ending in ("xlsx", "csv")]
    assert scores[0].to_pylist() == scores[1].to_pylist()


def test_what_is_said_of_the_wrong_kind_of_file_is_an_error(workbook: Path, tmp_path: Path):
    (tmp_path / "people.csv").write_text(CSV)
    with pytest.raises(TableError, match=r"The sheet '2024' is named, and '.*people.csv' is not an Excel workbook"):
        open_table(tmp_path / "people.csv", sheet="2024")
    with pytest.raises(TableError, match="is an Excel workbook: leave out --separator and --encoding"):
        open_table(workbook, separator=";")


def test_without_the_extra_a_workbook_says_what_to_install(workbook: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(TableError, match=r"pip install 'rdplearn\[excel\]'. Or save the sheet as CSV."):
        open_table(workbook)


def test_damaged_workbooks_are_told_in_one_line(workbook: Path, tmp_path: Path):
    content = workbook.read_bytes()
    (tmp_path / "cut.xlsx").write_bytes(content[: len(content) // 2])
    flipped = bytearray(content)
    with zipfile.ZipFile(workbook) as archive:
        flipped[archive.getinfo("xl/worksheets/sheet1.xml").header_offset + 80] ^= 0xFF
    (tmp_path / "flipped.xlsx").write_bytes(flipped)
    with zipfile.ZipFile(tmp_path / "empty.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "no workbook at all")
    for name in ("cut", "flipped", "empty"):
        with pytest.raises(TableError, match=rf"^Cannot (read|unpack) '.*{name}.xlsx'"):
            open_table(tmp_path / f"{name}.xlsx")


def packed(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_an_archive_with_one_table_is_read(tmp_path: Path):
    path = packed(tmp_path / "people.zip", **{"folder/": "", "folder/people.csv": CSV, "__MACOSX/._people.csv": "x"})
    assert rows_of(path) == [{"age": "31", "city": "Oslo"}, {"age": "57", "city": "Rome"}]
    parquet = io.BytesIO()
    pq.write_table(pa.table({"age": [31, 57]}), parquet)
    assert rows_of(packed(tmp_path / "p.zip", **{"p.parquet": parquet.getvalue()})) == [{"age": 31}, {"age": 57}]


def test_a_workbook_in_an_archive_is_read(workbook: Path, tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.write(workbook, "people.xlsx")
    assert [row["age"] for row in rows_of(tmp_path / "packed.zip")] == ["31", "57.25"]


def test_archives_that_are_no_table_are_refused(tmp_path: Path):
    two = packed(tmp_path / "two.zip", **{"a.csv": CSV, "b.csv": CSV})
    with pytest.raises(TableError, match=r"must hold one table. Got 2 files: 'a.csv', 'b.csv'. Unpack it"):
        open_table(two)
    with pytest.raises(TableError, match=r"must hold one table. Got 0 files. Unpack it"):
        open_table(packed(tmp_path / "none.zip", **{".hidden": "x"}))
    with pytest.raises(TableError, match="is an archive that holds an archive"):
        open_table(packed(tmp_path / "nested.zip", **{"two.zip": two.read_bytes()}))
    with pytest.raises(TableError, match="is a document of an office program"):
        open_table(packed(tmp_path / "sheet.ods", mimetype="application/vnd.oasis.opendocument.spreadsheet"))


def test_bombs_are_refused_before_they_are_unpacked(tmp_path: Path):
    bomb = packed(tmp_path / "bomb.zip", **{"zeros.csv": "0\n" * (FREE_BYTES // 2 + (1 << 24))})
    assert bomb.stat().st_size < 1 << 20
    with pytest.raises(TableError, match=r"times as large when unpacked \(\d+ MB\), and no table does"):
        open_table(bomb)
    liar = bytearray(bomb.read_bytes())
    with zipfile.ZipFile(bomb) as archive:
        place = liar.rindex(archive.infolist()[0].file_size.to_bytes(4, "little"))
    liar[place : place + 4] = (1000).to_bytes(4, "little")
    (tmp_path / "liar.zip").write_bytes(liar)
    with pytest.raises(TableError, match=r"Cannot unpack '.*liar.zip': it is damaged"):
        open_table(tmp_path / "liar.zip")


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"part-{number}.csv" for number in (1, 2, 10)]
    paths[0].write_text(CSV)
    paths[1].write_text("city;age\nParis;44\n")  # another order, another separator
    paths[2].write_text("age,city\n99,Bonn\n")
    return paths


def test_several_files_are_one_table(parts: list[Path], tmp_path: Path):
    pattern = str(tmp_path / "part-*.csv")
    assert [row["age"] for row in rows_of(pattern)] == ["31", "57", "99", "44"]  # by name: 1, 10, 2
    assert [row["age"] for row in rows_of(parts)] == ["31", "57", "44", "99"]
    assert [row["age"] for row in rows_of([str(parts[1]), pattern])] == ["44", "31", "57", "99"]  # each once
    assert open_table(parts).name == f"{str(parts[0])!r} and 2 more files"
    assert open_table(pattern.replace("part-*", "part-10*")).name == repr(str(parts[2]))
    assert TableEncoder().fit(pattern).n_rows_ == 4


def test_models_take_patterns_and_lists(parts: list[Path], tmp_path: Path):
    model = TableModel(RDPDetector(**SMALL)).fit(tmp_path / "part-*.csv")
    assert model.score_samples(parts).shape == (4,)


def test_files_that_do_not_belong_together_are_refused(parts: list[Path], tmp_path: Path):
    parts[2].write_text("age\n99\n")
    with pytest.raises(
        TableError, match=r"part-10.csv' lacks column 'city', which '.*part-1.csv' has. Pass files with"
    ):
        open_table(parts)
    with pytest.raises(TableError, match=r"part-10.csv' lacks column 'city', which '.*part-1.csv' has"):
        open_table(parts[::-2])
    with pytest.raises(TableError, match=r"No file matches '.*none-\*.csv'"):
        open_table(tmp_path / "none-*.csv")
    with pytest.raises(TableError, match="Standard input"):
        open_table(["-", parts[0]])


def test_types_of_several_files_are_those_of_the_first(tmp_path: Path):
    for name, values in {"a": [1.5, 2.5], "b": [3, 4], "c": ["x", "y"]}.items():
        pq.write_table(pa.table({"age": values}), tmp_path / f"{name}.parquet")
    assert [row["age"] for row in rows_of([tmp_path / "a.parquet", tmp_path / "b.parquet"])] == [1.5, 2.5, 3.0, 4.0]
    with pytest.raises(TableError, match=r"Column 'age' is string in '.*c.parquet' and double in '.*a.parquet'"):
        rows_of([tmp_path / "a.parquet", tmp_path / "c.parquet"])


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path: Path):
    (tmp_path / "a[1].csv").write_text(CSV)
    assert len(rows_of(tmp_path / "a[1].csv")) == 2
