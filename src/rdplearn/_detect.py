"""`rdplearn.detect`: fit and score a table in one go, and put what was found beside its rows."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rdplearn._explain.reasons import MOST_EXPLAINED, REASON_COLUMNS, in_their_places, ranks, reason_columns
from rdplearn.detector import RDPDetector
from rdplearn.errors import TableError, told_already
from rdplearn.table import Table, TableEncoder, open_table
from rdplearn.table_model import RANK, REPORTED, SCORE, TableModel, anomaly_scores_of, threshold_of

# options of the command line whose names are far from those in Python
NAMES_ON_COMMAND_LINE = {"seed": "random_state", "id": "ignore", "label": "ignore", "clean": "contamination"}


def detect(
    table: Any,
    *,
    ignore: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
    missing: Iterable[str] = (),
    decimal: str | None = None,
    thousands: str | None = None,
    day_first: bool | None = None,
    date_format: str | None = None,
    plain_numbers: bool = False,
    strict: bool = False,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    reasons: bool = False,
    **parameters: Any,
) -> Any:
    """Find the rows of a table that are unlike the rest: fit and score in one go.

    Parameters
    ----------
    table : path, pattern or list of paths, pandas, polars or Arrow table, or 2-D array
    ignore : sequence of str
        Columns that stay in the result but are not used, such as identifiers and labels.
    kinds : mapping from column name to kind
        What columns hold, where they would be read wrongly; see `rdplearn.table.TableEncoder`.
    weights : mapping from column name to number
        How much columns count, such as ``{"amount": 3}``; 1 by default. 0 is the same as ignoring a column.
    missing, decimal, thousands, day_first, date_format, plain_numbers, strict
        How cells are read; see `rdplearn.table.TableEncoder`.
    separator, encoding, header, sheet
        How a file is read; see `rdplearn.table.open_table`.
    reasons : bool, default=False
        Whether to say why rows are reported.
    **parameters
        Of `RDPDetector`, such as ``contamination``, ``random_state`` and ``n_jobs``. To train as in the paper, pass
        ``**rdplearn.defaults.DETECTOR_PAPER``.

    Returns
    -------
    frame of the type that came in, an Arrow table for paths and arrays
        All columns and the index of the table, and three more: ``anomaly_score``, the higher the less normal;
        ``rank``, 1 for the highest score, which equal scores share; ``anomalous``, whether the row is beyond the
        threshold. With `reasons` there are also ``reason_1``, ``value_1`` and ``typical_1``: for reported rows (the 500
        highest of them) the column that raises the score most, its value as text, and what is usual there. The same
        for the second and third reason. For a table that does not fit into memory, use `TableModel`.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rdplearn
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"age": rng.integers(20, 70, 300), "city": rng.choice(["Oslo", "Rome"], 300)})
    >>> people.loc[17, "age"] = 250
    >>> found = rdplearn.detect(people, reasons=True, n_members=3, n_rounds=2, n_steps=100, random_state=0)
    >>> found.columns[:6].tolist()
    ['age', 'city', 'anomaly_score', 'rank', 'anomalous', 'reason_1']
    >>> found.loc[17, ["reason_1", "value_1"]].tolist()
    ['age', '250']
    """
    opened = open_table(table, separator=separator, encoding=encoding, header=header, sheet=sheet)
    ours = {SCORE, RANK, REPORTED, *(REASON_COLUMNS if reasons else ())}
    taken = sorted(ours & set(opened.column_names))
    if taken:
        raise TableError(
            f"Column {taken[0]!r} is in the table already. Rename or drop it before 'detect' adds its own."
        )
    _require_known(parameters)
    detector = RDPDetector(**parameters)
    encoder = TableEncoder(
        ignore=ignore,
        kinds=kinds,
        weights=weights,
        missing=missing,
        decimal=decimal,
        thousands=thousands,
        day_first=day_first,
        date_format=date_format,
        plain_numbers=plain_numbers,
        strict=strict,
    )
    model = TableModel(detector, encoder).fit(opened)
    scores = anomaly_scores_of(model.score_samples(opened))
    reported = scores > threshold_of(detector)
    columns: dict[str, Any] = {SCORE: scores, RANK: ranks(scores, np.sort(scores)), REPORTED: reported}
    if reasons:
        columns |= reasons_of(model, opened, scores, reported)
    return beside(table, opened, columns)


def _require_known(parameters: Mapping[str, Any]) -> None:
    """See that `detect` or the detector has all the options; some have another name on the command line."""
    known = [*RDPDetector().get_params(), *inspect.signature(detect).parameters]
    for name in parameters:
        if name not in known:
            near = (
                [NAMES_ON_COMMAND_LINE[name]] if name in NAMES_ON_COMMAND_LINE else get_close_matches(name, known, n=1)
            )
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"rdplearn.detect has no option {name!r}.{hint}")


def reasons_of(
    model: TableModel, table: Table, scores: npt.NDArray[np.float64], reported: npt.NDArray[np.bool_]
) -> dict[str, npt.NDArray[np.object_]]:
    """The first reasons of reported rows, the highest of them, as columns of the whole table."""
    highest = np.argsort(-scores, kind="stable")[: min(int(reported.sum()), MOST_EXPLAINED)]
    if not len(highest):
        return {name: np.full(len(scores), None, dtype=object) for name in REASON_COLUMNS}
    with told_already():
        explanation = model.explain(table, rows=highest.tolist())
    return in_their_places(reason_columns(explanation), highest, len(scores))


def beside(table: Any, opened: Table, columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """The table with further columns, as the type of frame that it is."""
    if nw.dependencies.is_into_dataframe(table):
        frame = nw.from_native(table, eager_only=True)
        series = [
            nw.new_series(name, values.tolist(), nw.String(), backend=frame.implementation)
            if values.dtype == object
            else nw.new_series(name, values, backend=frame.implementation)
            for name, values in columns.items()
        ]
        return frame.with_columns(*series).to_native()
    whole = pa.Table.from_batches(list(opened.batches()))
    for name, values in columns.items():
        whole = whole.append_column(name, pa.array(values, pa.string() if values.dtype == object else None))
    return whole
