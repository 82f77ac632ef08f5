"""What the detector chooses by the shape of a table."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.sparse as sp

from rdplearn import KeepRounds, RandomMapping, RDPDetector
from rdplearn._storage.models import load, save
from rdplearn.defaults import MOST_FLAT, MOST_LOW, MOST_NARROW, NARROW, TALL, WIDE, turns, usual_for_shape

LEFT_OPEN = {**dict.fromkeys(asdict(NARROW)), "views": "auto", "mapping": "auto"}
del LEFT_OPEN["distance_members"]  # which no parameter says
SHAPES = {"narrow": (60, 6), "tall": (MOST_LOW + 1, MOST_FLAT + 1), "wide": (60, MOST_NARROW + 1)}
CHOICES = {"narrow": NARROW, "tall": TALL, "wide": WIDE}


def wide_table(n_rows=60, n_columns=MOST_NARROW + 1):
    table = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    table[7] += 3.0
    return table


def test_a_table_is_wide_from_one_column_more_than_500():
    assert usual_for_shape(10, MOST_NARROW) == NARROW
    assert usual_for_shape(10, MOST_NARROW + 1) == WIDE
    assert usual_for_shape(MOST_LOW + 1, MOST_NARROW + 1) == WIDE


def test_a_table_is_tall_from_one_row_more_than_10_000_and_one_column_more_than_7():
    assert usual_for_shape(MOST_LOW, 20) == usual_for_shape(MOST_LOW + 1, MOST_FLAT) == NARROW
    assert usual_for_shape(MOST_LOW + 1, MOST_FLAT + 1) == usual_for_shape(MOST_LOW + 1, MOST_NARROW) == TALL


def test_views_depend_on_columns_alone_because_files_of_format_1_do_not_say_how_many_rows_there_were():
    assert TALL.views == NARROW.views


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
    wanted = asdict(replace(CHOICES[kind], **kept))
    assert {name: settled[name] for name in LEFT_OPEN} == {name: wanted[name] for name in LEFT_OPEN}


def test_all_that_follows_from_the_shape_is_left_open_by_default():
    parameters = RDPDetector().get_params()
    assert {name: parameters[name] for name in LEFT_OPEN} == LEFT_OPEN


@pytest.mark.parametrize("kind", SHAPES)
def test_what_is_left_open_gives_the_same_scores_as_what_is_settled(kind):
    table = wide_table(*SHAPES[kind])
    left_open = RDPDetector(random_state=0)
    settled = left_open.for_shape(*table.shape)
    assert settled.for_shape(10, 2 * MOST_NARROW).get_params() == settled.get_params()
    np.testing.assert_array_equal(left_open.fit(table).score_samples(table), settled.fit(table).score_samples(table))


def test_a_wide_table_is_seen_by_dense_mappings_alone_and_its_anomaly_is_found():
    table = wide_table()
    detector = RDPDetector(random_state=0).fit(table)
    assert sorted(len(panel.members) for panel in detector.panels_ if panel.references is None) == [3, 3]
    assert int(np.argmin(detector.score_samples(table))) == 7


def test_a_wide_sparse_table_scores_as_the_dense_one():
    table = np.where(np.random.default_rng(1).random((80, MOST_NARROW + 20)) < 0.02, 1.0, 0.0)
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
    assert (detector.panels_[0].n_rounds, detector.n_scoring_rounds_) == (5 if callbacks else 4, 4)
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
    with pytest.raises(ValueError, match="Got 8 and 64: make them equal"):
        RDPDetector(mapping=RandomMapping(n_targets=8)).fit(np.eye(4))


@pytest.mark.parametrize(
    ("given", "rate"),
    [({}, 2.0), ({"n_steps": 240}, 0.5), ({"n_components": 32}, 1.0), ({"learning_rate": 0.3}, 0.3)],
)
def test_all_steps_together_go_as_far_for_each_number_unless_a_rate_is_given(given, rate):
    assert RDPDetector(**given).for_shape(99, 5).learning_rate == pytest.approx(rate)
