"""What a model file holds of an `RDPDetector`: its parameters, the scaling, the members, the threshold, the history.

`describe` takes a fitted detector apart, `rebuild` puts it together again, and `layout` says in between which arrays a
header asks for, so that they can be checked before they are read.
"""

from __future__ import annotations

import itertools
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
from rdplearn.torch_settings import torch_settings
from rdplearn.views import MinMaxView, UnchangedView, View

OWNER = "Its description of the detector"
# how to run it is the business of the machine that it runs on
NOT_STORED = ("n_jobs", "verbose", "device", "compile", "callbacks")
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
    arrays: Arrays = {"history": _history_array(detector.history_)}
    if view is not None:
        arrays |= {"scaling.low": view.low, "scaling.width": view.width}
    for number, members in enumerate(detector.ensembles_):
        arrays |= {f"ensemble_{number}.{part}": array for part, array in _ensemble_arrays(members)}
    names = getattr(detector, "feature_names_in_", None)
    header = StoredDetector(
        parameters=_plain_parameters(detector),
        n_columns=int(detector.n_features_in_),
        column_names=None if names is None else [str(name) for name in names],
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
    sizes = _layer_sizes(detector)
    width = detector.n_members * sizes[0]
    wanted: Layout = {"history": ("F64", (stored.n_records, len(HISTORY_COUNTS) + len(HISTORY_NUMBERS)))}
    if stored.all_constant is not None:
        wanted |= {f"scaling.{part}": ("F64", (stored.n_columns,)) for part in ("low", "width")}
    for number in range(stored.n_ensembles):
        start = f"ensemble_{number}"
        wanted[f"{start}.weights"] = ("F32", (stored.n_columns, width))
        wanted[f"{start}.bias"] = ("F32", (width,))
        for layer, (n_in, n_out) in enumerate(itertools.pairwise(sizes), start=1):
            wanted[f"{start}.layer_{layer}.weights"] = ("F32", (detector.n_members, n_in, n_out))
            wanted[f"{start}.layer_{layer}.bias"] = ("F32", (detector.n_members, 1, n_out))
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
    detector.n_features_in_ = stored.n_columns
    if stored.column_names is not None:
        detector.feature_names_in_ = np.array(stored.column_names, dtype=object)
    detector.view_ = _rebuild_view(stored, arrays)
    detector.ensembles_ = [_rebuild_ensemble(number, stored, detector, arrays) for number in range(stored.n_ensembles)]
    detector.history_ = _rebuild_history(arrays["history"])
    detector.offset_ = float(stored.offset)
    return detector


def _read(description: Any) -> tuple[StoredDetector, RDPDetector]:
    """The description, checked, and an unfitted detector with its parameters."""
    stored = make(StoredDetector, as_mapping(description, "a description of the detector", "It"), OWNER)
    unknown = sorted(
        set(stored.parameters) - set(RDPDetector().get_params()) | set(NOT_STORED) & set(stored.parameters)
    )
    if unknown:
        raise ModelFileError(f"{OWNER} has an unknown parameter, {unknown[0]!r:.60}.")
    detector = RDPDetector(**stored.parameters)
    try:
        detector._check_parameters()
        torch_settings(detector)
    except (ValueError, TypeError) as fault:
        raise ModelFileError(f"{OWNER} has an impossible parameter: {' '.join(str(fault).split())[:160]}") from None
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


def _plain_parameters(detector: RDPDetector) -> dict[str, Any]:
    """Parameters as JSON has them. A generator in place of a seed has no plain value and is left out."""
    if not isinstance(detector.mapping, str):
        raise ValueError(
            "A model with a 'mapping' of your own cannot be stored: a model file holds no code. Got "
            f"{detector.mapping!r:.60}: pickle the detector instead, or use one of the built-in mappings."
        )
    if callable(detector.network):
        raise ValueError(
            "A model with a 'network' function of your own cannot be stored: a model file holds no code. Pickle the "
            "detector instead, or fit with a list of widths."
        )
    for name in ("distance_loss", "auxiliary_losses"):
        if getattr(detector, name):
            raise ValueError(
                f"The {name!r} of RDPDetector cannot be stored: a model file holds no code. Scoring does not need it: "
                f"call set_params({name}=None) before you save what was learned with it."
            )
    parameters = {name: value for name, value in detector.get_params().items() if name not in NOT_STORED}
    parameters["network"] = None if detector.network is None else [int(width) for width in detector.network]
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in parameters.items()}
    if not isinstance(plain["random_state"], int | None):
        del plain["random_state"]
    return plain


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
    for layer, (weights, bias) in enumerate(ensemble.deeper, start=1):
        yield f"layer_{layer}.weights", weights
        yield f"layer_{layer}.bias", bias
    mappings = ensemble.mappings if isinstance(ensemble.mappings, list) else [ensemble.mappings]
    projections = [mapping for mapping in mappings if isinstance(mapping, Projection)]
    if projections:
        yield "mapping_weights", np.concatenate([projection.weights for projection in projections], axis=1)
        yield "mapping_offset", np.concatenate([projection.offset for projection in projections])
    if ensemble.references is not None:
        yield "references", ensemble.references


