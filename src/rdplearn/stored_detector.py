"""What a model file holds of an `RDPDetector`: its parameters, the scaling, the members, the threshold, the history.

`describe` takes a fitted detector apart, `rebuild` puts it together again, and `layout` says in between which arrays a
header asks for, so that they can be checked before they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rdplearn.detector import RDPDetector
from rdplearn.errors import ModelFileError
from rdplearn.model_file import Arrays, Layout
from rdplearn.plain_values import as_mapping, make
from rdplearn.random_mapping import Identity, Projection
from rdplearn.random_mapping import Mapping as RandomMapping
from rdplearn.representation import Representation
from rdplearn.scoring import N_SUBSAMPLES, SUBSAMPLE_SIZE, Ensemble, Member
from rdplearn.stored_parts import (
    history_array,
    plain_parameters,
    rebuild_history,
    stored_names,
    take_columns,
    with_parameters,
)
from rdplearn.views import MinMaxView, UnchangedView, View

OWNER = "Its description of the detector"
ACTIVATIONS = ("leaky", "linear", "cosine")
HISTORY_COUNTS = ("member", "round", "n_kept", "step")
HISTORY_NUMBERS = ("cut", "distance_loss", "novelty_loss")


@dataclass(frozen=True)
class StoredDetector:
    """The part of the header that describes a detector.

    all_constant : of the min-max scaling; None if columns are taken as they are
    n_ensembles : one, or one for each round
    activation : of the random mapping after its projection; None for the original space
    n_references : rows in φ's space that members without the novelty loss score by; 0 with the novelty loss
    n_records : of the history
    """

    parameters: dict[str, Any]
    n_columns: int
    column_names: list[str] | None
    offset: float
    all_constant: bool | None
    n_ensembles: int
    activation: str | None
    n_targets: int
    n_references: int
    n_records: int


def describe(detector: RDPDetector) -> tuple[dict[str, Any], Arrays]:
    """Take a fitted detector apart into a header of plain values and arrays."""
    check_is_fitted(detector)
    ensemble: Ensemble = detector.ensembles_[-1]
    view = detector.view_ if isinstance(detector.view_, MinMaxView) else None
    mapping = _mapping_of(ensemble)
    arrays: Arrays = {"history": history_array(detector.history_, HISTORY_COUNTS, HISTORY_NUMBERS)}
    if view is not None:
        arrays |= {"scaling.low": view.low, "scaling.width": view.width}
    for number, members in enumerate(detector.ensembles_):
        arrays |= {f"ensemble_{number}.{part}": array for part, array in _ensemble_arrays(members)}
    header = StoredDetector(
        parameters=plain_parameters(detector),
        n_columns=int(detector.n_features_in_),
        column_names=stored_names(detector),
        offset=float(detector.offset_),
        all_constant=None if view is None else bool(view.all_constant),
        n_ensembles=len(detector.ensembles_),
        activation=mapping.activation if isinstance(mapping, Projection) else None,
        n_targets=_n_targets(ensemble, mapping),
        n_references=0 if ensemble.references is None else ensemble.references.shape[1],
        n_records=len(detector.history_),
    )
    return asdict(header), arrays


def layout(description: Any, n_arrays: int) -> Layout:
    """The types and shapes of the arrays that a detector of this description has."""
    stored, detector = _read(description)
    if stored.n_ensembles not in (1, detector.n_rounds) or stored.n_ensembles > n_arrays:
        raise ModelFileError(f"{OWNER} has an impossible 'n_ensembles': {stored.n_ensembles}.")
    width = detector.n_members * detector.n_components
    wanted: Layout = {"history": ("F64", (stored.n_records, len(HISTORY_COUNTS) + len(HISTORY_NUMBERS)))}
    if stored.all_constant is not None:
        wanted |= {f"scaling.{part}": ("F64", (stored.n_columns,)) for part in ("low", "width")}
    for number in range(stored.n_ensembles):
        start = f"ensemble_{number}"
        wanted[f"{start}.weights"] = ("F32", (stored.n_columns, width))
        wanted[f"{start}.bias"] = ("F32", (width,))
        if stored.activation is not None:
            n_targets = detector.n_members * stored.n_targets
            wanted[f"{start}.mapping_weights"] = ("F32", (stored.n_columns, n_targets))
            wanted[f"{start}.mapping_offset"] = ("F32", (n_targets,))
        if stored.n_references:
            shape = (detector.n_members, stored.n_references, detector.n_components)
            wanted[f"{start}.references"] = ("F32", shape)
    return wanted


def rebuild(description: Any, arrays: Arrays) -> RDPDetector:
    """Put a detector together from its description and its arrays, which fit its `layout`."""
    stored, detector = _read(description)
    take_columns(detector, stored.n_columns, stored.column_names)
    detector.view_ = _rebuild_view(stored, arrays)
    detector.ensembles_ = [_rebuild_ensemble(number, stored, detector, arrays) for number in range(stored.n_ensembles)]
    detector.history_ = rebuild_history(arrays["history"], HISTORY_COUNTS, HISTORY_NUMBERS)
    detector.offset_ = float(stored.offset)
    return detector


def _read(description: Any) -> tuple[StoredDetector, RDPDetector]:
    """The description, checked, and an unfitted detector with its parameters."""
    stored = make(StoredDetector, as_mapping(description, "a description of the detector", "It"), OWNER)
    detector = with_parameters(RDPDetector, stored.parameters, RDPDetector._check_parameters, OWNER)
    _require_sense(stored, detector)
    return stored, detector


def _require_sense(stored: StoredDetector, detector: RDPDetector) -> None:
    """See that values which fit their types also fit each other."""
    scores_by_distance = detector.novelty_weight == 0
    sensible = {
        "n_columns": stored.n_columns > 0,
        "column_names": stored.column_names is None or len(stored.column_names) == stored.n_columns,
        "all_constant": (stored.all_constant is None) == (detector.scaling is None),
        "activation": stored.activation in (*ACTIVATIONS, None),
        "n_targets": scores_by_distance or stored.n_targets == detector.n_components,
        "n_references": stored.n_references == (N_SUBSAMPLES * SUBSAMPLE_SIZE if scores_by_distance else 0),
    }
    if stored.activation is None:
        sensible["n_targets"] = stored.n_targets == stored.n_columns and sensible["n_targets"]
    for name, is_sensible in sensible.items():
        if not is_sensible:
            raise ModelFileError(f"{OWNER} has an impossible {name!r}: {getattr(stored, name)!r:.60}.")


def _mapping_of(ensemble: Ensemble) -> RandomMapping:
    return ensemble.mappings[0] if isinstance(ensemble.mappings, list) else ensemble.mappings


def _n_targets(ensemble: Ensemble, mapping: RandomMapping) -> int:
    if isinstance(mapping, Identity):
        return ensemble.weights.shape[0]
    if isinstance(ensemble.mappings, list):
        return cast(Projection, mapping).weights.shape[1]
    return ensemble.n_components


def _ensemble_arrays(ensemble: Ensemble) -> Iterator[tuple[str, Any]]:
    yield "weights", ensemble.weights
    yield "bias", ensemble.bias
    mappings = ensemble.mappings if isinstance(ensemble.mappings, list) else [ensemble.mappings]
    projections = [mapping for mapping in mappings if isinstance(mapping, Projection)]
    if projections:
        yield "mapping_weights", np.concatenate([projection.weights for projection in projections], axis=1)
        yield "mapping_offset", np.concatenate([projection.offset for projection in projections])
    if ensemble.references is not None:
        yield "references", ensemble.references


def _rebuild_view(stored: StoredDetector, arrays: Arrays) -> View:
    if stored.all_constant is None:
        return UnchangedView()
    if not (arrays["scaling.width"] > 0).all():
        raise ModelFileError("Its array 'scaling.width' must be positive.")
    return MinMaxView(arrays["scaling.low"], arrays["scaling.width"], stored.all_constant)


def _rebuild_ensemble(number: int, stored: StoredDetector, detector: RDPDetector, arrays: Arrays) -> Ensemble:
    part = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"ensemble_{number}.")}
    members = [_rebuild_member(member, stored, detector.n_components, part) for member in range(detector.n_members)]
    ensemble = Ensemble(detector.n_members, members[0])
    for place, member in enumerate(members):
        ensemble.put(place, member)
    return ensemble


def _rebuild_member(number: int, stored: StoredDetector, n_components: int, part: Mapping[str, Any]) -> Member:
    here = slice(number * n_components, (number + 1) * n_components)
    mapping: RandomMapping = Identity()
    if stored.activation is not None:
        targets = slice(number * stored.n_targets, (number + 1) * stored.n_targets)
        weights, offset = part["mapping_weights"][:, targets], part["mapping_offset"][targets]
        mapping = Projection(weights, offset, cast(Any, stored.activation))
    references = part["references"][number] if stored.n_references else None
    return Member(Representation(part["weights"][:, here], part["bias"][here]), mapping, references)
