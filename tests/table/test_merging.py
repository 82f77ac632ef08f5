"""A table gives the same encoding however it is cut into batches, partitions and samples."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdplearn.errors import TableError
from rdplearn.table import RowSampler, TableEncoder, sample_rows, summarise
from rdplearn.table.cells import TextRules
from rdplearn.table.hashing import hash_numbers
from rdplearn.table.sketches import DistinctSample, Spread
from rdplearn.table.summary import ColumnSummary

WORDS = st.sampled_from(["", "NA", "1", "2.5", "-7", "1e9", "inf", "yes", "no", "x", "01/02/2024", "31/01/2024 10:00"])
CUTS = st.lists(st.integers(1, 7), min_size=1, max_size=5)


def cut(table: pa.Table, sizes: list[int]) -> list[pa.RecordBatch]:
    whole = table.combine_chunks().to_batches()[0]
    parts, start = [], 0
    while start < whole.num_rows:
        size = sizes[len(parts) % len(sizes)]
        parts.append(whole.slice(start, size))
        start += size
    return parts


def plain(value: object) -> object:
    """A summary as comparable values."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return {key: plain(item) for key, item in vars(value).items()} if hasattr(value, "__dict__") else value


@given(texts=st.lists(WORDS, min_size=1, max_size=40), sizes=CUTS)
@settings(max_examples=25, deadline=None)
def test_a_summary_does_not_depend_on_the_batches(texts, sizes):
    numbers = [float(i % 5) if text else None for i, text in enumerate(texts)]
    table = pa.table({"text": pa.array(texts, pa.string()), "number": pa.array(numbers, pa.float64())})
    whole = summarise(table.combine_chunks().to_batches())
    in_batches = summarise(cut(table, sizes))
    merged = summarise([])
    for part in cut(table, sizes):
        merged = merged.merge(summarise([part]))
    assert plain(in_batches) == plain(whole)
    assert plain(merged) == plain(whole)


def test_merging_is_exact_beyond_the_capacity_of_a_sketch():
    rng = np.random.default_rng(0)
    values = np.where(rng.random(5000) < 0.5, 0.0, rng.normal(size=5000).round(2) * 1000)
    column = pa.array(values)
    whole = ColumnSummary("x", 256)
    whole.add(column, TextRules(), "")
    merged = ColumnSummary("x", 256)
    for start in range(0, 5000, 700):
        part = ColumnSummary("x", 256)
        part.add(column[start : start + 700], TextRules(), "")
        merged.merge(part, "")
    assert whole.numbers.sample.overflowed
    assert plain(merged) == plain(whole)


def test_kept_values_are_counted_exactly_and_the_number_of_others_is_estimated():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 20_000, 100_000).astype(float)
    sample = DistinctSample(1024, values=np.empty(0))
    for part in np.array_split(values, 13):
        sample.add(part, hash_numbers(part), np.ones(len(part), dtype=np.int64))
    exact = dict(zip(*np.unique(values, return_counts=True), strict=True))
    assert len(sample.values) == 1024
    assert all(exact[value] == count for value, count in zip(sample.values, sample.counts, strict=True))
    assert sample.n_distinct == pytest.approx(len(exact), rel=0.15)  # five standard errors of 1/sqrt(1024)


def test_quantiles_of_many_numbers_are_close():
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.lognormal(2, 2, 30_000), -rng.lognormal(1, 1, 10_000), np.zeros(9_999)])
    spread = Spread(1024)
    spread.add(values, np.ones(len(values), dtype=np.int64))
    for share in (0.05, 0.5, 0.95):
        assert spread.quantile(share) == pytest.approx(np.quantile(values, share), rel=0.03)  # bins of 2 %


def test_quantiles_far_from_zero_are_found_inside_of_a_bin():
    values = 1.7e9 + np.random.default_rng(2).lognormal(2, 2, 30_000)
    spread = Spread(1024)
    spread.add(values, np.ones(len(values), dtype=np.int64))
    for share in (0.05, 0.5, 0.95):
        assert (values <= spread.quantile(share)).mean() == pytest.approx(share, abs=0.06)  # 4 / sqrt(1024) / 2


