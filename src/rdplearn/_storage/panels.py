"""What a model file holds of members: the views that they have, and all their rounds, side by side in panels.

As in `cells.py`, a panel is described in plain values, these ask for arrays, and both make a panel again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from rdplearn._files.checked_values import as_mapping, make
from rdplearn._model.anomaly_scores import N_SUBSAMPLES
from rdplearn._model.mapping import Identity, Projection
from rdplearn._model.mapping import Mapping as DrawnMapping
from rdplearn._model.panel import Panel, Round
from rdplearn._model.representation import Representation
from rdplearn._storage.cells import CURVE_FIELDS, rebuild_curves
from rdplearn._storage.common import widths_of
from rdplearn._storage.container import Layout
from rdplearn._types import Arrays, arrays_under
from rdplearn._views.curves import CurveView
from rdplearn._views.minmax import MinMaxView, UnchangedView
from rdplearn._views.view import SingleView, View
from rdplearn.detector import RDPDetector
from rdplearn.errors import ModelFileError

ACTIVATIONS = ("leaky", "linear", "cosine")
VIEW_FIELDS = {"minmax": ("low", "width"), "unchanged": (), "curves": CURVE_FIELDS}


@dataclass(frozen=True)
class StoredView:
    """One of the views that stand side by side in a panel. n_knots : of its curves, 0 if it has none."""

    kind: str
    n_knots: int


@dataclass(frozen=True)
class StoredPanel:
    """Members that share a view and a kind of mapping.

    members : their numbers
    activation : of the random mapping after its projection; None for the original space
    n_rounds : how many rounds of its members there are
    n_components : of φ
    n_references : rows in φ's space that members without the novelty loss score by, in `n_subsamples`, of which
        `neighbour` says which counts; 0 with it
    """

    members: list[int]
    views: list[dict[str, Any]]
    activation: str | None
    n_targets: int
    n_rounds: int
    n_components: int
    n_references: int
    n_subsamples: int
    neighbour: int


def read_panel(description: Any, of_all: Mapping[str, Any], parameters: Mapping[str, Any], owner: str) -> StoredPanel:
    """The description of a panel, checked. of_all : what files of earlier formats say of all panels together."""
    panel = {"neighbour": 0, **as_mapping(description, "a panel", owner)}
    if of_all:
        n_components = parameters.get("n_components")
        earlier = {"n_components": panel.get("n_targets") if n_components is None else n_components}
        panel = {**of_all, **earlier, "n_subsamples": N_SUBSAMPLES, **panel}
    return make(StoredPanel, panel, owner)


def is_view(description: Any, n_columns: int, owner: str) -> bool:
    """Whether a description of a view makes sense for so many columns."""
    view = make(StoredView, as_mapping(description, "a view", owner), owner)
    if view.kind == "curves":
        return view.n_knots >= n_columns
    return view.kind in ("minmax", "unchanged") and view.n_knots == 0


def layer_sizes(detector: RDPDetector, panel: StoredPanel) -> list[int]:
    """Components that each layer of φ gives; those that predict distances beside the others have a single one."""
    is_beside = panel.n_references > 0 and detector.novelty_weight > 0
    return [*(() if is_beside else widths_of(detector)), panel.n_components]


def describe_panel(panel: Panel) -> StoredPanel:
    """The plain values of a panel."""
    mapping = panel.mappings[0] if isinstance(panel.mappings, list) else panel.mappings
    n_targets = panel.n_components
    if isinstance(mapping, Identity):
        n_targets = panel.weights.shape[0]
    elif isinstance(panel.mappings, list):
        n_targets = cast(Projection, mapping).weights.shape[1]
    return StoredPanel(
        members=[int(number) for number in panel.members],
        views=[asdict(_describe_view(view)) for view in panel.view.parts],
        activation=mapping.activation if isinstance(mapping, Projection) else None,
        n_targets=n_targets,
        n_rounds=panel.n_rounds,
        n_components=panel.n_components,
        n_references=0 if panel.references is None else panel.references.shape[1],
        n_subsamples=panel.n_subsamples,
        neighbour=panel.neighbour,
    )


def _describe_view(view: SingleView) -> StoredView:
    if isinstance(view, CurveView):
        return StoredView("curves", len(view.knots))
    return StoredView("minmax" if isinstance(view, MinMaxView) else "unchanged", 0)


def panel_arrays(panel: Panel) -> Iterator[tuple[str, Any]]:
    """The arrays of a panel by their names: of its views, and of each of its rounds."""
    for number, view in enumerate(panel.view.parts):
        for field in VIEW_FIELDS[_describe_view(view).kind]:
            yield f"view_{number}.{field}", getattr(view, field)
    for number in range(panel.n_rounds):
        for part, array in _round_arrays(panel.one_round(number)):
            yield f"round_{number}.{part}", array


def _round_arrays(panel: Panel) -> Iterator[tuple[str, Any]]:
    yield "weights", panel.weights
    yield "bias", panel.bias
    for layer, (weights, bias) in enumerate(panel.deeper, start=1):
        yield f"layer_{layer}.weights", weights
        yield f"layer_{layer}.bias", bias
    yield "typical", panel.typical
    mappings = panel.mappings if isinstance(panel.mappings, list) else [panel.mappings]
    projections = [mapping for mapping in mappings if isinstance(mapping, Projection)]
    if projections:
        yield "mapping_weights", np.concatenate([projection.weights for projection in projections], axis=1)
        yield "mapping_offset", np.concatenate([projection.offset for projection in projections])
        yield "mapping_centre", np.concatenate([projection.centre for projection in projections])
    if panel.references is not None:
        yield "references", panel.references


def panel_layout(panel: StoredPanel, n_columns: int, sizes: list[int]) -> Layout:
    """The types and shapes of these arrays. sizes : see `layer_sizes`."""
    wanted: Layout = {}
    for number, view in enumerate(panel.views):
        lengths = {"low": n_columns, "width": n_columns, "starts": n_columns + 1}
        for field in VIEW_FIELDS[view["kind"]]:
            kind = "I64" if field == "starts" else "F64"
            wanted[f"view_{number}.{field}"] = (kind, (lengths.get(field, view["n_knots"]),))
    n_seen, n_members = n_columns * len(panel.views), len(panel.members)
    for number in range(panel.n_rounds):
        start = f"round_{number}"
        wanted[f"{start}.weights"] = ("F32", (n_seen, n_members * sizes[0]))
        wanted[f"{start}.bias"] = ("F32", (n_members * sizes[0],))
        for layer, (n_in, n_out) in enumerate(itertools.pairwise(sizes), start=1):
            wanted[f"{start}.layer_{layer}.weights"] = ("F32", (n_members, n_in, n_out))
            wanted[f"{start}.layer_{layer}.bias"] = ("F32", (n_members, n_out))
        wanted[f"{start}.typical"] = ("F32", (n_members,))
        if panel.activation is not None:
            wanted[f"{start}.mapping_weights"] = ("F32", (n_seen, n_members * panel.n_targets))
            wanted[f"{start}.mapping_offset"] = ("F32", (n_members * panel.n_targets,))
            wanted[f"{start}.mapping_centre"] = ("F32", (n_members * panel.n_targets,))
        if panel.n_references:
            wanted[f"{start}.references"] = ("F32", (n_members, panel.n_references, sizes[-1]))
    return wanted


def rebuild_panel(panel: StoredPanel, sizes: list[int], arrays: Arrays) -> Panel:
    """Put a panel together."""
    views = [
        _rebuild_view(view["kind"], arrays_under(f"view_{number}.", arrays)) for number, view in enumerate(panel.views)
    ]
    members = [
        [
            _rebuild_round(place, panel, sizes, arrays_under(f"round_{number}.", arrays))
            for number in range(panel.n_rounds)
        ]
        for place in range(len(panel.members))
    ]
    rebuilt = Panel(panel.members, View(tuple(views)), panel.n_rounds, members[0][0])
    for place, rounds in enumerate(members):
        rebuilt.put(place, rounds)
    return rebuilt


def _rebuild_view(kind: str, arrays: Arrays) -> SingleView:
    if kind == "unchanged":
        return UnchangedView()
    if kind == "minmax":
        if not (arrays["width"] > 0).all():
            raise ModelFileError("Its array 'width' of a view must be positive.")
        return MinMaxView(arrays["low"], arrays["width"])
    return rebuild_curves("", arrays)


def _rebuild_round(place: int, panel: StoredPanel, sizes: list[int], arrays: Arrays) -> Round:
    here = slice(place * sizes[0], (place + 1) * sizes[0])
    mapping: DrawnMapping = Identity()
    if panel.activation is not None:
        targets = slice(place * panel.n_targets, (place + 1) * panel.n_targets)
        offset, centre = arrays["mapping_offset"][targets], arrays["mapping_centre"][targets]
        mapping = Projection(arrays["mapping_weights"][:, targets], offset, centre, cast(Any, panel.activation))
    references = arrays["references"][place] if "references" in arrays else None
    deeper = [
        (arrays[f"layer_{layer}.weights"][place], arrays[f"layer_{layer}.bias"][place])
        for layer in range(1, len(sizes))
    ]
    representation = Representation(arrays["weights"][:, here], arrays["bias"][here], tuple(deeper))
    typical, how = float(arrays["typical"][place]), (panel.n_subsamples, panel.neighbour)
    return Round(representation, mapping, references, typical, *how)
