r"""Anomaly scores of the rows of a table, by all members together.

All members are scored by one product of a block of rows with their weights side by side; cost is linear in the rows and
memory bounded by the block. A row's score does not depend on the others, to the last bit: sums over a row's components
are taken one after the other, by the plain formulas and by the compiled pass alike, and `products.py` sees to the
products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import Parallel, delayed

from rdplearn._model.anomaly_scores import lifted, nearest_subsample_scores, novelty_scores
from rdplearn._model.cells import CellVoice
from rdplearn._model.combination import Combination
from rdplearn._model.mapping import MAPPING_SLOPE, Projection
from rdplearn._model.panel import Panel
from rdplearn._model.products import BLOCK, in_steady_blocks, row_products
from rdplearn._model.threads import one_blas_thread
from rdplearn._types import Doubles, Floats, Matrix, Rows, row_blocks
from rdplearn._views.curves import LookThrough
from rdplearn._views.curves import look_through as plainly
from rdplearn._views.view import SeenRows

# The plain formulas pass over each component of φ and η seven times; from here on one compiled pass is sooner done.
COMPONENTS_WORTH_COMPILING = 2e8
SLOPES = {"leaky": MAPPING_SLOPE, "linear": 1.0}
COMPONENTS_AT_ONCE = 1500  # of φ: enough to keep BLAS busy, and for a block of rows still in the cache
STRETCH = 8 * BLOCK  # rows go to a thread so many at a time, so that handing them out costs nothing
ScoreSome = Callable[[Rows, Panel, slice, Floats], None]
_rows_so_far: ContextVar[int] = ContextVar("rows_so_far", default=0)


def score_rows(
    matrix: Matrix,
    panels: list[Panel],
    combination: Combination,
    n_jobs: int | None,
    cells: CellVoice | None = None,
) -> Doubles:
    """Anomaly score of every row by all members together, and by its cells if they have a voice: (n_rows,)."""
    return combination.over_members(scaled_scores(matrix, panels, combination, n_jobs, cells))


@contextmanager
def rows_so_far(n_rows: int) -> Iterator[None]:
    """Say that what is scored inside is the end of so many rows of a table that comes in batches.

    The later batches of a long table are scored by the compiled kernel though each is small.
    """
    token = _rows_so_far.set(n_rows)
    try:
        yield
    finally:
        _rows_so_far.reset(token)


def scaled_scores(
    matrix: Matrix,
    panels: list[Panel],
    combination: Combination,
    n_jobs: int | None,
    cells: CellVoice | None = None,
) -> npt.NDArray[np.floating]:
    """Anomaly score of every row by every member, mean over rounds, on the scale that the combination averages on.

    Rows are scored a block at a time, and blocks are spread over threads. Shape (n_rows, n_members), and one column
    more for the surprise of the cells if they have a voice.
    """
    if sp.issparse(matrix):
        panels = [panel.for_sparse_rows() for panel in panels]
    n_rows = max(matrix.shape[0], _rows_so_far.get())
    n_scored = n_rows * sum(panel.bias.size for panel in panels)
    is_long = n_scored >= COMPONENTS_WORTH_COMPILING
    look_through: LookThrough = plainly
    if is_long:
        from rdplearn._scoring import compiled  # here, because importing Numba takes longer than scoring a small table

        look_through = compiled.look_through

    @np.errstate(over="ignore", invalid="ignore")  # what is farther than numbers go gets the largest score
    def score_stretch(stretch: slice) -> Floats:
        n_members = len(combination.weights)
        scores = np.empty((stretch.stop - stretch.start, n_members + (cells is not None)), dtype=np.float32)
        views = [panel.view for panel in panels]
        seen = SeenRows(matrix[stretch], views if cells is None else [*views, *cells.views], look_through)
        for panel in panels:
            rows = seen.through(panel.view)
            scores[:, panel.members] = mean_over_rounds(rows, panel, combination, is_long=is_long)
        if cells is not None:
            scores[:, n_members] = cells.surprises(seen)
        return combination.within_numbers(scores)

    stretches = row_blocks(matrix.shape[0], STRETCH)
    with one_blas_thread():
        parts = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(score_stretch)(s) for s in stretches)
    return np.concatenate(parts)


def mean_over_rounds(rows: Rows, panel: Panel, combination: Combination, *, is_long: bool) -> Floats:
    """Score of seen rows by every member of a panel, on the combination's scale: (n_rows, n_members)."""
    of_rounds = np.empty((rows.shape[0], panel.n_seats), dtype=np.float32)
    # SciPy takes sparse rows one by one, and small blocks would be for nothing
    n_at_once = STRETCH if sp.issparse(rows) and panel.multiplies_rows_alone else BLOCK
    in_steady_blocks(rows, seat_scorer(panel, is_long=is_long), of_rounds, n_at_once)
    scaled = combination.to_scale(of_rounds, panel.typical)
    if panel.n_rounds == 1:
        return scaled
    by_rounds = np.split(scaled, panel.n_rounds, axis=1)
    return sum(by_rounds[1:], start=by_rounds[0]) / np.float32(panel.n_rounds)


