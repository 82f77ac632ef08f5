"""Every nasty table ends in a correct result or in one line that says what to do."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rdplearn.errors import RDPWarning, TableError
from rdplearn.table import TableEncoder
from tests.table.nasty_tables import NASTY


def test_there_are_enough_of_them():
    assert len(NASTY) >= 40


@pytest.mark.parametrize("name", NASTY)
def test_a_nasty_table_ends_well(name: str, tmp_path: Path):
    make, outcome = NASTY[name]
    path = tmp_path / name
    make(path)
    encoder = TableEncoder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RDPWarning)  # what is warned of is tested elsewhere
        if isinstance(outcome, list):
            matrix = encoder.fit_transform(path)
            assert encoder.feature_names_ == outcome
            values = matrix.data if scipy.sparse.issparse(matrix) else matrix
            assert np.isfinite(values).all()
            assert matrix.dtype == np.float32
        else:
            with pytest.raises(TableError, match=outcome) as caught:
                encoder.fit_transform(path)
            assert "\n" not in str(caught.value)
            assert len(str(caught.value)) < 500


CELLS = st.sampled_from(
    rb"""1 2.5 NA x yes no 2024-01-31 01/02/2024 31/12/2023 10:00 12:61 " "a,b" 1e400 nan { {"a":1} =1+1 0012
    1,5 1.234,5 9999-12-31 0001-01-01 999999999999999999999999999999""".split()
) | st.sampled_from([b"", b"a b c d e", b"\x00", b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf"])
LINES = st.lists(st.lists(CELLS, min_size=1, max_size=3).map(b",".join), max_size=30).map(b"\n".join)


@given(content=LINES | st.binary(max_size=200))
@example(content=b"a\n0001-01-01\n9999-12-31\n")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_a_finite_matrix_or_one_line(content: bytes, tmp_path: Path):
    path = tmp_path / "any"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RDPWarning)
        try:
            matrix = TableEncoder(sparse=False).fit_transform(path)
        except TableError as fault:
            assert "\n" not in str(fault)  # noqa: PT017 - most bytes are no table
        else:
            assert np.isfinite(matrix).all()
