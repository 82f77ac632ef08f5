"""What a model file holds of an `RDPTransformer`: parameters, how rows are prepared, φ, the decoder, the history.

The functions are those of `detector.py`: `describe` takes a fitted transformer apart, `layout` says which arrays
a header asks for, `rebuild` puts it together again.
"""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rdplearn._files.checked_values import as_mapping, make
from rdplearn._model.decoder import Decoder
from rdplearn._model.losses import REPRESENTATION_SLOPE
from rdplearn._model.mapping import MAPPING_NAMES, with_options
from rdplearn._model.representation import Representation
from rdplearn._scoring.features import FeatureMap, map_rows
from rdplearn._storage.common import (
    history_array,
    plain_parameters,
    rebuild_history,
    stored_names,
    stored_output,
    take_columns,
    take_output,
    widths_of,
    with_parameters,
)
from rdplearn._storage.container import Layout
from rdplearn._transformer_parameters import check_parameters
from rdplearn._types import Arrays, Floats
from rdplearn._views.minmax import MinMaxView, UnchangedView
from rdplearn._views.unit_rows import CentredRows, WeightedUnitRows
from rdplearn.defaults import FeatureView, TransformerChoices
from rdplearn.errors import ModelFileError
from rdplearn.transformer import RDPTransformer

OWNER = "Its description of the transformer"
KINDS_OF_ROWS = {
    "unchanged": UnchangedView,
    "minmax": MinMaxView,
    "centred": CentredRows,
    "weighted": WeightedUnitRows,
}
HISTORY_COUNTS = ("step",)


@dataclass(frozen=True)
class StoredTransformer:
    """The part of the header that describes a transformer; what is not explained here is in `TransformerChoices`.

    rows : how they are prepared, one of `KINDS_OF_ROWS`
    unit_rows : centred rows are given length 1
    n_records : of the history
    output : what `set_output` has asked for; absent in older files
    """

    parameters: dict[str, Any]
    n_columns: int
    column_names: list[str] | None
    rows: str
    unit_rows: bool
    mapping: str
    bandwidth: float | None
    n_components: int
    slope: float
    unit_in_loss: bool
    unit_features: bool
    start: float
    n_records: int
    output: str | None


def describe(transformer: RDPTransformer) -> tuple[dict[str, Any], Arrays]:
    """Take a fitted transformer apart into a header of plain values and arrays."""
    check_is_fitted(transformer)
    chosen = transformer.chosen_
    scaling = _scaling_of(chosen.view)
    header = StoredTransformer(
        parameters=plain_parameters(transformer),
        n_columns=int(transformer.n_features_in_),
        column_names=stored_names(transformer),
        rows=next(name for name, kind in KINDS_OF_ROWS.items() if isinstance(chosen.view, kind)),
        unit_rows=isinstance(chosen.view, CentredRows) and chosen.view.unit,
        mapping=str(chosen.mapping),
        bandwidth=None if chosen.bandwidth is None else float(chosen.bandwidth),
        n_components=int(chosen.n_components),
        slope=float(chosen.slope),
        unit_in_loss=bool(chosen.unit_in_loss),
        unit_features=bool(chosen.unit_features),
        start=float(chosen.start),
        n_records=len(transformer.history_),
        output=stored_output(transformer),
    )
    arrays: Arrays = {
        "history": history_array(transformer.history_, HISTORY_COUNTS, _losses(transformer)),
        "weights": transformer.feature_map_.phi.weights,
        "bias": transformer.feature_map_.phi.bias,
    }
    for layer, (weights, bias) in enumerate(transformer.feature_map_.phi.deeper, start=1):
        arrays |= {f"layer_{layer}.weights": weights, f"layer_{layer}.bias": bias}
    if scaling is not None:
        arrays |= {"scaling.low": scaling.low, "scaling.width": scaling.width}
    if isinstance(chosen.view, CentredRows):
        arrays["scaling.centre"] = chosen.view.centre
    if isinstance(chosen.view, WeightedUnitRows):
        arrays["scaling.weights"] = chosen.view.weights
    if transformer.decoder_ is not None:
        arrays |= {"decoder.weights": transformer.decoder_.weights, "decoder.bias": transformer.decoder_.bias}
    return asdict(header), arrays


def layout(description: Any, n_arrays: int) -> Layout:
    """The types and shapes of the arrays that a transformer of this description has."""
    stored, transformer = _read(description)
    n_columns, n_components = stored.n_columns, stored.n_components
    sizes = [*widths_of(transformer), n_components]
    wanted: Layout = {
        "history": ("F64", (stored.n_records, len(HISTORY_COUNTS) + len(_losses(transformer)))),
        "weights": ("F32", (n_columns, sizes[0])),
        "bias": ("F32", (sizes[0],)),
    }
    for layer, (n_in, n_out) in enumerate(itertools.pairwise(sizes), start=1):
        wanted |= {f"layer_{layer}.weights": ("F32", (n_in, n_out)), f"layer_{layer}.bias": ("F32", (n_out,))}
    if stored.rows in ("minmax", "centred"):
        wanted |= {f"scaling.{part}": ("F64", (n_columns,)) for part in ("low", "width")}
    if stored.rows == "centred":
        wanted["scaling.centre"] = ("F32", (n_columns,))
    if stored.rows == "weighted":
        wanted["scaling.weights"] = ("F64", (n_columns,))
    if transformer.reconstruction_weight > 0:
        wanted |= {"decoder.weights": ("F32", (n_columns, n_components)), "decoder.bias": ("F32", (n_columns,))}
    return wanted


