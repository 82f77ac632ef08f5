"""What a model file holds of the voice of single cells: curves of the columns, and what goes with what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rdplearn._files.checked_values import as_mapping, make
from rdplearn._model.cells import UNLIMITED, CellVoice, Companions
from rdplearn._storage.container import Layout
from rdplearn._types import Arrays, TableColumns
from rdplearn._views.curves import CurveView
from rdplearn._views.view import View
from rdplearn.errors import ModelFileError

CURVE_FIELDS = ("starts", "knots", "heights")


@dataclass(frozen=True)
class StoredCells:
    """The part of the header that describes the voice of cells.

    names : of the columns of the table
    n_knots, n_hole_knots, n_rank_knots, n_companion_knots : of the curves; the last two are 0 without companions
    has_ceilings : whether companions have them; not in files of earlier versions
    """

    names: list[str]
    odds: float
    n_knots: int
    n_hole_knots: int
    n_rank_knots: int
    n_companion_knots: int
    has_ceilings: bool


def describe_cells(voice: CellVoice) -> tuple[StoredCells, Arrays]:
    """Take the voice apart into plain values and arrays."""
    table, companions = voice.table, voice.companions
    arrays: Arrays = {
        "group_of_column": table.group_of_column.astype(np.int64),
        "is_mark": table.is_mark.astype(np.int64),
        "weights": table.weights,
        "none": voice.none,
        "holes.knots": voice.hole_curve[0],
        "holes.heights": voice.hole_curve[1],
        **_curve_arrays("cells", _only_curves(voice.cells)),
    }
    n_rank_knots = n_companion_knots = 0
    if companions is not None:
        ranks = _only_curves(companions.view)
        n_rank_knots, n_companion_knots = len(ranks.knots), len(companions.curves.knots)
        arrays |= _curve_arrays("ranks", ranks) | _curve_arrays("companions", companions.curves)
        arrays |= {"companions.weights": companions.weights, "companions.offset": companions.offset}
        arrays |= {"companions.ceilings": companions.ceilings}
    n_knots = len(_only_curves(voice.cells).knots)
    n_hole_knots = len(voice.hole_curve[0])
    counts = (n_knots, n_hole_knots, n_rank_knots, n_companion_knots)
    return StoredCells(list(table.names), voice.odds, *counts, has_ceilings=companions is not None), arrays


def read_cells(values: Any, owner: str) -> StoredCells:
    """The description, checked."""
    stored = make(StoredCells, {"has_ceilings": False, **as_mapping(values, "cells", owner)}, owner)
    if not stored.names or not stored.n_hole_knots or bool(stored.n_rank_knots) != bool(stored.n_companion_knots):
        raise ModelFileError(f"{owner} has an impossible 'cells': {values!r:.60}.")
    return stored


def cells_layout(stored: StoredCells, n_columns: int) -> Layout:
    """The types and shapes of the arrays of such a voice."""
    n_groups = len(stored.names)
    wanted: Layout = {
        "group_of_column": ("I64", (n_columns,)),
        "is_mark": ("I64", (n_columns,)),
        "weights": ("F64", (n_groups,)),
        "none": ("F64", (n_groups,)),
        "holes.knots": ("F64", (stored.n_hole_knots,)),
        "holes.heights": ("F64", (stored.n_hole_knots,)),
        **_curve_layout("cells", n_columns, stored.n_knots),
    }
    if stored.n_rank_knots:
        wanted |= _curve_layout("ranks", n_columns, stored.n_rank_knots)
        wanted |= _curve_layout("companions", n_groups, stored.n_companion_knots)
        wanted |= {"companions.weights": ("F32", (n_columns, n_columns)), "companions.offset": ("F32", (n_columns,))}
        wanted |= {"companions.ceilings": ("F64", (n_columns,))} if stored.has_ceilings else {}
    return wanted


def rebuild_cells(stored: StoredCells, arrays: Arrays, views: list[View]) -> CellVoice:
    """Put the voice together. views : of the members, one of which may be the view of the companions as well."""
    groups, marks, weights = arrays["group_of_column"], arrays["is_mark"], arrays["weights"]
    is_sound = (
        np.array_equal(np.unique(groups), np.arange(len(stored.names)))
        and bool(np.isin(marks, (0, 1)).all())
        and bool((weights >= 0).all())
        and bool((weights > 0).any())
    )
    if not is_sound:
        raise ModelFileError("Its arrays of 'cells' must give every matrix column a column of the table, and weights.")
    table = TableColumns(stored.names, groups, marks.astype(bool), weights)
    companions = None
    if stored.n_rank_knots:
        companions = Companions(
            view=_same_or_new(rebuild_curves("ranks", arrays), views),
            weights=arrays["companions.weights"],
            offset=arrays["companions.offset"],
            curves=rebuild_curves("companions", arrays),
            ceilings=arrays.get("companions.ceilings", np.full(len(groups), UNLIMITED)),
        )
    if (np.diff(arrays["holes.knots"]) < 0).any():
        raise ModelFileError("The curve of holes must have ascending knots.")
    return CellVoice(
        table=table,
        cells=View((rebuild_curves("cells", arrays),)),
        none=arrays["none"],
        hole_curve=(arrays["holes.knots"], arrays["holes.heights"]),
        odds=stored.odds,
        companions=companions,
    )


def rebuild_curves(name: str, arrays: Arrays) -> CurveView:
    """A curve for each of several columns, checked."""
    starts, knots, heights = (arrays[f"{name}.{field}" if name else field] for field in CURVE_FIELDS)
    ends_well = starts[0] == 0 and starts[-1] == len(knots) and (np.diff(starts) > 0).all()
    if not ends_well or (np.diff(knots) < 0)[np.setdiff1d(np.arange(len(knots) - 1), starts[1:-1] - 1)].any():
        raise ModelFileError(
            f"The curves of a view must have ascending knots for each of its {len(starts) - 1} columns."
        )
    return CurveView(starts, knots, heights)


def _curve_arrays(name: str, curves: CurveView) -> Arrays:
    return {f"{name}.{field}": getattr(curves, field) for field in CURVE_FIELDS}


def _curve_layout(name: str, n_columns: int, n_knots: int) -> Layout:
    return {
        f"{name}.starts": ("I64", (n_columns + 1,)),
        f"{name}.knots": ("F64", (n_knots,)),
        f"{name}.heights": ("F64", (n_knots,)),
    }


def _only_curves(view: View) -> CurveView:
    (curves,) = view.parts
    assert isinstance(curves, CurveView)
    return curves


def _same_or_new(curves: CurveView, views: list[View]) -> View:
    """The members' view that has these curves, so that rows are seen through it once; else a view of its own."""
    for view in views:
        for part in view.parts:
            if isinstance(part, CurveView) and all(
                np.array_equal(getattr(part, field), getattr(curves, field)) for field in CURVE_FIELDS
            ):
                return View((part,))
    return View((curves,))
