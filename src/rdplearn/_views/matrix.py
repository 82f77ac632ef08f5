"""Whatever the user calls a table, as a numeric matrix: checked, named in every complaint, and not copied without need.

NumPy arrays, SciPy sparse matrices, and pandas, polars and Arrow frames (through narwhals) come in; a NumPy array of
any numeric type or a CSR array goes out. Nothing is scaled here, so a table of ten million rows stays where it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from rdplearn._types import Matrix, row_blocks
from rdplearn.errors import TableError, warn_user


def read_matrix(estimator: BaseEstimator, X: Any, *, reset: bool, min_rows: int = 1) -> Matrix:
    """Check a table and return it as a matrix.

    Parameters
    ----------
    estimator : takes `n_features_in_` and `feature_names_in_` if `reset`, and is compared with them otherwise
    X : (n_rows, n_columns), array, sparse matrix or frame
    min_rows : smallest number of rows that make sense
    """
    values = frame_values(X) if is_frame(X) else text_checked(X)
    matrix = check_array(
        values,
        accept_sparse=["csr", "csc"],
        dtype="numeric",
        ensure_all_finite=False,
        ensure_min_samples=min_rows,
        estimator=estimator,
        input_name="X",
    )
    if sp.issparse(matrix):
        matrix = canonical_csr(matrix)
    validate_data(estimator, X if is_frame(X) else matrix, reset=reset, skip_check_array=True)
    check_finite(matrix, column_names(estimator))
    return matrix


def column_names(estimator: BaseEstimator) -> Sequence[str] | None:
    """The names seen at fit, if there were any."""
    return getattr(estimator, "feature_names_in_", None)


def is_frame(X: object) -> bool:
    """Tell a data frame (pandas, polars, Arrow) from an array."""
    return bool(nw.dependencies.is_into_dataframe(X))


def frame_values(X: Any) -> npt.NDArray[Any]:
    """The numbers of a frame; a column that is not numeric is an error that names it."""
    frame = nw.from_native(X, eager_only=True)
    if not frame.columns:
        raise TableError(f"The table has {len(frame)} row(s) and no columns. Pass at least one numeric column.")
    columns = [frame_column(frame[:, position]) for position in range(len(frame.columns))]
    if len({column.dtype for column in columns}) == 1 and columns[0].dtype.kind in "fiub":
        values = frame.to_numpy()
        if values.dtype == columns[0].dtype:
            return values
    return np.column_stack(columns)


def frame_column(column: nw.Series[Any]) -> npt.NDArray[Any]:
    """One column of a frame as numbers, missing values as NaN."""
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = column.to_numpy()
        return values if values.dtype.kind in "fiub" else np.asarray(column.cast(nw.Float64).to_numpy(), dtype=float)
    if dtype in (nw.String, nw.Object, nw.Categorical, nw.Enum):
        return numbers_from_text(np.asarray(column.to_numpy(), dtype=object), f"Column {column.name!r}")
    raise TableError(
        f"Column {column.name!r} holds {dtype}, not numbers. Turn it into numbers, or leave it out, or pass the table "
        "to rdplearn.detect or TableModel, which take texts and dates."
    )


def text_checked(X: Any) -> Any:
    """An array of objects as numbers, with a complaint that names the column; anything else as it is."""
    if sp.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind not in "OUST"):
        return X
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.VisibleDeprecationWarning)
        try:
            array = np.asarray(X)
        except ValueError:
            return X  # ragged: scikit-learn words it well
    if array.dtype.kind not in "OUST" or array.ndim != 2:
        return X
    if array.dtype.kind == "O" and any(isinstance(value, dict | list | complex) for value in array.ravel()):
        return X
    return np.column_stack([numbers_from_text(array[:, c], f"Column {c}") for c in range(array.shape[1])])


def numbers_from_text(values: npt.NDArray[Any], name: str) -> npt.NDArray[np.float64]:
    """Numbers from a column of objects, `None` as NaN; text that is not a number is an error."""
    try:
        return values.astype(np.float64)
    except (ValueError, TypeError):
        wrong = [row for row, value in enumerate(values) if not is_number(value)]
    numbers = np.array([np.nan if value is None else value for value in values], dtype=object)
    if not wrong:
        return numbers.astype(np.float64)
    raise TableError(
        f"{name} has text in {len(wrong)} row(s) (first: row {wrong[0]}, {str(values[wrong[0]])!r}). "
        "Turn it into numbers, or leave it out, or pass the table to rdplearn.detect or TableModel, which take texts."
    )


def is_number(value: object) -> bool:
    if value is None:
        return True
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def canonical_csr(matrix: Any) -> sp.csr_array:
    """CSR with sorted indices and no duplicates; the caller's own matrix is left as it is."""
    csr = sp.csr_array(matrix)
    if not csr.has_canonical_format:
        csr = csr.copy() if np.shares_memory(csr.data, matrix.data) else csr
        csr.sum_duplicates()
    return csr


def is_constant(matrix: Matrix) -> bool:
    """Whether all rows are equal."""
    if sp.issparse(matrix):
        return bool(np.all(matrix.min(axis=0).toarray() == matrix.max(axis=0).toarray()))
    first = matrix[0]
    return all(np.all(matrix[block] == first) for block in row_blocks(len(matrix)))


def warn_if_constant(matrix: Matrix) -> None:
    """Warn of a table in which no row differs from another."""
    if is_constant(matrix):
        warn_of_constant(matrix.shape[1])


def warn_of_constant(n_columns: int) -> None:
    """Say that no row differs from another."""
    warn_user(f"All {n_columns} column(s) of the table are constant: every row gets the same score.")


def check_finite(matrix: Matrix, names: Sequence[str] | None) -> None:
    """Raise an error for NaN or infinity that says which column, how many rows, and the first of them."""
    if matrix.dtype.kind != "f":
        return
    values = matrix.data[:, None] if sp.issparse(matrix) else matrix
    if all(np.isfinite(values[block]).all() for block in row_blocks(len(values))):
        return
    matrix = matrix.tocoo() if sp.issparse(matrix) else matrix
    if sp.issparse(matrix):
        wrong = ~np.isfinite(matrix.data)
        rows, columns = matrix.row[wrong], matrix.col[wrong]
    else:
        rows, columns = np.nonzero(~np.isfinite(matrix))
    column = int(columns[np.argmin(rows)])
    rows_here = np.sort(rows[columns == column])
    others = len(np.unique(columns)) - 1
    name = f"column {column}" if names is None else f"column {names[column]!r}"
    raise TableError(
        f"Input X contains NaN or infinity: {name} in {len(rows_here)} row(s) (first: row {rows_here[0]})"
        f"{f' and {others} other column(s)' if others else ''}. Fill or drop these values first, for example with "
        "sklearn.impute.SimpleImputer."
    )
