"""Fitted models as ONNX files, which run without Python, rdplearn or a training library.

What scoring does is written down node by node: the view of the columns, φ and η of all members, their disagreement, and
the mean over members. Rows go in as they would go into `score_samples`, any number at a time. Where Python raises an
error for NaN and infinity, a graph cannot: such a row gets NaN, and -1 in `predict`, so that it never passes as normal.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rdplearn._files.atomic import written_whole
from rdplearn._model.anomaly_scores import SAME
from rdplearn._model.combination import LEAST, NATS, SMALLEST_SCORE, Combination, Voice
from rdplearn._model.losses import REPRESENTATION_SLOPE
from rdplearn._model.mapping import MAPPING_SLOPE, Identity, Projection
from rdplearn._model.panel import Panel
from rdplearn._model.representation import Representation
from rdplearn._onnx.cells import cell_surprises
from rdplearn._onnx.graph import Graph, Value, leaky, unit_length
from rdplearn._onnx.views import piecewise_linear, view_nodes
from rdplearn._types import Ints
from rdplearn._views.unit_rows import SMALLEST_NORM
from rdplearn._voices import scoring_panels
from rdplearn.clusterer import RDPClusterer
from rdplearn.detector import RDPDetector
from rdplearn.errors import unknown_choice
from rdplearn.table_model import TableModel
from rdplearn.transformer import RDPTransformer

if TYPE_CHECKING:
    from rdplearn._model.mapping import Mapping

INPUT_TYPES = ("float64", "float32", "int64")
Exportable = RDPDetector | RDPTransformer | RDPClusterer | TableModel


def export_onnx(
    model: Exportable,
    path: str | os.PathLike[str],
    *,
    input_type: Literal["float64", "float32", "int64"] = "float64",
) -> None:
    """Write a fitted model as an ONNX file, whole or not at all.

    Its input is ``rows``, of shape (n_rows, n_columns) with any number of rows. Its outputs are called like the methods
    that they agree with, to 1e-5, scores to 0.0005: ``score_samples``, ``decision_function`` and ``predict`` of a
    detector, ``transform`` of a transformer, ``predict`` and ``transform`` of a clusterer. For a `TableModel`, the rows
    are the components that its encoder makes of a table; their names are in the file's metadata under ``columns``.

    Parameters
    ----------
    model : fitted RDPDetector, RDPTransformer, RDPClusterer or TableModel
    path : of the file; an existing one is replaced when the new one is complete
    input_type : the type of ``rows``, since an input in ONNX has one type; rows are scored in double precision anyway

    Notes
    -----
    A row with NaN or infinity gets NaN in every output of numbers, and -1 in ``predict``, of a detector and of a
    clusterer alike.

    Examples
    --------
    >>> import numpy as np, rdplearn
    >>> from tempfile import mkdtemp
    >>> table = np.random.default_rng(0).normal(size=(200, 3))
    >>> detector = rdplearn.RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0).fit(table)
    >>> path = mkdtemp() + "/model.onnx"
    >>> rdplearn.export_onnx(detector, path)
    >>> import onnxruntime
    >>> (scores,) = onnxruntime.InferenceSession(path).run(["score_samples"], {"rows": table})
    >>> bool(np.allclose(scores, detector.score_samples(table), atol=5e-4))
    True
    """
    estimator, names = (
        (model.estimator, model.encoder.feature_names_) if isinstance(model, TableModel) else (model, None)
    )
    if not isinstance(estimator, RDPDetector | RDPTransformer | RDPClusterer):
        raise TypeError(
            "export_onnx takes a fitted RDPDetector, RDPTransformer, RDPClusterer or TableModel. Got "
            f"{type(estimator).__name__} instead."
        )
    if input_type not in INPUT_TYPES:
        raise ValueError(unknown_choice("input_type", "export_onnx", input_type, INPUT_TYPES))
    check_is_fitted(estimator)
    graph = Graph(input_type)
    write: Any = {RDPDetector: write_detector, RDPTransformer: write_transformer, RDPClusterer: write_clusterer}
    next(function for kind, function in write.items() if isinstance(estimator, kind))(graph, estimator)
    if names is None:
        names = list(getattr(estimator, "feature_names_in_", []))
    properties = {"estimator": type(estimator).__name__, "columns": json.dumps([str(name) for name in names])}
    proto = graph.model(type(estimator).__name__, int(estimator.n_features_in_), properties)
    with written_whole(path) as temporary:
        temporary.write_bytes(proto.SerializeToString())


def write_detector(graph: Graph, detector: RDPDetector) -> None:
    """`score_samples`, `decision_function` and `predict`."""
    anomaly_scores = combined_scores(graph, detector)
    scores = graph.or_nan(graph.add("Neg", anomaly_scores), np.float64)
    decision = graph.add("Sub", scores, np.array(detector.offset_))
    is_anomalous = graph.add("Or", graph.add("Less", decision, np.array(0.0)), graph.is_unusable())
    graph.output("score_samples", scores, np.float64, ["n_rows"])
    graph.output("decision_function", decision, np.float64, ["n_rows"])
    graph.output("predict", graph.add("Where", is_anomalous, np.array(-1), np.array(1)), np.int64, ["n_rows"])


def combined_scores(graph: Graph, detector: RDPDetector) -> Value:
    """Anomaly score of every row by all members together, and by its cells, in double precision."""
    combination, panels = detector.combination_, scoring_panels(detector)
    if not combination.voices:
        total = average_of(graph, panels, combination, np.arange(len(combination.weights)))
        return graph.add("Exp", total) if combination.geometric else total
    said = [surprise_of(graph, panels, combination, voice) for voice in combination.voices]
    if detector.cells_ is not None:
        said.append(cell_surprises(graph, detector.cells_))
    largest = graph.add("Unsqueeze", graph.add("Max", *said), np.array([1]))
    surprise = graph.add("Squeeze", piecewise_linear(graph, largest, [combination.scale]), np.array([1]))
    return graph.add("Div", surprise, np.array(NATS))


def average_of(graph: Graph, panels: list[Panel], combination: Combination, members: Ints) -> Value:
    """Weighted sum over some members of their scores, on the scale: (n_rows,) in double precision."""
    total: Value | None = None
    for panel in panels:
        weights = np.where(np.isin(panel.members, members), combination.weights[panel.members], 0.0)
        if not weights.any():
            continue
        rows = view_nodes(graph, graph.finite_rows(), panel.view)
        each_round = [panel.one_round(number) for number in range(panel.n_rounds)]
        rounds = [on_scale(graph, member_scores(graph, rows, one), one, combination) for one in each_round]
        mean = rounds[0] if len(rounds) == 1 else graph.add("Mean", *rounds)
        weighted = graph.add("Mul", graph.cast(mean, np.float64), weights)
        share = graph.add("ReduceSum", weighted, np.array([1]), keepdims=0)
        total = share if total is None else graph.add("Add", total, share)
    assert total is not None
    return total


def surprise_of(graph: Graph, panels: list[Panel], combination: Combination, voice: Voice) -> Value:
    """What one voice says, its price paid."""
    average = graph.add("Unsqueeze", average_of(graph, panels, combination, voice.members), np.array([1]))
    surprise = piecewise_linear(graph, average, [(voice.knots, voice.heights)])
    return graph.add("Sub", graph.add("Squeeze", surprise, np.array([1])), np.array(voice.price, np.float64))


def on_scale(graph: Graph, scores: Value, panel: Panel, combination: Combination) -> Value:
    """Scores of members on the scale that they are averaged on: as they are, or as logarithms."""
    if not combination.geometric:
        return scores
    times_typical = graph.add("Div", scores, np.maximum(panel.typical, np.float32(SMALLEST_SCORE)))
    return graph.add("Log", graph.add("Add", times_typical, np.array(LEAST, np.float32)))


def member_scores(graph: Graph, rows: Value, panel: Panel) -> Value:
    """Anomaly score of every row by every member: (n_rows, n_members)."""
    phi = representations(graph, rows, panel)
    if panel.references is not None:
        return nearest_subsample_scores(graph, phi, panel)
    difference = graph.add("Sub", phi, targets(graph, rows, panel))
    return graph.add("ReduceMean", graph.add("Mul", difference, difference), np.array([2]), keepdims=0)


def representations(graph: Graph, rows: Value, panel: Panel) -> Value:
    """φ of all members: (n_rows, n_members, n_components)."""
    if panel.networks is not None:
        raise ValueError(
            "A model with a 'network' function of your own cannot be exported by rdplearn: export its modules with "
            "torch.onnx.export, or fit with a list of widths instead."
        )
    product = graph.add("Add", graph.add("MatMul", rows, panel.weights), panel.bias)
    phi = by_members(graph, leaky(graph, product, REPRESENTATION_SLOPE), panel.n_seats, panel.weights.shape[1])
    for weights, bias in panel.deeper:
        across = graph.add("Transpose", phi, perm=[1, 0, 2])  # members first: one product for each
        product = graph.add("Add", graph.add("MatMul", across, weights), bias[:, None])
        phi = graph.add("Transpose", leaky(graph, product, REPRESENTATION_SLOPE), perm=[1, 0, 2])
    return phi


def targets(graph: Graph, rows: Value, panel: Panel) -> Value:
    """η of all members: (n_rows, n_members, n_targets)."""
    if isinstance(panel.mappings, Projection):
        eta = projection(graph, rows, panel.mappings, panel.n_components)
        return by_members(graph, eta, panel.n_seats, panel.mappings.weights.shape[1])
    return graph.add("Unsqueeze", one_mapping(panel.mappings[0], rows), np.array([1]))


def projection(graph: Graph, rows: Value, mapping: Projection, n_targets: int) -> Value:
    """A random projection and its function of each number."""
    projected = graph.add("MatMul", rows, mapping.weights)
    if mapping.offset.any():
        projected = graph.add("Add", projected, mapping.offset)
    if mapping.activation == "cosine":
        projected = graph.add("Mul", graph.add("Cos", projected), np.array(np.sqrt(2.0 / n_targets), np.float32))
    elif mapping.activation == "leaky":
        projected = leaky(graph, projected, MAPPING_SLOPE)
    return graph.add("Sub", projected, mapping.centre) if mapping.centre.any() else projected


def one_mapping(mapping: Mapping, rows: Value) -> Value:
    """The original space, which is the same for all members."""
    if isinstance(mapping, Identity):
        return rows
    raise ValueError(
        "A model with a 'mapping' of your own cannot be exported: an ONNX file holds no Python code. Fit with one of "
        "the built-in mappings."
    )


def nearest_subsample_scores(graph: Graph, phi: Value, panel: Panel) -> Value:
    """Distance to the nearest row of each subsample, the mean or one of them: (n_rows, n_members)."""
    assert panel.references is not None
    references = panel.references  # (n_members, n_references, n_components)
    # one row more, which is cut off at the end: of no rows at all, onnxruntime's reductions make a crash
    one_more = graph.add("Concat", phi, np.zeros((1, panel.n_seats, references.shape[2]), np.float32), axis=0)
    across = graph.add("Transpose", one_more, perm=[1, 0, 2])
    products = graph.add("MatMul", across, np.ascontiguousarray(references.transpose(0, 2, 1)))
    own = graph.add("ReduceSum", graph.add("Mul", across, across), np.array([2]), keepdims=1)
    squared = graph.add("Add", graph.add("Mul", products, np.array(-2.0, np.float32)), own)
    squared = graph.add("Add", squared, np.einsum("mrk,mrk->mr", references, references)[:, None])
    shape = np.array([panel.n_seats, 0, panel.n_subsamples, -1])  # 0: as many rows as there are
    nearest = graph.add("ReduceMin", graph.add("Reshape", squared, shape), np.array([3]), keepdims=0)
    is_same = graph.add("Less", nearest, graph.add("Mul", own, np.array(SAME, np.float32)))
    distances = graph.add("Sqrt", graph.add("Where", is_same, np.array(0.0, np.float32), nearest))
    if panel.neighbour:
        smallest = graph.add("TopK", distances, np.array([panel.neighbour]), axis=2, largest=0, sorted=1, n_outputs=2)
        of_members = graph.add("ReduceMax", smallest, np.array([2]), keepdims=0)
    else:
        of_members = graph.add("ReduceMean", distances, np.array([2]), keepdims=0)
    scores = graph.add("Transpose", of_members, perm=[1, 0])
    return graph.add("Slice", scores, np.array([0]), np.array([-1]), np.array([0]))


def by_members(graph: Graph, values: Value, n_members: int, n_numbers: int) -> Value:
    """Members' numbers side by side, `n_numbers` in all, to (n_rows, n_members, numbers of each)."""
    return graph.add("Reshape", values, np.array([0, n_members, n_numbers // n_members]))


def write_transformer(graph: Graph, transformer: RDPTransformer) -> None:
    """`transform`."""
    features = graph.or_nan(feature_nodes(graph, transformer), np.float32, by_columns=True)
    graph.output("transform", features, np.float32, ["n_rows", int(transformer.n_components_)])


def feature_nodes(graph: Graph, transformer: RDPTransformer) -> Value:
    """Features of every row."""
    feature_map = transformer.feature_map_
    if not isinstance(feature_map.phi, Representation):
        raise ValueError(
            "A model with a 'network' function of your own cannot be exported by rdplearn: export its module with "
            "torch.onnx.export, or fit with a list of widths instead."
        )
    features = view_nodes(graph, graph.finite_rows(), transformer.chosen_.view)
    *hidden, (weights, bias) = feature_map.phi.layers
    for hidden_weights, hidden_bias in hidden:
        product = graph.add("Add", graph.add("MatMul", features, hidden_weights), hidden_bias)
        features = leaky(graph, product, REPRESENTATION_SLOPE)
    features = graph.add("Add", graph.add("MatMul", features, weights), bias)
    if feature_map.slope != 1:
        features = leaky(graph, features, feature_map.slope)
    return unit_length(graph, features, SMALLEST_NORM) if feature_map.unit else features


def write_clusterer(graph: Graph, clusterer: RDPClusterer) -> None:
    """`predict` and `transform`."""
    if not isinstance(clusterer.transformer_, RDPTransformer):
        raise ValueError(
            "An RDPClusterer can be exported when its 'transformer' is an RDPTransformer. Got "
            f"{type(clusterer.transformer_).__name__} instead."
        )
    features = feature_nodes(graph, clusterer.transformer_)
    centres = np.asarray(clusterer.cluster_centers_, dtype=np.float64)
    rows = graph.cast(features, np.float64)
    squares = graph.add("ReduceSum", graph.add("Mul", rows, rows), np.array([1]), keepdims=1)
    products = graph.add("Mul", graph.add("MatMul", rows, centres.T), np.array(-2.0))
    squared = graph.add("Add", graph.add("Add", products, squares), np.einsum("ij,ij->i", centres, centres))
    distances = graph.cast(graph.add("Sqrt", graph.add("Max", squared, np.array(0.0))), np.float32)
    nearest = graph.add("ArgMin", distances, axis=1, keepdims=0)
    graph.output("predict", graph.add("Where", graph.is_unusable(), np.array(-1), nearest), np.int64, ["n_rows"])
    graph.output(
        "transform", graph.or_nan(distances, np.float32, by_columns=True), np.float32, ["n_rows", len(centres)]
    )
