"""What a model file holds of an `RDPDetector`: parameters, views, members, threshold, history and typical rows.

`describe` takes a fitted detector apart, `rebuild` puts it together again, and `layout` says in between which arrays a
header asks for, so that they can be checked before they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from rdplearn._detector_parameters import check_parameters
from rdplearn._explain.typical_rows import TypicalRows
from rdplearn._files.checked_values import as_mapping, make, require
from rdplearn._model.combination import LARGEST_SCORE, Combination, Voice
from rdplearn._scoring.scores import scaled_scores
from rdplearn._storage.cells import StoredCells, cells_layout, describe_cells, read_cells, rebuild_cells
from rdplearn._storage.common import (
    history_array,
    plain_mapping,
    plain_parameters,
    plain_value,
    rebuild_history,
    rebuilt_mapping,
    stored_names,
    take_columns,
    with_parameters,
)
from rdplearn._storage.container import Layout
from rdplearn._storage.panels import (
    ACTIVATIONS,
    StoredPanel,
    describe_panel,
    is_view,
    layer_sizes,
    panel_arrays,
    panel_layout,
    read_panel,
    rebuild_panel,
)
from rdplearn._types import Arrays, arrays_under
from rdplearn._views.matrix import canonical_csr
from rdplearn._voices import scoring_panels
from rdplearn.defaults import DetectorChoices, choose_for_detector
from rdplearn.detector import RDPDetector
from rdplearn.errors import ModelFileError

OWNER = "Its description of the detector"
CHOICES = {
    "n_members": int,
    "n_components": int,
    "n_steps": int,
    "batch_size": int,
    "learning_rate": float,
    "even_residuals": float,
    "max_samples": float,
    "score_rounds": int,
    "distance_members": int,
}
TOO_LARGE = 0.99 * LARGEST_SCORE  # what stands for "farther than numbers go", up to rounding
HISTORY_COUNTS = ("member", "round", "n_kept", "step")
HISTORY_NUMBERS = ("cut", "distance_loss", "novelty_loss")


@dataclass(frozen=True)
class StoredVoice:
    """Members that judge in the same way. members : their numbers; n_knots : of the curve to their surprise.

    The last one has no members: its curve is the scale of all voices together.
    """

    members: list[int]
    n_knots: int
    price: float


@dataclass(frozen=True)
class StoredDetector:
    """The part of the header that describes a detector.

    n_scoring : how many rounds of members score, the last ones
    n_records : of the history
    chosen : what "auto" and None came to, see `DetectorChoices`; None in files of format 1, which do not say
    voices : members that judge in the same way, see `StoredVoice`; none if their average is the score
    cells : the voice of single cells, see `StoredCells`; None without one
    typical_score : anomaly score of the first of the typical rows
    n_typical : typical rows
    n_company : rows of the table as it is, which follow them; 0 in files of earlier versions, which have none
    n_typical_entries : numbers that all these rows store if they are sparse; None if they are dense
    n_renewed : members that further rows have brought; 0 in files of earlier versions, which do not say
    """

    parameters: dict[str, Any]
    chosen: dict[str, Any] | None
    n_columns: int
    column_names: list[str] | None
    offset: float
    panels: list[dict[str, Any]]
    n_scoring: int
    n_records: int
    voices: list[dict[str, Any]]
    cells: dict[str, Any] | None
    typical_score: float
    n_typical: int
    n_company: int
    n_typical_entries: int | None
    n_renewed: int


def describe(detector: RDPDetector) -> tuple[dict[str, Any], Arrays]:
    """Take a fitted detector apart into a header of plain values and arrays."""
    check_is_fitted(detector)
    arrays: Arrays = {
        "history": history_array(detector.history_, HISTORY_COUNTS, HISTORY_NUMBERS),
        "member_weights": detector.combination_.weights,
    }
    for number, panel in enumerate(detector.panels_):
        arrays |= {f"panel_{number}.{part}": array for part, array in panel_arrays(panel)}
    arrays |= {f"typical.{part}": array for part, array in _typical_arrays(detector.typical_rows_)}
    for number, voice in enumerate(_with_scale(detector.combination_)):
        arrays |= {f"voice_{number}.knots": voice.knots, f"voice_{number}.heights": voice.heights}
    cells = None
    if detector.cells_ is not None:
        described, of_cells = describe_cells(detector.cells_)
        cells, arrays = asdict(described), arrays | {f"cells.{part}": array for part, array in of_cells.items()}
    typical, company = detector.typical_rows_.rows, detector.typical_rows_.company
    header = StoredDetector(
        parameters=plain_parameters(detector),
        chosen=_plain_choices(detector.chosen_),
        n_columns=int(detector.n_features_in_),
        column_names=stored_names(detector),
        offset=float(detector.offset_),
        panels=[asdict(describe_panel(panel)) for panel in detector.panels_],
        n_scoring=detector.n_scoring_rounds_,
        n_records=len(detector.history_),
        voices=[
            asdict(StoredVoice([int(n) for n in voice.members], len(voice.knots), float(voice.price)))
            for voice in _with_scale(detector.combination_)
        ],
        cells=cells,
        typical_score=detector.typical_rows_.score,
        n_typical=typical.shape[0],
        n_company=company.shape[0],
        n_typical_entries=int(typical.nnz + company.nnz) if sp.issparse(typical) else None,
        n_renewed=detector.n_renewed_,
    )
    return asdict(header), arrays


def layout(description: Any, n_arrays: int) -> Layout:
    """The types and shapes of the arrays that a detector of this description has."""
    stored, panels, detector = _read(description)
    n_rounds = sum(panel.n_rounds for panel in panels)
    if n_rounds > n_arrays:
        raise ModelFileError(f"{OWNER} has an impossible 'n_rounds': {n_rounds}.")
    wanted: Layout = {
        "history": ("F64", (stored.n_records, len(HISTORY_COUNTS) + len(HISTORY_NUMBERS))),
        "member_weights": ("F64", (sum(len(panel.members) for panel in panels),)),
    }
    for number, panel in enumerate(panels):
        of_panel = panel_layout(panel, stored.n_columns, layer_sizes(detector, panel))
        wanted |= {f"panel_{number}.{part}": shape for part, shape in of_panel.items()}
    for number, voice in enumerate(_voices_of(stored)):
        wanted |= dict.fromkeys((f"voice_{number}.knots", f"voice_{number}.heights"), ("F64", (voice.n_knots,)))
    if (cells := _cells_of(stored)) is not None:
        wanted |= {f"cells.{part}": shape for part, shape in cells_layout(cells, stored.n_columns).items()}
    return wanted | {f"typical.{part}": shape for part, shape in _typical_layout(stored).items()}


def rebuild(description: Any, arrays: Arrays) -> RDPDetector:
    """Put a detector together from its description and its arrays, which fit its `layout`."""
    stored, panels, detector = _read(description)
    take_columns(detector, stored.n_columns, stored.column_names)
    detector.panels_ = [
        rebuild_panel(panel, layer_sizes(detector, panel), arrays_under(f"panel_{number}.", arrays))
        for number, panel in enumerate(panels)
    ]
    detector.combination_ = Combination(detector.combination == "geometric", arrays["member_weights"])
    if voices := [_rebuild_voice(v, arrays_under(f"voice_{n}.", arrays)) for n, v in enumerate(_voices_of(stored))]:
        scale = (voices[-1].knots, voices[-1].heights)
        detector.combination_ = replace(detector.combination_, voices=tuple(voices[:-1]), scale=scale)
    _require_shares(detector.combination_)
    cells, of_cells = _cells_of(stored), arrays_under("cells.", arrays)
    views = [panel.view for panel in detector.panels_]
    detector.cells_ = None if cells is None else rebuild_cells(cells, of_cells, views)
    detector.history_ = rebuild_history(arrays["history"], HISTORY_COUNTS, HISTORY_NUMBERS)
    detector.n_scoring_rounds_, detector.n_renewed_ = stored.n_scoring, stored.n_renewed
    detector.chosen_ = _rebuilt_choices(stored, detector)
    detector.offset_ = float(stored.offset)
    detector.typical_rows_ = _rebuild_typical(stored, arrays_under("typical.", arrays))
    return detector


def is_sound(detector: RDPDetector) -> bool:
    """Whether the typical rows get scores that are numbers, from every member."""
    rows, combination = detector.typical_rows_.rows, detector.combination_
    scaled = scaled_scores(rows, scoring_panels(detector), combination, None, detector.cells_)
    of_members = scaled[:, : len(combination.weights)]
    return bool(
        (combination.from_scale(of_members) < TOO_LARGE).all() and np.isfinite(combination.over_members(scaled)).all()
    )


def _require_shares(combination: Combination) -> None:
    """See that the members' weights are shares of the whole, or of their voice."""
    weights = combination.weights
    teams = [voice.members for voice in combination.voices if len(voice.members)] or [np.arange(len(weights))]
    if (weights < 0).any() or not np.allclose([weights[team].sum() for team in teams], 1.0):
        raise ModelFileError(f"{OWNER} has impossible 'member_weights': they do not add up to 1.")


