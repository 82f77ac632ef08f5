"""Types that every stage shares, and how long work is cut into blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Arrays = dict[str, npt.NDArray[Any]]
Matrix: TypeAlias = Any  # (n_rows, n_columns): a NumPy array of any numeric type, or a CSR array, which has no types
Rows: TypeAlias = Any  # the same in float32, as members see it

ROWS_AT_ONCE = 2**16


def row_blocks(n_rows: int, size: int = ROWS_AT_ONCE) -> Iterator[slice]:
    """Slices that go through `n_rows` rows, `size` at a time."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))