def seat_scores(rows: Rows, panel: Panel, *, is_long: bool = False) -> Floats:
    """Anomaly score of a block of rows by every round of every member: (n_rows, n_seats)."""
    return seat_scorer(panel, is_long=is_long)(rows)


def seat_scorer(panel: Panel, *, is_long: bool) -> Callable[[Rows], Floats]:
    """How a panel scores blocks of rows, see `seat_scores`.

    is_long : whether there is so much to score that compiled passes are sooner done than the plain formulas
    """
    if panel.references is not None:
        score_some = by_references(panel, is_long=is_long)
    else:
        target_slope = compiled_slope(panel) if is_long else None
        score_some = by_residuals if target_slope is None else partial(by_residuals_in_one_pass, target_slope)

    def score_block(rows: Rows) -> Floats:
        scores = np.empty((panel.n_seats, rows.shape[0]), dtype=np.float32)
        for some in row_blocks(panel.n_seats, max(1, COMPONENTS_AT_ONCE // panel.n_components)):
            score_some(rows, panel, some, scores[some])
        return scores.T

    return score_block


# Ways of scoring a block of rows by some seats: (rows, panel, some, scores), where scores, (n_some, n_rows), is written


def by_references(panel: Panel, *, is_long: bool) -> ScoreSome:
    """By distance to references, which are prepared once."""
    assert panel.references is not None
    references, how = [lifted(each) for each in panel.references], (panel.n_subsamples, panel.neighbour)
    score: Callable[..., Floats] = nearest_subsample_scores
    if is_long and panel.neighbour:
        from rdplearn._scoring import compiled

        score = compiled.nearest_subsample_scores

    def score_some(rows: Rows, panel: Panel, some: slice, scores: Floats) -> None:
        phi = panel.represent(rows, some)
        scores[:] = [score(phi[:, seat], each, *how) for seat, each in enumerate(references[some])]

    return score_some


def by_residuals(rows: Rows, panel: Panel, some: slice, scores: Floats) -> None:
    """By what φ and η differ, by the plain formulas."""
    scores[:] = novelty_scores(panel.represent(rows, some), panel.targets(rows, some)).T


def compiled_slope(panel: Panel) -> float | None:
    """η's slope for negative numbers, if one compiled pass can do the work of the plain formulas; else None."""
    if not panel.multiplies_rows_alone:
        return None
    assert isinstance(panel.mappings, Projection)
    return SLOPES.get(panel.mappings.activation)


def by_residuals_in_one_pass(target_slope: float, rows: Rows, panel: Panel, some: slice, scores: Floats) -> None:
    """The same by the compiled kernel."""
    from rdplearn._scoring import compiled

    assert isinstance(panel.mappings, Projection)
    here = panel.components_of(some)
    shape = (len(scores), panel.n_components, rows.shape[0])
    projected = row_products(rows, panel.weights[:, here]).T.reshape(shape)
    targets = row_products(rows, panel.mappings.weights[:, here]).T.reshape(shape)
    constants = (panel.bias, panel.mappings.offset, panel.mappings.centre)
    bias, offset, centre = (constant[here].reshape(shape[:2]) for constant in constants)
    compiled.novelty_scores(projected, bias, targets, offset, centre, np.float32(target_slope), scores)
