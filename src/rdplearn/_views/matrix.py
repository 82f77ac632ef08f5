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
from rdplearn._views.curves import NARROWEST
from rdplearn.errors import TableError, warn_user

LARGEST_WHOLE = 2**53  # up to here double precision holds every whole number
ROWS_LOOKED_AT = 1_000


def read_matrix(estimator: BaseEstimator, X: Any, *, reset: bool, min_rows: int = 1) -> Matrix:
    """Check a table and return it as a matrix.

    Parameters
    ----------
    estimator : takes `n_features_in_` and `feature_names_in_` if `reset`, and is compared with them otherwise
    X : (n_rows, n_columns), array, sparse matrix or frame
    min_rows : smallest number of rows that make sense
    """
    check_sparse_format(X)
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
    names = column_names(estimator)
    check_finite(matrix, names)
    if not is_frame(X):
        warn_of_rounding(matrix, names)
    if reset:
        warn_of_tiny(matrix, names)
    return matrix


def column_names(estimator: BaseEstimator) -> Sequence[str] | None:
    """The names seen at fit, if there were any."""
    return getattr(estimator, "feature_names_in_", None)


def is_frame(X: object) -> bool:
    """Tell a data frame (pandas, polars, Arrow) from an array."""
    return bool(nw.dependencies.is_into_dataframe(X))


def frame_values(X: Any) -> Matrix:
    """The numbers of a frame; a column that is not numeric is an error that names it."""
    frame = nw.from_native(X, eager_only=True)
    if not frame.columns:
        raise TableError(f"The table has {len(frame)} row(s) and no columns. Pass at least one numeric column.")
    if type(X).__module__.split(".")[0] == "pandas" and any(is_sparse(dtype) for dtype in X.dtypes):
        return pandas_sparse(X)
    columns = [frame_column(frame[:, position]) for position in range(len(frame.columns))]
    for name, column in zip(frame.columns, columns, strict=True):
        warn_of_rounding(column[:, None], [name])
    if len({column.dtype for column in columns}) == 1 and columns[0].dtype.kind in "fiub":
        values = frame.to_numpy()
        if values.dtype == columns[0].dtype:
            return values
    return np.column_stack(columns)


def is_sparse(dtype: Any) -> bool:
    """Whether a pandas column of this type stores only what differs from its fill value."""
    return type(dtype).__name__ == "SparseDtype"


def pandas_sparse(X: Any) -> Matrix:
    """The numbers of a pandas frame with Sparse columns: CSR if all are, and zero is what they leave out."""
    if all(is_sparse(dtype) and dtype.fill_value == 0 and dtype.subtype.kind in "fiub" for dtype in X.dtypes):
        return sp.csr_array(X.sparse.to_coo())
    dense = {place: X.iloc[:, place].sparse.to_dense() for place, dtype in enumerate(X.dtypes) if is_sparse(dtype)}
    columns = [dense.get(place, X.iloc[:, place]) for place in range(X.shape[1])]
    return np.column_stack([frame_column(nw.from_native(column, series_only=True)) for column in columns])


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
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        what, how = (
            ("dates", "days since 1970 with X.astype('datetime64[D]').astype(float)")
            if X.dtype.kind == "M"
            else ("durations", "seconds with X / np.timedelta64(1, 's')")
        )
        raise TableError(f"X is an array of {what} ({X.dtype}). Turn them into numbers first, for example {how}.")
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
        if any(isinstance(value, int) and abs(value) > LARGEST_WHOLE for value in values):
            warn_of_rounding(np.array([[LARGEST_WHOLE + 1]]), [name.removeprefix("Column ").strip("'")])
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


def check_sparse_format(X: Any) -> None:
    """Raise an error for a sparse matrix whose arrays do not fit together: reading them might crash."""
    if not sp.issparse(X):
        return
    try:
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        elif X.format == "coo" and X.nnz:
            for axis, places in enumerate(X.coords):
                if len(places) != len(X.data) or places.min() < 0 or places.max() >= X.shape[axis]:
                    raise ValueError(f"index out of range along axis {axis}")
    except (ValueError, IndexError) as fault:
        raise TableError(
            f"The sparse matrix X ({X.format}) is malformed: {fault}. Build it again, for example with "
            f"scipy.sparse.{X.format}_array((values, (rows, columns)), shape=...)."
        ) from None


def warn_of_rounding(matrix: Matrix, names: Sequence[str] | None) -> None:
    """Warn of whole numbers that double precision may not tell apart."""
    values = matrix.data[:, None] if sp.issparse(matrix) else matrix
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or values.size == 0:
        return
    if int(values.max()) <= LARGEST_WHOLE and int(values.min()) >= -LARGEST_WHOLE:
        return
    is_beyond = (matrix > LARGEST_WHOLE) + (matrix < -LARGEST_WHOLE)
    column = int(np.argmax(np.asarray(is_beyond.sum(axis=0)).ravel() > 0))
    name = f"Column {column}" if names is None else f"Column {names[column]!r}"
    warn_user(
        f"{name} has whole numbers beyond 2**53, which are rounded: some that differ count as equal. Subtract a number "
        "that they have in common, or leave the column out if it holds identifiers."
    )


def warn_of_tiny(matrix: Matrix, names: Sequence[str] | None) -> None:
    """Warn of columns whose values are so near to zero that they count as zero, by up to 1,000 of the rows."""
    if matrix.dtype.kind != "f":
        return
    sizes = abs(matrix[:: max(1, matrix.shape[0] // ROWS_LOOKED_AT)])
    largest = sizes.max(axis=0).toarray().ravel() if sp.issparse(sizes) else sizes.max(axis=0)
    tiny = np.flatnonzero((largest > 0) & (largest < NARROWEST))
    if len(tiny):
        name = f"Column {tiny[0]}" if names is None else f"Column {names[tiny[0]]!r}"
        more = f" and {len(tiny) - 1} other column(s)" if len(tiny) > 1 else ""
        warn_user(
            f"{name}{more} has values below {NARROWEST:g}, which count as zero, all alike. Multiply the column by a "
            "large number first."
        )


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