def test_quantiles_of_few_numbers_are_exact():
    spread = Spread(256)
    spread.add(np.array([0.0, 1.0, 2.0, 100.0]), np.array([60, 20, 10, 10]))
    assert [spread.quantile(share) for share in (0.5, 0.7, 0.95)] == [0.0, 1.0, 100.0]


def test_an_encoder_fitted_on_merged_parts_is_the_same():
    rng = np.random.default_rng(3)
    n = 6000
    table = pa.table(
        {
            "amount": rng.lognormal(size=n),
            "city": rng.choice([f"city {i}" for i in range(300)], n),
            "only_in_one_part": [None] * (n - 1) + ["here"],
            "when": np.datetime64("2024-01-01T00:00:00") + rng.integers(0, 10**7, n).astype("timedelta64[s]"),
            "words": [f"order {i} of customer {i % 977} went astray" for i in range(n)],
        }
    )
    whole = TableEncoder().fit(table)
    encoder = TableEncoder()
    parts = [encoder.summarise(table.slice(start, 1100)) for start in range(0, n, 1100)]
    parts = [pickle.loads(pickle.dumps(part)) for part in parts]
    parts.insert(2, encoder.summarise(table.slice(0, 0)))
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    encoder.fit_summary(merged)
    assert json.dumps(encoder.to_dict()) == json.dumps(whole.to_dict())
    np.testing.assert_array_equal(encoder.transform(table), whole.transform(table))


def test_parts_with_other_columns_or_types_do_not_merge():
    numbers, words = pa.table({"a": [1.0]}), pa.table({"a": ["x"]})
    first = TableEncoder().summarise(numbers)
    with pytest.raises(TableError, match="Column 'a' of the table arrives as number up to row 1 and as text after it"):
        first.merge(TableEncoder().summarise(words))
    with pytest.raises(TableError, match="Column 'a' is in some parts of the table and not in others"):
        first.merge(TableEncoder().summarise(pa.table({"b": [1.0]})))


def test_the_row_of_a_fault_is_counted_over_parts():
    good, bad = pa.table({"a": ["1"] * 50}), pa.table({"a": ["2"] * 30 + ["?"] + ["3"] * 50})
    encoder = TableEncoder(strict=True)
    summary = encoder.summarise(good).merge(encoder.summarise(bad))
    with pytest.raises(TableError, match=r"has text in 1 row \(first: row 81, '\?'\). Pass --missing '\?'"):
        encoder.fit_summary(summary)


@given(sizes=st.lists(st.integers(1, 400), min_size=1, max_size=6), n_rows=st.integers(1, 60), seed=st.integers())
@settings(max_examples=20, deadline=None)
def test_a_sample_does_not_depend_on_the_batches(sizes, n_rows, seed):
    table = pa.table({"row": np.arange(1000)})
    whole = sample_rows(table.to_batches(), n_rows, seed=seed)
    in_batches = sample_rows(cut(table, sizes), n_rows, seed=seed)
    assert whole.places.tolist() == in_batches.places.tolist() == in_batches.rows["row"].to_pylist()
    assert len(whole.places) == n_rows


def test_every_row_has_the_same_chance():
    batches = pa.table({"row": np.arange(50)}).to_batches()
    drawn = np.zeros(50)
    for seed in range(1000):
        drawn[sample_rows(batches, 5, seed=seed).places] += 1
    # Each count is binomial(1000, 0.1): mean 100, standard deviation 9.5.
    assert abs(drawn - 100).max() < 5 * 9.5
    assert drawn.std() == pytest.approx(9.5, rel=0.4)


def test_other_seeds_draw_other_rows():
    batches = pa.table({"row": np.arange(5000)}).to_batches()
    first, second = (set(sample_rows(batches, 100, seed=seed).places.tolist()) for seed in (0, 1))
    assert len(first & second) < 20


def test_a_sampler_keeps_few_rows():
    sampler = RowSampler(100, seed=0)
    for start in range(0, 100_000, 1000):
        sampler.add(pa.record_batch({"row": np.arange(start, start + 1000)}))
        assert sum(len(keys) for keys in sampler._keys) <= 200
    with pytest.raises(TableError, match="no rows to sample"):
        RowSampler(3, seed=0).sample()
    with pytest.raises(TableError, match="must be at least 1"):
        RowSampler(0, seed=0)