def _history_array(history: list[dict[str, float]]) -> Any:
    """(n_records, 7); a loss that is no number any more is stored as the largest one."""
    rows = [[record[name] for name in (*HISTORY_COUNTS, *HISTORY_NUMBERS)] for record in history]
    array = np.array(rows, dtype=np.float64).reshape(len(rows), len(HISTORY_COUNTS) + len(HISTORY_NUMBERS))
    return np.nan_to_num(array, nan=np.finfo(np.float64).max)


def _rebuild_history(array: Any) -> list[dict[str, float]]:
    n_counts = len(HISTORY_COUNTS)
    return [
        dict(zip(HISTORY_COUNTS, map(int, row[:n_counts]), strict=True))
        | dict(zip(HISTORY_NUMBERS, row[n_counts:], strict=True))
        for row in array.tolist()
    ]


def _rebuild_view(stored: StoredDetector, arrays: Arrays) -> View:
    if stored.all_constant is None:
        return UnchangedView()
    if not (arrays["scaling.width"] > 0).all():
        raise ModelFileError("Its array 'scaling.width' must be positive.")
    return MinMaxView(arrays["scaling.low"], arrays["scaling.width"], stored.all_constant)


def _rebuild_ensemble(number: int, stored: StoredDetector, detector: RDPDetector, arrays: Arrays) -> Ensemble:
    part = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"ensemble_{number}.")}
    sizes = _layer_sizes(detector)
    members = [_rebuild_member(member, stored, sizes, part) for member in range(detector.n_members)]
    ensemble = Ensemble(detector.n_members, members[0])
    for place, member in enumerate(members):
        ensemble.put(place, member)
    return ensemble


def _layer_sizes(detector: RDPDetector) -> list[int]:
    """Numbers that each layer of φ gives."""
    return [*(detector.network or ()), detector.n_components]


def _rebuild_member(number: int, stored: StoredDetector, sizes: list[int], part: Mapping[str, Any]) -> Member:
    here = slice(number * sizes[0], (number + 1) * sizes[0])
    deeper = [
        (part[f"layer_{layer}.weights"][number], part[f"layer_{layer}.bias"][number, 0])
        for layer in range(1, len(sizes))
    ]
    mapping: RandomMapping = Identity()
    if stored.activation is not None:
        targets = slice(number * stored.n_targets, (number + 1) * stored.n_targets)
        weights, offset = part["mapping_weights"][:, targets], part["mapping_offset"][targets]
        mapping = Projection(weights, offset, cast(Any, stored.activation))
    references = part["references"][number] if stored.n_references else None
    phi = Representation(part["weights"][:, here], part["bias"][here], tuple(deeper))
    return Member(phi, mapping, references)
