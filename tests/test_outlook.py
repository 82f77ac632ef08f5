"""What the detector chooses by the width of a table."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.sparse as sp

from rdplearn import RDPDetector
from rdplearn.outlook import MOST_NARROW, NARROW, WIDE, choose_outlook, turns
from rdplearn.storage import load, save

LEFT_OPEN = {"n_members": None, "views": "auto", "mapping": "auto", "n_steps": None, "even_residuals": None}


def wide_table(n_rows=60, n_columns=MOST_NARROW + 1):
    table = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    table[7] += 3.0
    return table


def test_a_table_is_wide_from_one_column_more_than_500():
    assert choose_outlook(MOST_NARROW, **LEFT_OPEN) == NARROW
    assert choose_outlook(MOST_NARROW + 1, **LEFT_OPEN) == WIDE


@pytest.mark.parametrize(
    "given", [{"views": "rank", "n_members": 3}, {"mapping": ["few", "leaky"]}, {"n_steps": 9, "even_residuals": True}]
)
def test_what_the_user_says_stands_and_the_rest_is_chosen(given):
    kept = {name: tuple(turns(value)) if name in ("views", "mapping") else value for name, value in given.items()}
    for n_columns, chosen in ((4, NARROW), (MOST_NARROW + 1, WIDE)):
        settled = RDPDetector(**given).for_width(n_columns).get_params()
        assert {name: settled[name] for name in LEFT_OPEN} == asdict(replace(chosen, **kept))


def test_all_five_are_left_open_by_default():
    parameters = RDPDetector().get_params()
    assert {name: parameters[name] for name in LEFT_OPEN} == LEFT_OPEN


@pytest.mark.parametrize("n_columns", [6, MOST_NARROW + 1])
def test_what_is_left_open_gives_the_same_scores_as_what_is_settled(n_columns):
    table = wide_table(n_columns=n_columns)
    left_open = RDPDetector(random_state=0)
    settled = left_open.for_width(n_columns)
    assert settled.for_width(2 * MOST_NARROW).get_params() == settled.get_params()
    np.testing.assert_array_equal(left_open.fit(table).score_samples(table), settled.fit(table).score_samples(table))


def test_a_wide_table_is_seen_by_dense_mappings_alone_and_its_anomaly_is_found():
    table = wide_table()
    detector = RDPDetector(random_state=0).fit(table)
    assert sorted(len(panel.members) for panel in detector.panels_) == [4, 8, 8]
    assert int(np.argmin(detector.score_samples(table))) == 7


def test_a_wide_sparse_table_scores_as_the_dense_one():
    table = np.where(np.random.default_rng(1).random((80, MOST_NARROW + 20)) < 0.02, 1.0, 0.0)
    settings = {"n_components": 8, "n_steps": 20, "random_state": 0}
    dense, sparse = (RDPDetector(**settings).fit(rows).score_samples(rows) for rows in (table, sp.csr_array(table)))
    np.testing.assert_allclose(dense, sparse, rtol=1e-3)


def test_a_detector_of_a_wide_table_comes_back_from_its_file(tmp_path):
    table = wide_table()
    detector = RDPDetector(n_members=2, n_rounds=2, n_steps=20, random_state=0).fit(table)
    save(detector, tmp_path / "wide.rdp")
    again = load(tmp_path / "wide.rdp")
    assert (again.views, again.mapping) == ("auto", "auto")
    np.testing.assert_array_equal(again.score_samples(table), detector.score_samples(table))


def test_auto_is_no_view_or_mapping_to_take_turns_with():
    for given in ({"views": ["auto", "rank"]}, {"mapping": ["auto", "leaky"]}):
        with pytest.raises(ValueError, match="'auto': correct the name"):
            RDPDetector(**given).fit(np.eye(4))


def test_targets_of_a_number_of_their_own_need_as_many_components():
    with pytest.raises(ValueError, match="Got 8 and 64: make them equal"):
        RDPDetector(n_targets=8).fit(np.eye(4))


@pytest.mark.parametrize(
    ("given", "rate"),
    [({}, 2.0), ({"n_steps": 240}, 0.5), ({"n_components": 32}, 1.0), ({"learning_rate": 0.3}, 0.3)],
)
def test_all_steps_together_go_as_far_for_each_number_unless_a_rate_is_given(given, rate):
    assert RDPDetector(**given).for_width(5).learning_rate == pytest.approx(rate)
