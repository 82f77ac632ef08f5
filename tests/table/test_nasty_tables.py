"""Every nasty table ends in a correct result or in one line that says what to do."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from nasty_tables import NASTY

from rdplearn.errors import RDPWarning, TableError
from rdplearn.table import TableEncoder


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
