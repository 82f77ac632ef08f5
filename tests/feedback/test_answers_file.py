"""The answers file: what is written is read again, and what is wrong with it is said."""

from __future__ import annotations

import pyarrow as pa
import pytest

from rdplearn._feedback.answers_file import AnswerLine, AnswersFile, cell_texts, read_answers, same_cell
from rdplearn.errors import TableError
from rdplearn.report.listing import own_texts
from rdplearn.table import TableEncoder

HEAD = "row,answer,when,age,city\n"
GOOD = "18,anomalous,2026-11-18T03:51:07Z,250,Oslo\n"


def test_a_file_comes_back_as_it_was(tmp_path):
    lines = [
        AnswerLine(18, "anomalous", "2026-11-18T03:51:07Z", ("250", 'Rome, "old"\ntown')),
        AnswerLine(7, "unsure", "2026-11-18T03:51:09Z", ("", "=1+1")),
        AnswerLine(18, "normal", "2026-11-18T03:52:07Z", ("250", 'Rome, "old"\ntown')),
    ]
    AnswersFile(("age", "answer"), lines).write(tmp_path / "a.csv")
    file = read_answers(tmp_path / "a.csv")
    assert file.lines == lines
    assert [(line.row, line.answer) for line in file.latest()] == [(18, "normal"), (7, "unsure")]
    assert file.table().to_pydict() == {"age": ["250", None], "answer": ['Rome, "old"\ntown', "=1+1"]}


def test_spreadsheets_may_have_saved_it(tmp_path):
    (tmp_path / "a.csv").write_bytes(("\ufeff" + HEAD + GOOD).replace("\n", "\r\n").encode())
    assert read_answers(tmp_path / "a.csv").lines[0].cells == ("250", "Oslo")


def test_cells_of_all_kinds_become_texts():
    import datetime

    rows = pa.table({"d": [datetime.date(2024, 1, 2)], "b": [True], "l": [[1, 2]], "x": [0.1], "n": [None]})
    assert cell_texts(rows) == [("2024-01-02", "true", "[1, 2]", "0.1", "")]


def test_a_report_and_a_review_write_the_same_cells():
    """A file from the buttons of a report goes on in a review, and is read as the table was."""
    import datetime

    moments = [datetime.datetime(2024, 1, 2, 3, 4, 5) + n * datetime.timedelta(days=1, seconds=61) for n in range(40)]
    table = pa.table(
        {
            "at": moments,
            "zoned": [moment.replace(tzinfo=datetime.UTC) for moment in moments],
            "time": [moment.time() for moment in moments],
            "took": [datetime.timedelta(seconds=7 * n + 5) for n in range(40)],
            "price": [float(n % 7) for n in range(40)],
            "flag": [n % 2 == 0 for n in range(40)],
            "few": pa.array(["a", "b"] * 20).dictionary_encode(),
        }
    )
    row, encoder = table.slice(8, 1), TableEncoder().fit(table)
    (reviewed,), (reported,) = cell_texts(row), own_texts(row)
    assert all(same_cell(*cells) for cells in zip(reviewed, reported, strict=True))
    assert not same_cell("52", "52.5")
    for texts in (reviewed, reported):
        read = AnswersFile(tuple(table.column_names), [AnswerLine(1, "normal", "", tuple(texts))]).table()
        assert (encoder.transform(read) == encoder.transform(row)).all()


WRONG = {
    "empty": ("", "its first line must be row,answer,when"),
    "another table": ("age,city\n31,Oslo\n", "its first line must be row,answer,when"),
    "no columns": ("row,answer,when\n", "and the columns of the table"),
    "cut within a line": (HEAD + GOOD + "19,norm", r"Line 3 .* has 2 fields|does not end with"),
    "cut at a field": (
        HEAD + GOOD + "19,normal,2026-11-18T03:51:07Z,2\n",
        "Line 3 .* has 4 fields, and the first line has 5",
    ),
    "cut in the last cell": (HEAD + GOOD[:-2], "does not end with a line break"),
    "open quote": (HEAD + GOOD + '19,normal,2026-11-18T03:51:07Z,2,"Os\n', "is not CSV .*cut off, or edited"),
    "no row": (HEAD + GOOD.replace("18,", "A18,", 1), "must begin with the number of a row, from 1. Got 'A18'"),
    "row zero": (HEAD + GOOD.replace("18,", "0,", 1), "must begin with the number of a row, from 1. Got '0'"),
    "no answer": (HEAD + GOOD.replace("anomalous", "yes"), "must say anomalous, normal or unsure. Got 'yes'"),
    "no time": (HEAD + GOOD.replace("2026-11-18T03:51:07Z", "today"), "must say when, .*Got 'today'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_file_is_said(case, tmp_path):
    content, told = WRONG[case]
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(TableError, match=told):
        read_answers(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == content


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(TableError, match=r"There is no file '.*none.csv'. Pass one that review or a report wrote"):
        read_answers(tmp_path / "none.csv")
    with pytest.raises(TableError, match=r"is a folder\. Pass a file of answers"):
        read_answers(tmp_path)


def test_other_encodings_are_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(HEAD.encode() + "1,normal,2026-11-18T03:51:07Z,1,Århus\n".encode("latin-1"))
    with pytest.raises(TableError, match="it is not UTF-8"):
        read_answers(tmp_path / "a.csv")