def _read(description: Any) -> tuple[StoredDetector, list[StoredPanel], RDPDetector]:
    """The description, checked, and an unfitted detector with its parameters."""
    values = _with_scoring(as_mapping(description, "a description of the detector", "It"))
    # what earlier formats do not say
    values = {"chosen": None, "voices": [], "cells": None, "n_company": 0, "n_renewed": 0, **values}
    of_all: dict[str, Any] = {
        name: values.pop(name) for name in ("n_rounds", "n_references") if name in values
    }  # said once, there
    stored = make(StoredDetector, values, OWNER)
    panels = [read_panel(panel, of_all, stored.parameters, OWNER) for panel in stored.panels]
    parameters = _with_components(stored, panels)
    detector = with_parameters(RDPDetector, parameters, check_parameters, OWNER)
    _require_sense(stored, panels, detector)
    return stored, panels, detector


def _with_scoring(description: Mapping[str, Any]) -> Mapping[str, Any]:
    """The description with `n_scoring`, which files of earlier versions leave to their parameters."""
    parameters = description.get("parameters")
    if "n_scoring" in description or not isinstance(parameters, dict):
        return description
    wanted = [n for n in (parameters.get("score_rounds"), parameters.get("n_rounds")) if isinstance(n, int)]
    return {**description, "n_scoring": min(wanted)} if len(wanted) == 2 else description


