"""What `inspect` tells of a model file: its parameters, its training, and what it says of a row."""

from __future__ import annotations

from typing import Any

from rdplearn._feedback.reviewed import Reviewed
from rdplearn._storage.models import load, training_summary
from rdplearn.clusterer import RDPClusterer
from rdplearn.detector import RDPDetector
from rdplearn.table_model import TableModel, threshold_of


def facts_of_model(path: str) -> dict[str, Any]:
    """All that there is to tell of a model, as plain values."""
    model = load(path)
    estimator: Any = model.estimator if isinstance(model, TableModel) else model
    facts = {
        "model": path,
        "estimator": type(estimator).__name__,
        "n_features": int(estimator.n_features_in_),
        **outcome_of(estimator),
        "parameters": parameters_of(estimator),
        "training": training_summary(estimator),
    }
    if isinstance(model, TableModel):
        facts |= {"n_rows": model.encoder.n_rows_, "columns": model.encoder.describe()}
    return facts


def parameters_of(estimator: Any) -> dict[str, Any]:
    """The parameters; those of a clusterer's transformer under ``transformer__``, as scikit-learn has it."""
    learner = getattr(estimator, "detector", estimator)
    return {name: value for name, value in learner.get_params().items() if not hasattr(value, "get_params")}


def outcome_of(estimator: Any) -> dict[str, Any]:
    """What the model says of a row: anomalous above a threshold, so many features, one of so many clusters."""
    if isinstance(estimator, Reviewed):
        told = {"n_answers": len(estimator.answers_), "muting_rules": [str(rule) for rule in estimator.rules_]}
        return {"threshold": threshold_of(estimator), **told}
    if isinstance(estimator, RDPDetector):
        return {"threshold": threshold_of(estimator)}
    if isinstance(estimator, RDPClusterer):
        return {"n_clusters": estimator.n_clusters, "n_components": estimator.transformer_.n_components_}
    return {"n_components": estimator.n_components_}
