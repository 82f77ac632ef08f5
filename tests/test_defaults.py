"""What the detector chooses by the shape of a table."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from rdplearn import KeepRounds, RandomMapping, RDPDetector
from rdplearn._storage.models import load, save
from rdplearn.defaults import in_turn, patience_for, repeated_part, turns, usual_for_shape, width_of

LEFT_OPEN = {**dict.fromkeys(asdict(usual_for_shape(60, 6))), "views": "auto", "mapping": "auto"}
del LEFT_OPEN["distance_members"]  # which no parameter says
SHAPES = {"narrow": (60, 6), "tall": (20_000, 8), "wide": (60, 700)}
ROUNDS, MEMBERS_CHANGED = 1, 1  # what one more row or column may change at most


def wide_table(n_rows=60, n_columns=700):
    table = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    table[7] += 3.0
    return table


def changed(one, other):
    """How many members see or predict something else."""
    n_members = max(one.n_members, other.n_members)
    kinds = [list(zip(in_turn(c.views, n_members), in_turn(c.mapping, n_members), strict=True)) for c in (one, other)]
    return sum(mine != theirs for mine, theirs in zip(*kinds, strict=True))


@given(st.integers(2, 10**7), st.integers(1, 20_000), st.sampled_from([(1, 0), (0, 1)]))
@example(10_000, 20, (1, 0))
@example(15_000, 7, (0, 1))
@example(100, 500, (0, 1))
def test_one_more_row_or_column_changes_hardly_anything(n_rows, n_columns, more):
    before, after = usual_for_shape(n_rows, n_columns), usual_for_shape(n_rows + more[0], n_columns + more[1])
    few = 0.3 if n_columns < 10 else 0.05  # a column more is much where there are five
    assert after.n_steps == pytest.approx(before.n_steps, rel=few, abs=1)
    assert after.n_components == pytest.approx(before.n_components, rel=few, abs=1)
    assert after.learning_rate == pytest.approx(before.learning_rate, rel=few)
    assert after.even_residuals == pytest.approx(before.even_residuals, abs=few)
    assert after.max_samples == pytest.approx(before.max_samples, rel=few)
    assert abs(after.n_members - before.n_members) <= MEMBERS_CHANGED
    assert abs(after.score_rounds - before.score_rounds) <= ROUNDS
    assert changed(before, after) <= MEMBERS_CHANGED


@pytest.mark.parametrize("kind", ["rows", "columns"])
def test_more_of_a_table_never_asks_for_less_training(kind):
    sizes = (3, 10, 100, 1_000, 10_000, 100_000)
    shapes = [(n, 20) if kind == "rows" else (500, n) for n in sizes]
    steps = [usual_for_shape(*shape).n_steps for shape in shapes]
    rows_seen = [usual_for_shape(*shape).n_steps * usual_for_shape(*shape).batch_size for shape in shapes]
    assert rows_seen == sorted(rows_seen)
    most = 240 if kind == "rows" else 120  # wide tables have larger batches and steps
    assert (steps[0], steps[-1]) == (pytest.approx(60, abs=1), pytest.approx(most, abs=1))


def test_shares_stay_between_0_and_1():
    for shape in ((0, 1), (2, 1), (10**9, 10**6)):
        assert 0.0 <= patience_for(*shape) <= 1.0
        assert 0.0 <= width_of(shape[1]) <= 1.0


def test_views_depend_on_columns_alone_because_files_of_format_1_do_not_say_how_many_rows_there_were():
    assert usual_for_shape(2, 30).views == usual_for_shape(10**6, 30).views


def test_the_part_that_repeats_makes_the_whole():
    assert repeated_part(["a", "b", "a"]) == ("a", "b")
    assert repeated_part(["a", "b", "b"]) == ("a", "b", "b")


def correlated(rng, n_rows, n_columns):
    """Rows near a plane of four dimensions; the first twenty leave it, and no cell of theirs is odd."""
    table = rng.normal(size=(n_rows, 4)) @ rng.normal(size=(4, n_columns)) + 0.3 * rng.normal(size=(n_rows, n_columns))
    table[:20] = rng.permuted(table[:20], axis=1)
    return table


@pytest.mark.parametrize(
    "shapes", [((9_990, 8), (10_010, 8)), ((400, 490), (400, 510))], ids=["at 10,000 rows", "at 500 columns"]
)
def test_ranks_do_not_jump_where_kinds_of_tables_once_met(shapes):
    """A few rows or columns more move the ranks of scores no more than another seed does."""
    largest = correlated(np.random.default_rng(0), *np.max(shapes, axis=0))
    few_rows = largest[: min(shapes[0][0], 2_000)]

    def ranks(shape, seed):
        detector = RDPDetector(random_state=seed).fit(largest[: shape[0], : shape[1]])
        return np.argsort(np.argsort(detector.score_samples(few_rows[:, : shape[1]])))

    before, another_seed, after = ranks(shapes[0], 0), ranks(shapes[0], 1), ranks(shapes[1], 1)
    across, within = (np.corrcoef(before, other)[0, 1] for other in (after, another_seed))
    assert across > within - 0.05


@pytest.mark.parametrize("added", ["constant", "noise"])
def test_twenty_columns_more_that_say_nothing_hide_nothing(added):
    rng = np.random.default_rng(0)
    table = correlated(rng, 1_500, 30)
    more = np.ones((1_500, 20)) if added == "constant" else rng.normal(size=(1_500, 20))
    both = np.hstack([table, more])
    labels = np.arange(1_500) < 20
    aucs = [roc_auc_score(labels, -RDPDetector(random_state=0).fit(t).score_samples(t)) for t in (table, both)]
    assert min(aucs) > 0.9
    assert aucs[1] > aucs[0] - 0.05


@pytest.mark.parametrize(
    "given",
    [
        {"views": "rank", "n_members": 3},
        {"mapping": ["few", "leaky"], "max_samples": 0.5},
        {"batch_size": 9, "even_residuals": True, "score_rounds": 1, "learning_rate": 0.1},
    ],
)
@pytest.mark.parametrize("kind", SHAPES)
def test_what_the_user_says_stands_and_the_rest_is_chosen(given, kind):
    kept = {name: tuple(turns(value)) if name in ("views", "mapping") else value for name, value in given.items()}
    settled = RDPDetector(**given).for_shape(*SHAPES[kind]).get_params()
    wanted = asdict(replace(usual_for_shape(*SHAPES[kind]), **kept))
    assert {name: settled[name] for name in LEFT_OPEN} == {name: wanted[name] for name in LEFT_OPEN}


def test_all_that_follows_from_the_shape_is_left_open_by_default():
    parameters = RDPDetector().get_params()
    assert {name: parameters[name] for name in LEFT_OPEN} == LEFT_OPEN


@pytest.mark.parametrize("kind", SHAPES)
def test_what_is_left_open_gives_the_same_scores_as_what_is_settled(kind):
    table = wide_table(*SHAPES[kind])
    left_open = RDPDetector(random_state=0)
    settled = left_open.for_shape(*table.shape)
    assert settled.for_shape(10, 1_000).get_params() == settled.get_params()
    np.testing.assert_array_equal(left_open.fit(table).score_samples(table), settled.fit(table).score_samples(table))


def test_a_wide_table_is_seen_by_dense_mappings_alone_and_its_anomaly_is_found():
    table = wide_table()
    detector = RDPDetector(random_state=0).fit(table)
    assert set(detector.chosen_.mapping) == {"orthogonal"}
    assert {"minmax", "robust"} <= set(detector.chosen_.views)
    assert int(np.argmin(detector.score_samples(table))) == 7


def test_a_wide_sparse_table_scores_as_the_dense_one():
    table = np.where(np.random.default_rng(1).random((80, 520)) < 0.02, 1.0, 0.0)
    settings = {"n_components": 8, "n_steps": 20, "learning_rate": 0.75, "random_state": 0}
    dense, sparse = (RDPDetector(**settings).fit(rows).score_samples(rows) for rows in (table, sp.csr_array(table)))
    np.testing.assert_allclose(dense, sparse, rtol=1e-3, atol=1e-9)


def test_a_detector_of_a_wide_table_comes_back_from_its_file(tmp_path):
    table = wide_table()
    detector = RDPDetector(n_members=2, n_rounds=2, n_steps=20, random_state=0).fit(table)
    save(detector, tmp_path / "wide.rdp")
    again = load(tmp_path / "wide.rdp")
    assert (again.views, again.mapping) == ("auto", "auto")
    np.testing.assert_array_equal(again.score_samples(table), detector.score_samples(table))


@pytest.mark.parametrize("callbacks", [None, [KeepRounds()]])
def test_a_detector_of_a_tall_table_comes_back_from_its_file(tmp_path, callbacks):
    table = wide_table(*SHAPES["tall"])
    detector = RDPDetector(n_steps=20, callbacks=callbacks, n_rounds=5, random_state=0).fit(table)
    assert (detector.panels_[0].n_rounds, detector.n_scoring_rounds_) == (5 if callbacks else 2, 2)
    save(detector, tmp_path / "tall.rdp")
    again = load(tmp_path / "tall.rdp")
    assert again.get_params() == detector.set_params(callbacks=None).get_params()
    assert again.chosen_ == detector.chosen_
    np.testing.assert_array_equal(again.score_samples(table[:99]), detector.score_samples(table[:99]))
    assert again.assess(table[:99]) == detector.assess(table[:99])


def test_auto_is_no_view_or_mapping_to_take_turns_with():
    with pytest.raises(ValueError, match="'auto': correct the name"):
        RDPDetector(views=["auto", "rank"]).fit(np.eye(4))
    with pytest.raises(ValueError, match=r"'mapping' parameter of RDPDetector must be one of .* Got 'auto' instead"):
        RDPDetector(mapping=["auto", "leaky"]).fit(np.eye(4))


def test_targets_of_a_number_of_their_own_need_as_many_components():
    with pytest.raises(ValueError, match="Got 8 and 32: pass n_components=8"):
        RDPDetector(mapping=RandomMapping(n_targets=8), n_components=32).fit(np.eye(4))


@pytest.mark.parametrize(
    ("given", "rate"),
    [({}, 2.0), ({"n_steps": 240}, 0.5), ({"n_components": 32}, 1.0), ({"learning_rate": 0.3}, 0.3)],
)
def test_all_steps_together_go_as_far_for_each_number_unless_a_rate_is_given(given, rate):
    assert RDPDetector(**given).for_shape(99, 5).learning_rate == pytest.approx(rate, rel=0.01)
