"""Alarms with the same reason are one kind, told as a reader would say it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

from rdplearn import RDPDetector, TableModel
from rdplearn._explain.explanation import Explanation
from rdplearn._explain.kinds import NO_SINGLE_COLUMN
from rdplearn.table.typical import Typical
from tests.conftest import SMALL

FARE = Typical(low=5.0, high=80.0)


def one_column(values: list, typical: Typical) -> Explanation:
    """Rows whose only reason is this column, the first with the highest score."""
    cells = np.empty((len(values), 1), dtype=object)
    cells[:, 0] = values
    scores = np.arange(len(values), 0.0, -1.0)
    return Explanation(["fare"], scores[:, None].copy(), scores, 0.0, cells, [typical])


def told(explanation: Explanation) -> dict[str, list[int]]:
    return {kind.title: list(kind.rows) for kind in explanation.kinds()}


@pytest.mark.parametrize(
    ("values", "typical", "expected"),
    [
        ([0.0, 0.0, 0.0], FARE, {"fare = 0": [0, 1, 2]}),
        ([950.0, 120.5, 99.0], FARE, {"fare 99 or more": [0, 1, 2]}),
        ([1.0, 4.5], FARE, {"fare 4.5 or less": [0, 1]}),
        ([950.0], FARE, {"fare = 950": [0]}),
        ([0.0, 2.0, 0.0, 0.0], FARE, {"fare = 0": [0, 2, 3], "fare = 2": [1]}),
        ([999.0, 90.0, 999.0, 85.0], FARE, {"fare = 999": [0, 2], "fare 85 or more": [1, 3]}),
        ([90.0, 90.0, 999.0], FARE, {"fare 90 or more": [0, 1, 2]}),
        ([None, np.nan, 90.0], FARE, {"fare missing": [0, 1], "fare = 90": [2]}),
        (["ten", "nine"], FARE, {"fare is not a number": [0, 1]}),
        (["ten", "ten"], FARE, {"fare = ten, not a number": [0, 1]}),
        ([10.0, 20.0], FARE, {"fare unusual for such rows": [0, 1]}),
        ([10.0, 10.0], FARE, {"fare = 10, unusual for such rows": [0, 1]}),
        (["chq", "chq"], Typical(values=["cash"], shares=[0.9]), {"fare = chq": [0, 1]}),
        (["iou", "chq"], Typical(values=["cash"], shares=[0.9]), {"fare = iou or chq": [0, 1]}),
        (list("abcde"), Typical(values=["cash"], shares=[0.9]), {"unusual values of fare": [0, 1, 2, 3, 4]}),
        ([1.0, 1.0], Typical(values=["0", "1"], shares=[0.9, 0.1]), {"fare = 1, unusual for such rows": [0, 1]}),
        (["2077", "20771"], Typical(low="1990", high="2020"), {"fare 2077 or later": [0, 1]}),
        (
            ["1200-01-01", "1100-05-05"],
            Typical(low="2000-01-31", high="2020-01-01"),
            {"fare 1200-01-01 or earlier": [0, 1]},
        ),
        (["5/10/18 4:01"], Typical(low="2000-01-31", high="2020-01-01"), {"fare = 5/10/18 4:01": [0]}),
        (["some", "free", "text", "here"], Typical(), {"unusual values of fare": [0, 1, 2, 3]}),
        (["9"], Typical(low="4", high="31 letters"), {"fare = 9": [0]}),
    ],
)
def test_rows_with_the_same_reason_are_one_kind(values, typical, expected):
    assert told(one_column(values, typical)) == expected


def test_rows_that_answers_moved_are_one_kind_whatever_rows_were_answered():
    values = np.array([["18 anomalous"], ["18 anomalous; 7 normal"], ["7 normal"]], dtype=object)
    scores = np.array([3.0, 2.0, 1.0])
    moved = Explanation(["your answers"], scores[:, None], scores, 0.0, values, [Typical()])
    assert told(moved) == {"your answers": [0, 1, 2]}


def test_largest_kinds_come_first_and_show_their_highest_row():
    kinds = one_column([120.0, 0.0, 300.0, 0.0, 0.0], FARE).kinds()
    assert [(kind.title, kind.n_rows, kind.example) for kind in kinds] == [
        ("fare = 0", 3, 1),
        ("fare 120 or more", 2, 0),
    ]
    assert kinds[0].typical == "5 to 80"


def test_rows_that_no_column_explains_are_told_as_such():
    scores = np.array([2.0, 1.0])
    contributions = np.stack([np.full(10, 0.2), np.zeros(10)])
    explanation = Explanation([f"c{n}" for n in range(10)], contributions, scores, 0.0, np.ones((2, 10)), [FARE] * 10)
    (kind,) = explanation.kinds()
    assert (kind.title, kind.column, kind.rows) == (NO_SINGLE_COLUMN, None, (0, 1))


def test_columns_that_share_the_reason_are_told_by_the_one_that_leads_more_rows():
    contributions = np.array([[3.0, 2.9], [2.0, 1.9], [1.0, 1.1]])
    together = np.stack([np.arange(9.0), np.arange(9.0)], axis=1)
    values = np.array([[90.0, 91.0], [95.0, 96.0], [99.0, 98.0]])
    explanation = Explanation(
        ["fare", "total"], contributions, contributions.sum(axis=1), 0.0, values, [FARE, FARE], together
    )
    assert told(explanation) == {"fare 90 or more": [0, 1, 2]}


def test_of_columns_that_share_the_reason_the_one_counts_whose_value_is_odd():
    contributions = np.array([[3.0, 2.9], [0.1, 2.0], [0.1, 1.0]])
    together = np.stack([np.arange(9.0), np.arange(9.0)], axis=1)
    values = np.array([[-1200.0, 50.0], [40.0, 900.0], [40.0, 800.0]])
    explanation = Explanation(
        ["paid", "reserve"], contributions, contributions.sum(axis=1), 0.0, values, [FARE, FARE], together
    )
    assert explanation.columns_of(0)[0]["shared_with"] == ["reserve"]
    assert told(explanation) == {"reserve 800 or more": [1, 2], "paid = -1,200": [0]}


def test_columns_that_are_missing_together_are_one_reason():
    contributions = np.array([[0.1, 2.0, 2.1, 1.5], [0.1, 1.8, 1.9, 1.4], [1.0, 0.0, 0.0, 0.0]])
    values = np.array([[9.0, None, None, None], [8.0, None, None, None], [950.0, 1.0, 1.0, 1.0]], dtype=object)
    names = ["fare", "tip", "tolls", "total"]
    explanation = Explanation(names, contributions, contributions.sum(axis=1), 0.0, values, [FARE] * 4)
    assert told(explanation) == {"tolls, tip and total missing": [0, 1], "fare = 950": [2]}  # in the words of its rows
    assert explanation.in_short(0) == ["tolls, tip and total missing: 98%"]
    assert explanation.sentences(0)[0] == "the missing tolls, tip and total account for 98% of the score"
    assert explanation.kinds()[0].typical == ""
    assert explanation.columns_of(0)[0]["shared_with"] == ["tip", "total"]


def test_a_usual_value_in_the_wrong_row_is_said_to_be_one():
    short = [one_column([value], FARE).in_short(0)[0] for value in (30.0, 300.0)]
    assert short == ["fare 30 (typical 5 to 80; unusual for such rows): 100%", "fare 300 (typical 5 to 80): 100%"]


def test_after_the_first_reason_those_come_that_make_up_more():
    together = np.stack([np.arange(9.0), np.arange(9.0) % 2, np.arange(9.0) % 4 // 2, np.arange(9.0) % 2], axis=1)
    contributions, values = np.array([[5.0, 2.0, 3.0, 2.0]]), np.full((1, 4), 99.0)
    explanation = Explanation(list("abcd"), contributions, np.array([12.0]), 0.0, values, [FARE] * 4, together)
    assert [sentence.split(" (")[0] for sentence in explanation.in_short(0)] == ["a 99", "b 99", "c 99"]


def test_kinds_of_sparse_rows():
    contributions = sp.csr_array(np.array([[0.0, 2.0], [0.0, 1.0]]))
    values = sp.csr_array(np.array([[0.0, 7.0], [0.0, 7.0]]))
    typical = [Typical(low=0.0, high=0.0)] * 2
    assert told(Explanation(["a", "b"], contributions, np.array([2.0, 1.0]), 0.0, values, typical)) == {"b = 7": [0, 1]}


def test_kinds_as_plain_values_have_the_numbers_that_users_know():
    (kind,) = one_column([0.0, 0.0], FARE).kinds()
    expected = {"kind": "fare = 0", "column": "fare", "typical": "5 to 80", "n_rows": 2, "example": 18, "rows": [18, 4]}
    assert json.loads(json.dumps(kind.to_dict(np.array([18, 4])))) == expected


def test_impossible_cells_of_a_table_are_one_kind():
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    depth = rng.normal(4.0, 0.3, 400)
    depth[:6] = 0.0
    table = pa.table({"depth": depth, "width": rng.normal(size=400), "cut": rng.choice(["good", "ideal"], 400)})
    model = TableModel(RDPDetector(**SMALL)).fit(table)
    kinds = model.explain(table, rows=range(6)).kinds()
    assert kinds[0].title == "depth = 0"
    assert kinds[0].n_rows >= 5
