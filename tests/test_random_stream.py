"""Numbers that depend only on key and position."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rdplearn._training import random_stream


def test_scramble_is_a_bijection_on_every_low_word():
    words = np.arange(2**16, dtype=np.uint32)
    assert len(np.unique(random_stream.scramble(words))) == len(words)


def test_words_are_uniform():
    words = random_stream.words(np.uint32(12345), 100_000) / 2.0**32
    counts, _ = np.histogram(words, bins=20, range=(0, 1))
    chi_squared = np.sum((counts - 5000) ** 2 / 5000)
    assert chi_squared < 45  # 19 degrees of freedom: exceeded once in a thousand


def test_streams_of_neighbouring_steps_are_unrelated():
    keys = random_stream.step_keys(7, 0, 2, random_stream.ROWS)
    first, second = (random_stream.words(key, 10_000) / 2.0**32 for key in keys)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.04
    assert abs(np.corrcoef(first[1:], second[:-1])[0, 1]) < 0.04


@given(st.integers(0, 2**63 - 1), st.integers(0, 10_000), st.integers(1, 50), st.integers(1, 50))
def test_keys_do_not_depend_on_how_the_steps_are_cut(seed, first_step, n_before, n_after):
    whole = random_stream.all_step_keys([seed, 7], first_step, n_before + n_after)
    parts = [
        random_stream.all_step_keys([seed, 7], first_step, n_before),
        random_stream.all_step_keys([seed, 7], first_step + n_before, n_after),
    ]
    assert np.array_equal(whole, np.concatenate(parts))


@given(st.integers(0, 2**32 - 1), st.integers(1, 10**7))
def test_below_stays_below(word, bound):
    assert 0 <= random_stream.below(np.array([word], dtype=np.uint32), bound)[0] < bound


def test_every_row_is_drawn_equally_often():
    draws = random_stream.below(random_stream.words(np.uint32(3), 70_000), 7)
    assert np.all(np.abs(np.bincount(draws, minlength=7) - 10_000) < 400)


def test_purposes_and_seeds_have_streams_of_their_own():
    keys = {
        int(random_stream.step_keys(seed, 0, 1, purpose)[0])
        for seed in (0, 1, 2**32, 2**40)
        for purpose in (random_stream.ROWS, random_stream.PARTNER, random_stream.DROPOUT)
    }
    assert len(keys) == 12
