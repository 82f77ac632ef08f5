"""Which view of the columns a member has: one by name, or several side by side.

No single view is best on all tables, and members with different views make different mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rdplearn._types import Matrix, Rows, TableColumns, drawn_rows
from rdplearn._views.balance import fit_balanced
from rdplearn._views.curves import (
    CurveView,
    Distinct,
    LookThrough,
    distinct_columns,
    fit_curves,
    look_through,
    rank_curve,
    robust_curve,
    surprise_curve,
)
from rdplearn._views.minmax import MinMaxView, UnchangedView, fit_min_max
from rdplearn._views.robust_columns import fit_robust_curves

SingleView = MinMaxView | UnchangedView | CurveView

CURVES = {"robust": robust_curve, "rank": rank_curve, "surprise": surprise_curve}
VIEW_NAMES = ("minmax", "unchanged", *CURVES)
CURVE_ROWS = 10_000  # rows that the curves are learned from
ALL_ROWS = slice(None)
FEW_CELLS = 2_000_000  # of a larger table, all rows at once would take too much memory


@dataclass(frozen=True)
class View:
    """One or several views of the columns side by side."""

    parts: tuple[SingleView, ...]

    def __call__(self, block: Matrix) -> Rows:
        """Look at a block of rows: (n_rows, n_parts * n_columns), in single precision."""
        return side_by_side([part(block) for part in self.parts])


class SeenRows:
    """A block of rows as views show it; what several views have in common is looked at once.

    views : all that may be asked for; look_through : how dense rows go through curves, the plain function or a
        compiled one
    """

    def __init__(self, block: Matrix, views: Iterable[View], look_through: LookThrough = look_through) -> None:
        self.block, self.look_through = block, look_through
        singles = {id(part): part for view in views for part in view.parts}.values()
        self._searched = [part for part in singles if isinstance(part, CurveView) and not part.is_straight]
        self._seen: dict[int, Rows] = {}

    def through(self, view: View, rows: npt.NDArray[np.int64] | slice = ALL_ROWS) -> Rows:
        """The rows through a view, all or some."""
        return side_by_side([self._through_one(part)[rows] for part in view.parts])

    def _through_one(self, part: SingleView) -> Rows:
        if id(part) not in self._seen:
            if sp.issparse(self.block) or not any(part is searched for searched in self._searched):
                self._seen[id(part)] = part(self.block)
            else:
                seen = self.look_through(self._searched, self.block)
                self._seen |= zip(map(id, self._searched), seen, strict=True)
        return self._seen[id(part)]


def worth_sharing(matrix: Matrix, n_looked_at: int) -> bool:
    """Tell whether to look at all rows once, not at each member's. n_looked_at : rows of all members together."""
    n_cells = matrix.nnz if sp.issparse(matrix) else matrix.shape[0] * matrix.shape[1]
    return n_cells <= FEW_CELLS and n_looked_at > 2 * matrix.shape[0]


def rows_through(view: View, matrix: Matrix, rows: npt.NDArray[np.int64], whole: SeenRows | None) -> Rows:
    """Some rows of a table through a view. whole : all rows, where members share what is seen of them."""
    return view(matrix[rows]) if whole is None else whole.through(view, rows)


def side_by_side(seen: list[Rows]) -> Rows:
    """One matrix of several, dense or sparse as they are."""
    if len(seen) == 1:
        return seen[0]
    return sp.csr_array(sp.hstack(seen, format="csr")) if sp.issparse(seen[0]) else np.hstack(seen)


def names_in(view: str) -> list[str]:
    """The single views in a name: "robust+rank" is two side by side.

    Examples
    --------
    >>> names_in("robust + rank")
    ['robust', 'rank']
    """
    return [name.strip() for name in view.split("+")]


def fit_views(views: Iterable[str], matrix: Matrix, seed: int, table: TableColumns | None = None) -> dict[str, View]:
    """Learn the views of a table, each single one once; curves from a sample of rows."""
    return join_views(
        views,
        min_max=lambda: fit_min_max(matrix),
        curve_rows=lambda: curve_rows(matrix, seed),
        table=table,
    )


def join_views(
    views: Iterable[str],
    *,
    min_max: Callable[[], MinMaxView],
    curve_rows: Callable[[], Matrix],
    table: TableColumns | None = None,
) -> dict[str, View]:
    """Put views together from single ones, which are learned if any asks for them.

    min_max : learns the range of every column; curve_rows : gives the rows that curves are learned from
    table : where the matrix columns came from; then curves are balanced, see `balance.py`
    """
    views = list(dict.fromkeys(views))
    singles: dict[str, SingleView] = {"unchanged": UnchangedView()}
    if _any_has(views, "minmax"):
        singles["minmax"] = min_max()
    wanted = [name for name in CURVES if _any_has(views, name)]
    if wanted == ["robust"] and table is None:  # as of very wide tables
        singles["robust"] = fit_robust_curves(curve_rows())
    elif wanted:
        columns = distinct_columns(curve_rows())
        singles |= {name: fit_named_curves(columns, name, table) for name in wanted}
    return {view: View(tuple(singles[name] for name in names_in(view))) for view in views}


def fit_named_curves(columns: list[Distinct], name: str, table: TableColumns | None) -> CurveView:
    """Learn one of the curved views; balanced where it is known which columns of a table are meant."""
    curve = CURVES[name]
    return fit_curves(columns, curve) if table is None else fit_balanced(columns, curve, table)


def curve_rows(matrix: Matrix, seed: int) -> Matrix:
    """The rows that curves are learned from."""
    return matrix[sample_for_curves(matrix.shape[0], seed)]


def sample_for_curves(n_rows: int, seed: int) -> npt.NDArray[np.int64]:
    """Rows to learn curves from: all, or a random sample of `CURVE_ROWS`."""
    return drawn_rows(n_rows, CURVE_ROWS, seed)


def _any_has(views: list[str], name: str) -> bool:
    return any(name in names_in(view) for view in views)