def _with_components(stored: StoredDetector, panels: list[StoredPanel]) -> dict[str, Any]:
    """The parameters with `n_components`; files of the first versions leave it open: there are as many as targets."""
    is_told = stored.parameters.get("n_components") is not None or "n_components" in (stored.chosen or {})
    return stored.parameters if is_told or not panels else {**stored.parameters, "n_components": panels[0].n_targets}


def _require_sense(stored: StoredDetector, panels: list[StoredPanel], detector: RDPDetector) -> None:
    """See that values which fit their types also fit each other."""
    members = [number for panel in panels for number in panel.members]
    sensible = {
        "n_columns": stored.n_columns > 0,
        "column_names": stored.column_names is None or len(stored.column_names) == stored.n_columns,
        "n_scoring": stored.n_scoring == min(detector.score_rounds or stored.n_scoring, detector.n_rounds) > 0,
        "n_typical": stored.n_typical > 0,
        "n_company": stored.n_company >= 0,
        "panels": sorted(members) == list(range(len(members)))
        and len(members) >= (detector.n_members or 1)
        and all(panel.members for panel in panels),
    }
    for name, is_sensible in sensible.items():
        if not is_sensible:
            raise ModelFileError(f"{OWNER} has an impossible {name!r}: {getattr(stored, name)!r:.60}.")
    n_components = detector.n_components or (stored.chosen or {}).get("n_components")
    for panel in panels:
        n_seen = stored.n_columns * len(panel.views)
        fits = panel.activation is not None or panel.n_targets == n_seen
        by_distance = panel.n_references > 0
        n_rounds = (1,) if by_distance and detector.novelty_weight > 0 else (stored.n_scoring, detector.n_rounds)
        of_panel = {
            "n_rounds": panel.n_rounds in n_rounds,
            "n_components": panel.n_components > 0 and (by_distance or panel.n_components == n_components),
            "n_subsamples": panel.n_subsamples > 0 and panel.n_references % panel.n_subsamples == 0,
            "neighbour": 0 <= panel.neighbour <= panel.n_subsamples,
            "n_references": by_distance or detector.novelty_weight > 0,
            "views": bool(panel.views) and all(is_view(view, stored.n_columns, OWNER) for view in panel.views),
            "activation": panel.activation in (*ACTIVATIONS, None),
            "n_targets": fits and (by_distance or panel.n_targets == n_components),
        }
        for name, is_sensible in of_panel.items():
            if not is_sensible:
                raise ModelFileError(f"{OWNER} has an impossible {name!r}: {getattr(panel, name)!r:.60}.")


def _voices_of(stored: StoredDetector) -> list[StoredVoice]:
    voices = [make(StoredVoice, as_mapping(voice, "a voice", OWNER), OWNER) for voice in stored.voices]
    members = sorted(number for panel in stored.panels for number in panel["members"])
    are_whole = sorted(number for voice in voices for number in voice.members) == members
    if voices and (not are_whole or voices[-1].members or not all(voice.members for voice in voices[:-1])):
        raise ModelFileError(f"{OWNER} has an impossible 'voices': every member must have a place in one of them.")
    return voices


