"""What people write in cells: numbers in a dress, markers, dates, codes, years, and cells that do not fit."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rdplearn
from rdplearn.errors import RDPWarning, TableError
from rdplearn.table import TableEncoder
from tests.conftest import SMALL

N = 60


def column_of(values: list[object], name: str = "column", **options: object) -> tuple[TableEncoder, dict[str, object]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RDPWarning)
        table = pa.table({name: pa.array(values), "other": np.arange(len(values)) % 7})
        encoder = TableEncoder(sparse=False, **options).fit(table)
    return encoder, encoder.describe()[0]


def first_numbers(values: list[object], **options: object) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RDPWarning)
        table = pa.table({"column": pa.array(values)})
        return TableEncoder(sparse=False, **options).fit_transform(table)[:, 0].tolist()


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        (["$2,700", "$15", "-$3.50"], [2700, 15, -3.5]),
        (["€ 1.200,50", "€ 7,25", "€ 3"], [1200.5, 7.25, 3]),
        (["35.5%", "12%", "-3%"], [35.5, 12, -3]),
        (["1,571", "12", "1,234,567.5"], [1571, 12, 1234567.5]),
        (["(1,234)", "17", "2,000"], [-1234, 17, 2000]),
        (["12 kg", "7.5 kg", "9 kg"], [12, 7.5, 9]),
        (["1,5", "2,25", "1.000"], [1.5, 2.25, 1000]),
        (["\u22123.5", "7", "12"], [-3.5, 7, 12]),
        (["\u2212$3", "$7", "$\u221212"], [-3, 7, -12]),
        (["1.234,50-", "17,25", "3,00-"], [-1234.5, 17.25, -3]),
        (["12.5- kg", "7 kg", "9 kg"], [-12.5, 7, 9]),
        (["₹ 1,23,456.50", "₹ 12,345", "₹ 1,00,00,000"], [123456.5, 12345, 1e7]),
    ],
)
def test_numbers_in_a_dress_are_numbers_and_that_is_said(written, numbers):
    values = written * 20
    assert first_numbers(values) == pytest.approx(numbers * 20)
    with pytest.warns(RDPWarning, match=r"holds numbers such as .* Pass --plain-numbers, or --kind column=cat"):
        TableEncoder().fit(pa.table({"column": values}))
    assert column_of(values, plain_numbers=True)[1]["kind"] == "category"
    assert column_of(values, kinds={"column": "category"})[1]["kind"] == "category"


def matrix_and_words(table: dict[str, list[str]], **options: object) -> tuple[np.ndarray, str]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rows = TableEncoder(sparse=False, **options).fit_transform(pa.table(table))
    return rows, "\n".join(str(warning.message) for warning in told)


def test_what_reads_with_both_marks_is_read_as_the_other_columns_are():
    table = {"paid": ["7,5", "12,25-", "1.234,50"] * 20, "pieces": ["3,000", "12,500", "7"] * 20}
    table |= {"stock": ["1.234", "567", "12.345"] * 20, "share": ["0.250", "0.125", "1.500"] * 20}
    rows, told = matrix_and_words(table)
    assert rows[:3, 0].tolist() == pytest.approx([7.5, -12.25, 1234.5])
    assert rows[:3, 1].tolist() == pytest.approx([3, 12.5, 7])
    assert rows[:3, 2].tolist() == pytest.approx([1234, 567, 12345])
    assert rows[:3, 3].tolist() == pytest.approx([0.25, 0.125, 1.5])  # no group begins with 0
    assert re.search(r"'stock' of the table holds numbers such as '1\S*', read as 1", told)
    assert matrix_and_words(table, kinds={"stock": "number"})[0].tolist() == rows.tolist()


@pytest.mark.parametrize("other", ["1.5", "1,234,567"])
def test_a_comma_is_between_groups_where_a_column_has_points(other: str):
    table = {"paid": ["7,5", "12,25", "3,50"] * 20, "rate": [other, "3", "2"] * 20, "pieces": ["3,000", "12,500"] * 30}
    assert matrix_and_words(table)[0][:2, 2].tolist() == [3000, 12500]


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        (["$338K", "$1.2M", "$900"], [338e3, 1.2e6, 900]),
        (["$338K", "$1.2M", "$900", "$7K", "1.5M"], [338e3, 1.2e6, 900, 7e3, 1.5e6]),
        (["1.2M", "338K", "2.5M", "1B"], [1.2e6, 338e3, 2.5e6, 1e9]),
        (["€1.2 million", "€3 billion", "€500 thousand"], [1.2e6, 3e9, 5e5]),
        (["338k", "12k", "900"], [338e3, 12e3, 900]),
        (["$1.2 bn", "$30 mn", "($3.5 mn)"], [1.2e9, 3e7, -3.5e6]),
        (["1:02:33", "59:30", "101:00:00"], [3753, 3570, 363600]),
        (["3h 20m", "45m", "2 h", "1 hr 5 min 10 sec"], [12000, 2700, 7200, 3910]),
        (["2 days 03:04:05", "0 days 00:00:10", "1 day, 1:00:00"], [183845, 10, 90000]),
    ],
)
def test_thousands_millions_and_durations_are_numbers_and_that_is_said(written, numbers):
    values = written * 20
    assert first_numbers(values) == pytest.approx(numbers * 20, rel=1e-6)
    with pytest.warns(
        RDPWarning, match=r"holds (numbers|durations) such as .* Pass --plain-numbers, or --kind column=cat"
    ):
        TableEncoder().fit(pa.table({"column": values}))
    assert column_of(values, plain_numbers=True)[1]["kind"] == "category"
    assert column_of(values, kinds={"column": "number"})[1]["kind"] == "number"


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["12M", "18M", "24M"], [12, 18, 24]),  # may be months
        (["12 m", "7.5 m", "9 m"], [12, 7.5, 9]),  # metres
        (["45 min", "7 min", "9 min"], [45, 7, 9]),
    ],
)
def test_a_letter_that_all_numbers_have_is_a_unit(values, numbers):
    assert first_numbers(values * 20) == numbers * 20


def test_house_numbers_and_times_of_day_are_no_quantities():
    assert column_of(["12", "13", "14A", "15B"] * 15)[1]["kind"] == "category"
    assert column_of(["1:02:33", "12:30:00", "23:59:59"] * 20)[1]["kind"] == "time"
    assert column_of(["13:45"] * 30 + ["12:10"] * 30 + ["25:10"])[1]["note"] == "1 row not a time, such as '25:10'"
    assert column_of(["1:02:33", "12:30:00", "23:59:59"] * 20, "lap_duration")[1]["kind"] == "number"
    assert column_of(["12:30", "0:59", "7:15"] * 20, "run time")[1]["note"].startswith("durations such as '0:59'")


def test_durations_are_told_as_durations(tmp_path: Path):
    values = [f"{i % 3}:{i % 60:02d}:{i * 7 % 60:02d}" for i in range(200)] + ["39:00:30"]
    runs = pa.table({"duration": values, "city": ["Oslo", "Rome", "Bonn"] * 67})
    path = tmp_path / "model"
    with pytest.warns(RDPWarning, match=r"durations such as '0:09:03', read as 543 seconds"):
        model = rdplearn.TableModel(rdplearn.RDPDetector(**SMALL)).fit(runs)
    rdplearn.save(model, path)
    for each in (model, rdplearn.load(path)):
        assert each.encoder.describe()[0]["typical"] == "0:06:42 to 2:50:50"
        explanation = each.explain(runs, rows=[200])
        assert explanation.sentences(0)[0].startswith("duration 39:00:30 (typical 0:06:42 to 2:50:50) accounts for")
        assert explanation.kinds()[0].title == "duration = 39:00:30"
        assert explanation.to_dicts()[0]["columns"][0]["value"] == 140_430
    with pytest.warns(RDPWarning):
        found = rdplearn.detect(runs, reasons=True, **SMALL).to_pylist()[200]
    assert (found["value_1"], found["typical_1"]) == ("39:00:30", "0:06:42 to 2:50:50")
    rdplearn.write_report(model, runs, tmp_path / "report.html")
    assert "39:00:30" in (tmp_path / "report.html").read_text()


def test_a_few_cells_that_are_no_duration_are_marked():
    _, described = column_of(["1:02:33", "59:30", "101:00:00"] * 20 + ["did not finish"])
    assert (described["kind"], described["missing"]) == ("number", 0)
    assert "1 row not a number, such as 'did not finish'" in described["note"]


def test_an_encoder_from_before_magnitudes_reads_as_it_did():
    values = ["338K", "12K", "900K"] * 20
    encoder, _ = column_of(values)
    state = encoder.to_dict()
    state["columns"][0]["encoding"]["dress"] = "|k"
    cells = pa.table({"column": ["338K", "7K"], "other": [1, 1]})
    assert TableEncoder.from_dict(state).transform(cells)[:, 0].tolist() == [338, 7]


def test_dates_with_dots_and_two_digits_of_the_year():
    _, described = column_of(["19.01.24", "05.02.24", "28.12.23"] * 20)
    assert (described["kind"], described["typical"]) == ("date", "2023-12-28 to 2024-02-05")
    assert column_of(["1.1.24", "1.2.0", "1.10.24"] * 20)[1]["kind"] == "category"


def test_a_code_that_reads_as_infinity_is_no_missing_one():
    codes = [f"{place:04x}e{place + 900:04}" for place in range(N)]  # such as 0001e0901
    assert column_of([*codes, "37e97203"])[1]["becomes"] == []


def test_dates_in_both_orders_are_told():
    dates = [f"{place % 17 + 12}/{place % 12 + 1:02}/2024" for place in range(40)]
    dates += [f"{place % 12 + 1:02}/{place % 17 + 12}/2024" for place in range(20)]
    other = {"other": [f"{place % 7}" for place in range(60)]}
    told = matrix_and_words({"when": dates, **other})[1]
    assert "'when' of the table has dates with the day first, such as '" in told
    assert "; all were read as texts. Write all alike, or pass --kind when=date" in told
    told = matrix_and_words({"when": dates, **other}, kinds={"when": "date"})[1]
    assert "'when' of the table is not a date in 1" in told
    words = {"when": ["Jan", "soon", "12/31/2024", "31/12/2024"] * 15, **other}
    assert "first, such as" not in matrix_and_words(words)[1]


def test_parts_of_a_second_may_stand_behind_a_comma():
    values = [f"2024-03-30 22:{place:02}:10,{place * 7:03}" for place in range(N)]  # as logs of Python have them
    assert column_of(values)[1]["kind"] == "date"
    assert column_of([value.replace("2024-03-30", "30.03.2024") for value in values])[1]["kind"] == "date"
    assert column_of([value[11:] for value in values])[1]["kind"] == "time"


def test_24_00_is_midnight():
    assert column_of(["01:00", "13:30", "24:00"] * 20)[1]["kind"] == "time"
    assert column_of(["2024-01-31 24:00", "2024-02-01 01:00"] * 20)[1]["typical"].startswith("2024-02-01")


def test_weeks_are_dates():
    encoder, described = column_of(["2013-W18", "2014W01", "2012-W52", "2013-W18-3"] * 20)
    assert (described["kind"], described["typical"]) == ("date", "2012-12-24 to 2013-12-30")
    days = encoder.transform(pa.table({"column": ["2012-W52", "2013-W01", "2013-W18-3"], "other": [1] * 3}))[:, 0]
    assert days.tolist() == [0, 7, 7 * 18 + 2]
    _, described = column_of(["2013-W18", "2014-W01", "2013-W53"] * 20)  # that year had 52
    assert described["kind"] == "category"


def test_different_units_are_no_numbers():
    assert column_of(["12 kg", "12 lb", "9 kg", "7 lb"] * 15)[1]["kind"] == "category"
    assert column_of(["12A", "3B", "4C", "5D"] * 15)[1]["kind"] == "category"


@pytest.mark.parametrize(
    ("written", "other"), [(["12 kg", "9 kg", "900 g", "7 kg"], "900 g"), (["$12.50", "€ 9", "$7", "$3"], "€ 9")]
)
def test_several_units_are_told_and_the_most_frequent_can_be_asked_for(written: list[str], other: str):
    table = {"column": written * 15, "other": [f"{place % 7}" for place in range(60)]}
    rows, told = matrix_and_words(table)
    assert (
        f"numbers in 2 units, such as '{written[0]}' (45 rows) and '{other}' (15 rows); all were read as texts" in told
    )
    rows, told = matrix_and_words(table, kinds={"column": "number"})
    assert rows[:, 2].mean() == 0.25
    assert "is not a number in 15 rows" in told


@pytest.mark.parametrize(
    "written", [["12A", "3B", "4C", "5D"], ["1936 Summer", "1940 Winter"], ["12 kg", "soon", "9 g"]]
)
def test_what_are_no_units_is_not_told_as_such(written: list[str]):
    assert "units" not in matrix_and_words({"column": written * 15, "other": ["1", "2", "3"] * (5 * len(written))})[1]


def test_a_few_cells_in_another_unit_do_not_fit_and_are_marked():
    values = [f"{i} kg" for i in range(40, 100)]
    values[7] = values[20] = "3 lb"
    encoder, told = column_of(values)
    assert encoder.feature_names_[:3] == ["column", "column missing", "column not a number"]
    assert told["note"].endswith("2 rows not a number, such as '3 lb'")
    parts = [TableEncoder().summarise(pa.table({"column": part})) for part in (values[:5], values[5:25], values[25:])]
    joined = parts[0].merge(parts[1]).merge(parts[2]).columns["column"]
    assert joined.dresses == TableEncoder().summarise(pa.table({"column": values})).columns["column"].dresses
    for options in ({}, {"kinds": {"column": "number"}}):
        with pytest.raises(TableError, match=r"'column' of the table has text in 2 rows \(first: row 8, '3 lb'\)"):
            column_of(values, strict=True, **options)


def test_a_letter_after_few_numbers_is_no_unit():
    values = [str(i % 40) for i in range(N)] + ["14A", "15A"]
    encoder, described = column_of(values)
    assert (described["kind"], described["note"]) == ("number", "2 rows not a number, such as '14A'")
    assert "column not a number" in encoder.feature_names_
    assert column_of(["1", "2", "3", "4", "1OT"] * 15)[1]["kind"] == "category"


def test_years_with_a_word_and_codes_with_a_letter_are_no_quantities():
    assert column_of([f"{1896 + 4 * (i % 9)} Summer" for i in range(N)])[1]["kind"] == "category"
    assert column_of(["01", "23", "7p", "7p"] * 15)[1]["kind"] == "category"
    assert column_of([f"{1896 + 4 * (i % 99)} kg" for i in range(N)])[1]["kind"] == "number"


def test_a_list_of_numbers_is_none():
    values = [",".join(str(100 + i + j) for j in range(12)) for i in range(N)]
    assert column_of(values)[1]["kind"] == "identifier"


def test_a_long_word_is_no_unit():
    assert column_of(["3 kilowattstunden", "5 kilowattstunden"] * 30)[1]["kind"] == "number"
    assert column_of(["3 kilowattstundenx", "5 kilowattstundenx"] * 30)[1]["kind"] == "category"


@pytest.mark.parametrize("marker", ["#N/A", "?", "-", "n/a", ".", "unknown"])
def test_usual_markers_count_as_missing_where_all_else_reads(marker):
    values = [str(i % 9 + 0.5) for i in range(N)] + [marker] * 3
    encoder, described = column_of(values)
    assert (described["kind"], described["missing"]) == ("number", 3)
    assert encoder.feature_names_[:2] == ["column", "column missing"]
    with pytest.warns(RDPWarning, match=r"counts as missing. Pass --strict"):
        TableEncoder().fit(pa.table({"column": values}))
    with pytest.raises(TableError, match="has text in 3 rows"):
        TableEncoder(strict=True).fit(pa.table({"column": values}))


def test_a_marker_among_words_is_a_word():
    assert "column=unknown" in column_of(["red", "blue", "unknown"] * 20)[0].feature_names_


def test_a_few_cells_that_do_not_fit_are_missing_and_marked():
    values = [str(i % 9 + 0.5) for i in range(N)] + ["SKU03705"]
    table = pa.table({"column": values})
    with pytest.warns(RDPWarning, match=r"is not a number in 1 row \(first: row 61, 'SKU03705'\)"):
        encoder = TableEncoder(sparse=False).fit(table)
    assert encoder.feature_names_ == ["column", "column missing", "column not a number"]
    assert encoder.transform(table)[-1].tolist() == [4.5, 1, 1]
    with pytest.raises(TableError, match=r"row 61, 'SKU03705'\). Leave out --strict, or pass --kind column=category"):
        TableEncoder(strict=True).fit(table)


def test_new_cells_that_do_not_fit_are_told_and_many_are_refused():
    encoder = TableEncoder(sparse=False).fit(pa.table({"column": [str(i % 9) for i in range(N)]}))
    with pytest.warns(RDPWarning, match="has cells that cannot be read in 1 row"):
        assert encoder.transform(pa.table({"column": ["1", "x"]})).shape == (2, 1)
    with pytest.raises(TableError, match="was a number at fit, and is not in 50 rows"):
        encoder.transform(pa.table({"column": ["x"] * 50}))


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("5/10/18 4:01", "2018-05-10"),
        ("Aug-62", "1962-08-01"),
        ("Dec 2012", "2012-12-01"),
        ("1986, October", "1986-10-01"),
        ("20181014", "2018-10-14"),
        ("2018-09", "2018-09-01"),
        ("2018Q4", "2018-10-01"),
        ("Q2 2018", "2018-04-01"),
        ("2018-Q1", "2018-01-01"),
        ("May-21-2018", "2018-05-21"),
        ("May 21st, 2018", "2018-05-21"),
        ("3rd May 2018", "2018-05-03"),
    ],
)
def test_dates_are_read_as_they_are_written(written, day):
    later = written.replace("18", "19").replace("62", "63").replace("2012", "2013").replace("1986", "1987")
    encoder, described = column_of([written, later, written] * 20)
    assert described["kind"] == "date"
    assert str(described["typical"]).startswith(day) or day in str(described["typical"])
    assert encoder.feature_names_[0] == "column:days"


def test_a_bare_year_is_a_date_among_dates_and_a_year_among_years():
    values = [f"{1950 + i % 50}, May" if i % 10 else str(1950 + i % 50) for i in range(N)]
    encoder, described = column_of(values)
    assert (described["kind"], described["note"]) == ("date", "")
    assert "column not a date" not in encoder.feature_names_
    assert column_of([str(1950 + i % 50) for i in range(N)])[1]["kind"] == "year"
    assert column_of([str(1000 + i * 17) for i in range(N)])[1]["kind"] == "number"


def test_months_have_no_weekday():
    months = [f"{1950 + i // 12}-{i % 12 + 1:02d}" for i in range(N)]
    encoder, _ = column_of(months)
    assert encoder.feature_names_[:3] == ["column:days", "column:yearday_sin", "column:yearday_cos"]
    assert "column:weekday_sin" in column_of([*months, "1955-01-02"])[0].feature_names_


def test_two_years_in_a_row_are_a_season_and_no_month():
    assert column_of([f"{2000 + i % 12}-{i % 12 + 1:02d}" for i in range(N)])[1]["kind"] == "category"
    assert column_of(["2000-1", "2000-2", "2001-1", "2001-2"] * 15)[1]["kind"] == "category"


def test_a_few_of_the_dates_without_marks_and_of_the_times_may_not_fit():
    encoder, described = column_of([f"201810{i % 28 + 1:02d}" for i in range(N)] + ["20181399"])
    told = "dates such as 20181014; 1 row not a date, such as '20181399'"
    assert (described["kind"], described["note"]) == ("date", told)
    assert "column not a date" in encoder.feature_names_
    encoder, described = column_of([f"{i % 24}:{i % 60:02d}" for i in range(N)] + ["9.12"])
    assert (described["kind"], described["note"]) == ("time", "1 row not a time, such as '9.12'")
    with pytest.raises(TableError, match=r"text that is not a time of day in 1 row \(first: row 61, '9.12'\)"):
        column_of([f"{i % 24}:{i % 60:02d}" for i in range(N)] + ["9.12"], strict=True)


def test_a_year_that_is_none_does_not_make_the_others_quantities():
    _, described = column_of([str(1950 + i % 50) for i in range(N)] + ["9780133356038"], "year")
    assert (described["kind"], described["typical"]) == ("year", "1951 to 1997")


def test_the_marker_of_databases_is_missing():
    _, described = column_of(["red", "blue", "\\N"] * 20)
    assert (described["missing"], described["distinct"]) == (20, 2)


@pytest.mark.parametrize("marker", [-999, "-999", -999.0, "-999.0"])
@pytest.mark.parametrize("kind", [pa.float64(), pa.int32(), pa.decimal128(21, 2)])
def test_a_number_can_mean_missing_in_a_column_of_numbers(marker, kind):
    values = pa.array([-999, 5, 7, 5] * 20).cast(kind)
    encoder, column = column_of(values, missing=[marker, "n/a"])
    assert (column["missing"], column["typical"]) == (20, "5 to 7")
    assert encoder.transform(pa.table({"column": values[:1], "other": [1]}))[0, :2].tolist() == [5, 1]


def test_dates_that_do_not_fit_the_format_are_read_in_its_order_and_told():
    values = ["05/10/18", "13/10/18", "05/11/2018", "06/11/2018"] * 10
    with pytest.warns(
        RDPWarning, match=r"'a'.* in 20 rows that --date-format does not fit \(first: row 3, '05/11/2018'"
    ):
        encoder = TableEncoder(date_format="%d/%m/%y").fit(pa.table({"a": values}))
    days = encoder.transform(pa.table({"a": values[:4]}))[:, 0]
    assert days.tolist() == [0, 8, 31, 32]
    assert encoder.describe()[0]["note"] == "20 rows not as --date-format says, such as '05/11/2018'"
    with pytest.warns(RDPWarning, match=r"--date-format does not fit"):
        by_month = TableEncoder(date_format="%m/%d/%y").fit(pa.table({"a": ["05/10/18", "05/11/18", "05/12/2018"] * 9}))
    assert by_month.transform(pa.table({"a": ["05/10/18", "05/12/2018"]}))[:, 0].tolist() == [0, 2]


def test_a_date_format_that_fits_nothing_is_told():
    values = [f"{1 + row % 28:02d}/{1 + row % 12:02d}/2024" for row in range(60)]
    told = r"No cell of the table is written as --date-format says, '%d\.%m\.%Y'"
    with pytest.warns(RDPWarning, match=told):
        TableEncoder(date_format="%d.%m.%Y").fit(pa.table({"a": values}))
    with pytest.warns(RDPWarning, match=told):
        TableEncoder(date_format="%d.%m.%Y").fit(pa.table({"a": [row % 9 for row in range(60)], "b": ["x", "y"] * 30}))


def test_a_date_format_decides_what_is_ambiguous():
    values = [f"{i % 12 + 1:02d}/{i % 11 + 1:02d}/18" for i in range(N)]
    by_day = first_numbers(values, date_format="%d/%m/%y")
    assert by_day == first_numbers(values, day_first=True)
    assert by_day != first_numbers(values, date_format="%m/%d/%y")
    with pytest.raises(TableError, match=r"'date_format' option must hold the parts of a date.*Got 'day' instead"):
        TableEncoder(date_format="day").fit(pa.table({"a": ["1"]}))


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("zip", [10_000 + i % 7 * 13 for i in range(N)], "category"),
        ("ZIPCODE", [10_000 + i * 13 for i in range(N)], "identifier"),
        ("Phone", [5_551_000 + i % 9 for i in range(N)], "category"),
        ("brewery_id", [i % 8 for i in range(N)], "category"),
        ("yr_built", [1900 + i % 90 for i in range(N)], "year"),
        ("price", [10_000 + i % 7 * 13 for i in range(N)], "number"),
        ("county", [i % 9 for i in range(N)], "category"),
        ("st", [i % 9 for i in range(N)], "category"),
        ("DRG", [238 + i % 9 for i in range(N)], "category"),
        ("fire cause", [i % 9 for i in range(N)], "category"),
        ("county", [i % 9 + 0.5 for i in range(N)], "number"),
        ("county", [i * 7 for i in range(N)], "number"),
        ("county_population", [i % 9 for i in range(N)], "number"),
        ("stores_per_county", [i % 9 for i in range(N)], "number"),
        ("causes", [i % 9 for i in range(N)], "number"),
        ("policePrecinct", [i % 9 for i in range(N)], "category"),
        ("AgeFirstSex", [i % 9 for i in range(N)], "number"),
        ("countryCode", [i % 9 for i in range(N)], "category"),
        ("schoolid", [i % 9 for i in range(N)], "category"),
        ("paid", [i % 9 for i in range(N)], "number"),
        ("industry", [3341 + i % 9 for i in range(N)], "category"),
    ],
)
def test_codes_and_years_are_no_quantities(name, values, kind):
    _, described = column_of(values, name)
    assert described["kind"] == kind
    assert kind != "year" or described["typical"] == "1903 to 1956"


def test_texts_that_nearly_all_differ_are_identifiers_aloud():
    values = [f"name {i}" for i in range(200)] + ["name 0"]
    with pytest.warns(RDPWarning, match=r"Left out of the table: 'column' \(99.5% of .*Pass --ignore column to agree"):
        TableEncoder().fit(pa.table({"column": values, "other": np.arange(201) % 7}))


def test_a_column_that_cannot_be_read_does_not_stop_the_others():
    table = pa.table({"a": [1, 2] * 20, "b": [[1], [2, 3]] * 20})
    with pytest.warns(RDPWarning, match=r"'b' \(holds list<"):
        encoder = TableEncoder().fit(table)
    assert encoder.describe()[1]["kind"] == "unreadable"
    assert encoder.transform(table).shape == (40, 1)
    with pytest.raises(TableError, match=r"holds list<.*Pass --ignore b"):
        TableEncoder(strict=True).fit(table)


@pytest.mark.filterwarnings("ignore::rdplearn.errors.RDPWarning")
def test_looking_shows_all_columns_even_if_none_can_be_used():
    assert [column["kind"] for column in TableEncoder().look(pa.table({"a": [1], "b": [[1]]}))] == [
        "constant",
        "unreadable",
    ]


@pytest.mark.filterwarnings("ignore::rdplearn.errors.RDPWarning")
def test_merged_parts_are_read_like_the_whole():
    values = ["$1,200", "?", "7", "12 lb", "1.5"] * 12
    whole = pa.table({"column": values, "other": ["20181014", "20190101"] * 30})
    parts = [TableEncoder().summarise(whole.slice(start, 11)) for start in range(0, 60, 11)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert TableEncoder().fit_summary(merged).to_dict() == TableEncoder().fit(whole).to_dict()


def test_encoders_of_format_1_load_and_encode_as_they_did(tmp_path: Path):
    kept = json.loads(Path(__file__).with_name("encoder_of_format_1.json").read_text())
    (tmp_path / "table.csv").write_text(kept["csv"])
    encoder = TableEncoder.from_dict(kept["state"])
    assert np.asarray(encoder.transform(tmp_path / "table.csv")[:8]).tolist() == kept["matrix"]
    with pytest.raises(TableError, match="was a number at fit, and is not"):
        encoder.transform(pa.table({**{name: ["x"] for name in ("age", "city", "when", "year", "hole", "zip")}}))


def test_detect_takes_what_the_command_takes(tmp_path: Path):
    path = tmp_path / "sales.csv"
    path.write_text("price;day\n" + "".join(f"{i % 7},5;0{i % 9 + 1}.02.24\n" for i in range(40)) + "gone;03.02.24\n")
    found = rdplearn.detect(
        path,
        separator=";",
        missing=["gone"],
        kinds={"price": "number"},
        decimal=",",
        date_format="%d.%m.%y",
        strict=True,
        n_members=1,
        n_rounds=1,
        n_steps=10,
        random_state=0,
    )
    assert found.num_rows == 41


def test_a_detector_on_a_mixed_frame_says_who_takes_it():
    frame = pd.DataFrame({"a": [1.0, 2.0] * 10, "b": ["x", "y"] * 10})
    with pytest.raises(TableError, match=r"or pass the table to rdplearn.detect or TableModel, which take texts"):
        rdplearn.RDPDetector().fit(frame)


def test_what_is_typical_is_said_as_people_would():
    n_rows = 400
    table = pa.table(
        {
            "state": ["CA"] * (n_rows - 1) + ["NV"],
            "rarely": ["yes", "no"] * 4 + [None] * (n_rows - 8),
            "street": [f"{i // 2} High Street" for i in range(n_rows)],
            "studio": ["Big\xa0Studio", "Small"] * (n_rows // 2),
            "opens": [f"{8 + i % 10:02d}:30" for i in range(n_rows)],
            "grade": [f"{'abcdefghijkl'[i % 12]}" for i in range(n_rows)],
            "title": ["of length " + "x" * (i % 10) + f" {i % 300:03d}" for i in range(n_rows)],
            "day": [f"1986{1 + i % 12:02d}{1 + i % 28:02d}" for i in range(n_rows)],
        }
    )
    kinds = {"street": "category", "grade": "text"}
    told = {row["column"]: row for row in TableEncoder(kinds=kinds).look(table)}
    assert told["state"]["typical"] == "CA (over 99%)"
    assert told["rarely"]["typical"] == "missing (98%), no (1%), yes (1%)"
    assert told["street"]["typical"] == "many different values"
    assert told["studio"]["typical"] == "Big Studio (50%), Small (50%)"
    assert told["opens"]["typical"] == "08:30 to 17:30"
    assert told["title"]["typical"] == "14 to 23 letters"
    assert told["grade"]["typical"] == "1 letter"
    assert told["day"]["note"].startswith("dates such as 1986")


def test_dates_are_held_against_others_as_they_were_read():
    days = [f"{1 + i % 12}/{1 + i % 28}/{10 + i % 10}" for i in range(200)]
    table = pa.table({"sold": days, "amount": [float(i % 17) for i in range(200)]})
    values = TableEncoder().fit(table).cell_values(table.to_batches()[0])
    assert values[0].tolist() == ["2010-01-01", 0.0]
    iso = pa.table({"sold": [f"20{10 + i % 10}-01-31T10:00" for i in range(200)], "amount": table["amount"]})
    assert TableEncoder().fit(iso).cell_values(iso.to_batches()[0])[0, 0] == "2010-01-31T10:00"


def test_what_nearly_always_differs_is_not_100_percent_of_it():
    names = [f"name {i:05d}" for i in range(3000)]
    names[7] = names[8]
    with pytest.warns(RDPWarning, match="nearly every value is different"):
        told = {row["column"]: row for row in TableEncoder().look(pa.table({"name": names, "n": [1, 2, 3] * 1000}))}
    assert told["name"]["note"] == "left out: nearly every value is different"


def test_codes_that_nearly_always_differ_are_not_100_percent_different():
    codes = [100_000 + 7 * i for i in range(3000)]
    codes[7] = codes[8]
    with pytest.warns(RDPWarning, match="a code, by its name, of which over 99% are different"):
        TableEncoder().look(pa.table({"zip": codes, "n": [1, 2, 3] * 1000}))


def test_markers_of_truth_values_are_missing_and_no_value():
    _, told = column_of(["yes", "no", "no", "unknown"] * 15)
    assert (told["kind"], told["missing"], told["distinct"]) == ("boolean", 15, 2)
    assert told["typical"] == "no (50%), missing (25%), yes (25%)"


def test_truth_values_of_frames_are_told_in_words():
    table = pa.table({"member": [True] * 3 + [False] * 56 + [None], "n": range(60)})
    encoder = TableEncoder().fit(table.set_column(1, "n", pa.array([float(i % 7) for i in range(60)])))
    values = encoder.cell_values(table.slice(0, 60).to_batches()[0])
    assert values[[0, 3, 59], 0].tolist() == ["true", "false", None]
    assert encoder.typical_values()[0].words() == "false (93%), true (5%), missing (2%)"


@pytest.mark.parametrize("kind", ["number", "date"])
@pytest.mark.parametrize("values", [["red", "blue"], ["page 7", "page 9"]])
def test_a_kind_that_no_cell_fits_is_refused_without_talk_of_other_options(kind, values):
    with pytest.raises(
        TableError, match=r"has text .*in 60 rows \(first: row 1, '\w+.*\)\. Pass --kind column=category\."
    ):
        column_of(values * 30, kinds={"column": kind})


def test_more_values_than_are_remembered_are_about_as_many_as_rows_if_all_differ():
    with pytest.warns(RDPWarning, match="every value is different"):
        (told,) = TableEncoder().look(pa.table({"key": [f"K{i}" for i in range(6000)]}))
    assert (told["distinct"], told["distinct_is_estimate"]) == (6000, True)
