"""Answers about tables in partitions: the rows that are proposed, and what is told about them, on real workers."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from rdplearn import RDPDetector, TableModel, review
from rdplearn._distributed import few_rows
from rdplearn.errors import TableError
from tests.distributed.conftest import SMALL
from tests.distributed.test_partitioned_tables import CUTS, in_parts


@pytest.fixture(scope="module")
def of_people(people) -> TableModel:
    return TableModel(RDPDetector(**SMALL)).fit(people)


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("strategy", ["top", "informative"])
def test_the_rows_that_are_proposed_are_those_of_one_machine(client, people, of_people, cuts, strategy):
    here, there, parts = review(of_people), review(of_people), in_parts(people, CUTS[cuts])
    for _ in range(3):
        places, asked = here.next(people, 4, strategy=strategy), there.next(parts, 4, strategy=strategy)
        pd.testing.assert_frame_equal(asked, people.iloc[places], check_dtype=False)  # Dask has its own texts
        here.tell(people.iloc[places], ["normal", "anomalous", "unsure", "normal"])
        there.tell(asked, ["normal", "anomalous", "unsure", "normal"])
    assert np.array_equal(there.score_samples(people), here.score_samples(people))


def test_few_rows_of_each_partition_are_enough(client, people, of_people, monkeypatch):
    monkeypatch.setattr(few_rows, "MOST_FROM_A_PARTITION", 2)
    model, parts = review(of_people), in_parts(people, CUTS["even"])
    order = np.argsort(model.score_samples(people), kind="stable")
    for place in order[:12]:  # more than one partition sends
        asked = model.next(parts)
        assert asked.index.tolist() == [people.index[place]]
        model.tell(asked, "unsure")
    assert len(model.next(parts, 8)) == 8


def test_answers_told_about_partitions_are_those_told_about_rows(client, people, of_people, tmp_path):
    here, there = review(of_people), review(of_people)
    some = people.iloc[[17, 40, 41, 880]]
    here.tell(some, ["anomalous", "normal", "normal", "unsure"], names=list("abcd"))
    there.tell(in_parts(some, [1, 1, 3]), answers=["anomalous", "normal", "normal", "unsure"], names=list("abcd"))
    assert there.estimator.answers()[1:] == here.estimator.answers()[1:]
    assert np.array_equal(there.score_samples(people), here.score_samples(people))
    some.iloc[:1].to_parquet(tmp_path / "0.parquet", index=False)
    assert len(there.take_back(tmp_path).estimator.answers_) == 3
    assert there.mute(in_parts(some, [2, 3]).partitions[1], name="no height").name == "no height"


@pytest.mark.parametrize("is_sparse", [False, True])
def test_arrays_are_answered_too(client, numbers, is_sparse):
    values = numbers.to_numpy()
    values = np.where(np.abs(values) > 1, values, 0.0)
    rows = sp.csr_array(values) if is_sparse else values
    parts = da.from_array(values, chunks=(300, 6))
    parts = parts.map_blocks(sp.csr_array, dtype=float) if is_sparse else parts
    reviewed = review(RDPDetector(**SMALL).fit(rows))
    places, asked = reviewed.next(rows, 3), reviewed.next(parts, n=3)
    assert sp.issparse(asked) == is_sparse
    assert np.array_equal(asked.toarray() if is_sparse else asked, values[places])
    reviewed.tell(asked, "normal")
    assert reviewed.next(parts)[0] is not None
    reviewed.tell(parts[:300], "unsure")
    assert len(reviewed.answers_) == 303


def test_wrong_requests_are_refused_before_any_work(people, numbers, of_people):
    model, parts = review(of_people), in_parts(people, [300])
    with pytest.raises(ValueError, match="'n' parameter of next must be a whole number, 1 or more"):
        model.next(parts, 0)
    with pytest.raises(ValueError, match="'strategy'"):
        model.next(parts, strategy="random")
    with pytest.raises(TableError, match="There are no rows in the table"):
        model.tell(in_parts(people.iloc[:0], [0]), "normal")
    with pytest.raises(TableError, match="was fitted on 6"):
        review(RDPDetector(**SMALL).fit(numbers)).next(in_parts(numbers[["a"]], [300]))