def rebuild(description: Any, arrays: Arrays) -> RDPTransformer:
    """Put a transformer together from its description and its arrays, which fit its `layout`."""
    stored, transformer = _read(description)
    take_columns(transformer, stored.n_columns, stored.column_names)
    settled = {field.name: getattr(stored, field.name) for field in fields(TransformerChoices) if field.name != "view"}
    transformer.chosen_ = TransformerChoices(_rebuild_view(stored, arrays), **settled)
    transformer.n_components_ = stored.n_components
    n_deeper = len(widths_of(transformer))
    deeper = [(arrays[f"layer_{layer}.weights"], arrays[f"layer_{layer}.bias"]) for layer in range(1, n_deeper + 1)]
    phi = Representation(arrays["weights"], arrays["bias"], tuple(deeper))
    transformer.feature_map_ = FeatureMap(phi, stored.slope, stored.unit_features)
    transformer.decoder_ = None
    if transformer.reconstruction_weight > 0:
        transformer.decoder_ = Decoder(arrays["decoder.weights"], arrays["decoder.bias"])
    transformer.history_ = rebuild_history(arrays["history"], HISTORY_COUNTS, _losses(transformer))
    return transformer


def is_sound(transformer: RDPTransformer) -> bool:
    """Whether rows of its range, and beyond it where they are cut, get features that are numbers."""
    return bool(np.isfinite(features_in_range(transformer)).all())


def features_in_range(transformer: RDPTransformer) -> Floats:
    """Features of a few rows such as it was fitted on: the lower ends of the columns, the upper ends, and mixtures.

    Where values are cut at so many widths, two rows lie far beyond the ends: a range may be absurd itself.
    """
    scaling, n_columns = _scaling_of(transformer.chosen_.view), int(transformer.n_features_in_)
    low, width = (np.zeros(n_columns), np.ones(n_columns)) if scaling is None else (scaling.low, scaling.width)
    mixture = np.random.default_rng(0).random((8, n_columns))
    shares = np.concatenate([np.full((1, n_columns), 0.0), np.full((1, n_columns), 1.0), mixture])
    largest = np.finfo(np.float64).max
    rows = np.clip(low + shares * width, -largest, largest)
    if scaling is not None:
        rows = np.concatenate([rows, np.full((1, n_columns), largest), np.full((1, n_columns), -largest)])
    return map_rows(rows, transformer.chosen_.view, transformer.feature_map_, transformer.n_components_, None)


def _losses(transformer: RDPTransformer) -> tuple[str, ...]:
    """The losses that its history has."""
    return ("distance_loss", "reconstruction_loss") if transformer.reconstruction_weight > 0 else ("distance_loss",)


def _scaling_of(view: FeatureView) -> MinMaxView | None:
    if isinstance(view, CentredRows):
        return view.columns
    return view if isinstance(view, MinMaxView) else None


def _read(description: Any) -> tuple[StoredTransformer, RDPTransformer]:
    """The description, checked, and an unfitted transformer with its parameters."""
    values = {"output": None, **as_mapping(description, "a description of the transformer", "It")}
    stored = make(StoredTransformer, values, OWNER)
    transformer = with_parameters(RDPTransformer, stored.parameters, check_parameters, OWNER)
    take_output(transformer, stored.output, OWNER)
    _require_sense(stored, transformer)
    return stored, transformer


def _require_sense(stored: StoredTransformer, transformer: RDPTransformer) -> None:
    """See that values which fit their types also fit each other."""
    sensible = {
        "n_columns": stored.n_columns > 0,
        "column_names": stored.column_names is None or len(stored.column_names) == stored.n_columns,
        "rows": stored.rows in _possible_rows(transformer),
        "unit_rows": not stored.unit_rows or stored.rows == "centred",
        "mapping": stored.mapping in MAPPING_NAMES
        and with_options(transformer.mapping).kind in ("auto", stored.mapping),
        "bandwidth": stored.bandwidth is None or stored.bandwidth > 0,
        "n_components": stored.n_components > 0 and transformer.n_components in (None, stored.n_components),
        "slope": stored.slope in (1.0, REPRESENTATION_SLOPE),
        "start": stored.start > 0,
    }
    for name, is_sensible in sensible.items():
        if not is_sensible:
            raise ModelFileError(f"{OWNER} has an impossible {name!r}: {getattr(stored, name)!r:.60}.")


def _possible_rows(transformer: RDPTransformer) -> tuple[str, ...]:
    if transformer.views == "unchanged":
        return ("unchanged",)
    if transformer.views == "minmax" or (transformer.views == "auto" and transformer.pairs == "one"):
        return ("minmax",)
    return ("centred", "weighted")


def _rebuild_view(stored: StoredTransformer, arrays: Arrays) -> FeatureView:
    if stored.rows == "unchanged":
        return UnchangedView()
    if stored.rows == "weighted":
        if (arrays["scaling.weights"] < 0).any():
            raise ModelFileError("Its array 'scaling.weights' must not be negative.")
        return WeightedUnitRows(arrays["scaling.weights"])
    if not (arrays["scaling.width"] > 0).all():
        raise ModelFileError("Its array 'scaling.width' must be positive.")
    columns = MinMaxView(arrays["scaling.low"], arrays["scaling.width"])
    return columns if stored.rows == "minmax" else CentredRows(columns, arrays["scaling.centre"], stored.unit_rows)