def _cells_of(stored: StoredDetector) -> StoredCells | None:
    return None if stored.cells is None else read_cells(stored.cells, OWNER)


def _with_scale(combination: Combination) -> list[Voice]:
    """The voices, and the scale of all together as if it were one without members."""
    none = np.empty(0, dtype=np.int64)
    return [*combination.voices, *([Voice(none, *combination.scale)] if combination.voices else [])]


def _rebuild_voice(stored: StoredVoice, arrays: Arrays) -> Voice:
    if (np.diff(arrays["knots"]) < 0).any() or not len(arrays["knots"]):
        raise ModelFileError("The curve of a voice must have ascending knots.")
    return Voice(np.array(stored.members), arrays["knots"], arrays["heights"], stored.price)


def _plain_choices(chosen: DetectorChoices) -> dict[str, Any]:
    plain = {field: plain_value(getattr(chosen, field)) for field in CHOICES}
    return {**plain, "views": list(chosen.views), "mapping": plain_mapping(chosen.mapping)}


def _rebuilt_choices(stored: StoredDetector, detector: RDPDetector) -> DetectorChoices:
    """What the fit had chosen. A file of format 1 does not say: then what the rule says of a table of few rows."""
    if stored.chosen is None:
        return choose_for_detector(0, stored.n_columns, detector.get_params(deep=False))
    chosen = {"distance_members": 0, "n_components": detector.n_components, **stored.chosen}  # not in earlier files
    if isinstance(chosen.get("even_residuals"), bool):  # yes or no, in earlier files
        chosen["even_residuals"] = float(chosen["even_residuals"])
    if set(chosen) != {*CHOICES, "views", "mapping"} or not isinstance(chosen["mapping"], list):
        raise ModelFileError(f"{OWNER} has an impossible 'chosen': {stored.chosen!r:.60}.")
    for name, hint in {**CHOICES, "views": list[str]}.items():
        require(name, chosen[name], hint, OWNER)
    mapping = tuple(rebuilt_mapping(chosen["mapping"], OWNER))
    return DetectorChoices(**{**chosen, "views": tuple(chosen["views"]), "mapping": mapping})


def _typical_arrays(typical_rows: TypicalRows) -> Iterator[tuple[str, Any]]:
    for field in ("low", "high", "spread"):
        yield field, getattr(typical_rows, field)
    if not sp.issparse(typical_rows.rows):
        yield "rows", np.concatenate([typical_rows.rows, typical_rows.company])
        return
    both = sp.vstack([typical_rows.rows, typical_rows.company], format="csr")
    yield "values", both.data
    yield "columns", both.indices.astype(np.int64)
    yield "ends", both.indptr.astype(np.int64)


def _typical_layout(stored: StoredDetector) -> Layout:
    of_columns: Layout = dict.fromkeys(("low", "high", "spread"), ("F64", (stored.n_columns,)))
    n_rows = stored.n_typical + stored.n_company
    if stored.n_typical_entries is None:
        return of_columns | {"rows": ("F64", (n_rows, stored.n_columns))}
    n_entries = stored.n_typical_entries
    return of_columns | {
        "values": ("F64", (n_entries,)),
        "columns": ("I64", (n_entries,)),
        "ends": ("I64", (n_rows + 1,)),
    }


def _rebuild_typical(stored: StoredDetector, arrays: Arrays) -> TypicalRows:
    if (arrays["spread"] < 0).any():
        raise ModelFileError("Its array 'typical.spread' must not be negative.")
    rows = arrays.get("rows")
    if rows is None:
        columns, ends = arrays["columns"], arrays["ends"]
        ends_well = ends[0] == 0 and ends[-1] == len(columns) and (np.diff(ends) >= 0).all()
        if not ends_well or not ((columns >= 0) & (columns < stored.n_columns)).all():
            raise ModelFileError("Its typical rows must store numbers in columns that there are, row after row.")
        shape = (stored.n_typical + stored.n_company, stored.n_columns)
        rows = canonical_csr(sp.csr_array((arrays["values"], columns, ends), shape=shape))
    typical, company = rows[: stored.n_typical], rows[stored.n_typical :]
    return TypicalRows(
        rows=typical,
        **{field: arrays[field] for field in ("low", "high", "spread")},
        score=float(stored.typical_score),
        company=company if stored.n_company else typical,
    )
