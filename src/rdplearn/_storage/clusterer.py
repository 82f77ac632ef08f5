"""What a model file holds of an `RDPClusterer`: its parameters, the centres, the fitted rows' groups, its transformer.

The functions are those of `detector.py`: `describe` takes a fitted clusterer apart, `layout` says which arrays a
header asks for, `rebuild` puts it together again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils.validation import check_is_fitted

from rdplearn._files.checked_values import as_mapping, make
from rdplearn._storage import transformer as stored_transformer
from rdplearn._storage.common import (
    plain_parameters,
    stored_names,
    stored_output,
    take_columns,
    take_output,
    with_parameters,
)
from rdplearn._storage.container import Layout
from rdplearn._transformer_parameters import check_parameters
from rdplearn._types import Arrays, arrays_under
from rdplearn.clusterer import RDPClusterer
from rdplearn.errors import ModelFileError
from rdplearn.transformer import RDPTransformer

OWNER = "Its description of the clusterer"
OF_TRANSFORMER = "transformer."  # its arrays' names begin with this


@dataclass(frozen=True)
class StoredClusterer:
    """The part of the header that describes a clusterer.

    parameters : without `transformer`
    transformer_parameters : of the transformer that was handed in; None if it was left to the clusterer
    transformer : the description of the fitted one
    kmeans_seed : the seed of K-means
    in_mini_batches : K-means learned from mini-batches
    n_rows : that were fitted
    output : what `set_output` has asked for; absent in older files
    """

    parameters: dict[str, Any]
    n_columns: int
    column_names: list[str] | None
    transformer_parameters: dict[str, Any] | None
    transformer: dict[str, Any]
    kmeans_seed: int
    in_mini_batches: bool
    inertia: float
    n_rows: int
    output: str | None


def describe(clusterer: RDPClusterer) -> tuple[dict[str, Any], Arrays]:
    """Take a fitted clusterer apart into a header of plain values and arrays."""
    check_is_fitted(clusterer)
    given = clusterer.transformer
    if not isinstance(given, RDPTransformer | None):
        raise ValueError(
            "A clusterer with a transformer of another kind than RDPTransformer cannot be stored: a model file holds "
            f"no code. Got {given!r:.60}: pickle the clusterer instead."
        )
    transformer, arrays = stored_transformer.describe(clusterer.transformer_)
    # after a fit on partitions `labels_` is lazy, of any size; K-means has those of the rows that it learned from
    labels = clusterer.labels_ if isinstance(clusterer.labels_, np.ndarray) else clusterer.kmeans_.labels_
    parameters = plain_parameters(clusterer)
    del parameters["transformer"]
    header = StoredClusterer(
        parameters=parameters,
        n_columns=int(clusterer.n_features_in_),
        column_names=stored_names(clusterer),
        transformer_parameters=None if given is None else plain_parameters(given),
        transformer=transformer,
        kmeans_seed=int(clusterer.kmeans_.random_state),
        in_mini_batches=isinstance(clusterer.kmeans_, MiniBatchKMeans),
        inertia=float(clusterer.inertia_),
        n_rows=len(labels),
        output=stored_output(clusterer),
    )
    return asdict(header), {
        "centres": clusterer.cluster_centers_,
        "labels": labels.astype(np.int32),
        **{f"{OF_TRANSFORMER}{name}": array for name, array in arrays.items()},
    }


def layout(description: Any, n_arrays: int) -> Layout:
    """The types and shapes of the arrays that a clusterer of this description has."""
    stored, clusterer = _read(description)
    of_transformer = stored_transformer.layout(stored.transformer, n_arrays)
    return {
        "centres": ("F32", (clusterer.n_clusters, stored.transformer["n_components"])),
        "labels": ("I32", (stored.n_rows,)),
        **{f"{OF_TRANSFORMER}{name}": wanted for name, wanted in of_transformer.items()},
    }


def rebuild(description: Any, arrays: Arrays) -> RDPClusterer:
    """Put a clusterer together from its description and its arrays, which fit its `layout`."""
    stored, clusterer = _read(description)
    take_columns(clusterer, stored.n_columns, stored.column_names)
    labels = arrays["labels"]
    if stored.n_rows and not 0 <= labels.min() <= labels.max() < clusterer.n_clusters:
        raise ModelFileError(f"Its array 'labels' must hold clusters from 0 to {clusterer.n_clusters - 1}.")
    clusterer.transformer_ = stored_transformer.rebuild(stored.transformer, arrays_under(OF_TRANSFORMER, arrays))
    clusterer.kmeans_ = _rebuild_kmeans(stored, clusterer, arrays["centres"])
    clusterer.labels_ = clusterer.kmeans_.labels_ = labels
    clusterer.inertia_ = clusterer.kmeans_.inertia_ = float(stored.inertia)
    clusterer.cluster_centers_ = clusterer.kmeans_.cluster_centers_
    return clusterer


def is_sound(clusterer: RDPClusterer) -> bool:
    """Whether rows of its range get distances that are numbers."""
    features = stored_transformer.features_in_range(clusterer.transformer_)
    return bool(np.isfinite(features).all() and np.isfinite(clusterer._distances(features)).all())


def _read(description: Any) -> tuple[StoredClusterer, RDPClusterer]:
    """The description, checked, and an unfitted clusterer with its parameters."""
    values = {"output": None, **as_mapping(description, "a description of the clusterer", "It")}
    stored = make(StoredClusterer, values, OWNER)
    if "transformer" in stored.parameters:
        raise ModelFileError(f"{OWNER} has an unknown parameter, 'transformer'.")
    clusterer = with_parameters(RDPClusterer, stored.parameters, RDPClusterer._validate_params, OWNER)
    if stored.transformer_parameters is not None:
        clusterer.transformer = with_parameters(RDPTransformer, stored.transformer_parameters, check_parameters, OWNER)
    take_output(clusterer, stored.output, OWNER)
    sensible = {
        "n_columns": stored.n_columns > 0 and stored.transformer.get("n_columns") == stored.n_columns,
        "column_names": stored.column_names is None or len(stored.column_names) == stored.n_columns,
        "kmeans_seed": stored.kmeans_seed < 2**32,
        "inertia": stored.inertia >= 0,
    }
    for name, is_sensible in sensible.items():
        if not is_sensible:
            raise ModelFileError(f"{OWNER} has an impossible {name!r}: {getattr(stored, name)!r:.60}.")
    return stored, clusterer


def _rebuild_kmeans(stored: StoredClusterer, clusterer: RDPClusterer, centres: Any) -> KMeans | MiniBatchKMeans:
    kind = MiniBatchKMeans if stored.in_mini_batches else KMeans
    kmeans = kind(clusterer.n_clusters, n_init=clusterer.n_init, random_state=stored.kmeans_seed)
    kmeans.cluster_centers_ = centres
    kmeans.n_features_in_ = centres.shape[1]
    kmeans._n_threads = _openmp_effective_n_threads()  # which its fit would have set
    return kmeans
