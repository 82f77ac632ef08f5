"""A detector with its table encoder as a model of MLflow's `pyfunc` flavour."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rdplearn._storage.models import load, save
from rdplearn._version import __version__
from rdplearn.detector import RDPDetector
from rdplearn.table_model import REPORTED, SCORE, TableModel, anomaly_scores_of

if TYPE_CHECKING:
    import pandas as pd

FILE = "model.safetensors"


def save_model(
    model: TableModel, path: str | os.PathLike[str], *, pip_requirements: Sequence[str] | None = None
) -> None:
    """Write a fitted model as a folder for MLflow; its `predict` gives ``anomaly_score`` and ``anomalous`` of each row.

    The folder holds a model file of `rdplearn.save`, which executes nothing, and what MLflow writes beside it.

    Parameters
    ----------
    model : TableModel of an RDPDetector
    path : of a folder that is not there yet
    pip_requirements : sequence of str, optional
        What MLflow is to install where it serves the model; by default this version of rdplearn.

    Examples
    --------
    >>> import pandas as pd, rdplearn, rdplearn.mlflow
    >>> people = pd.DataFrame({"age": [31, 57, 44, 45] * 50, "city": ["Oslo", "Rome"] * 100})
    >>> detector = rdplearn.RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0)
    >>> model = rdplearn.TableModel(detector).fit(people)
    >>> rdplearn.mlflow.save_model(model, "people_model")  # doctest: +SKIP
    >>> mlflow.pyfunc.load_model("people_model").predict(people)  # doctest: +SKIP
    """
    estimator = model.estimator if isinstance(model, TableModel) else None
    if not isinstance(getattr(estimator, "detector", estimator), RDPDetector):  # one with answers has a detector
        raise TypeError(
            f"rdplearn.mlflow.save_model takes a TableModel of an RDPDetector. Got {model!r:.60} instead; fit one with "
            "TableModel(RDPDetector()).fit(table)."
        )
    mlflow = _require_mlflow()
    with TemporaryDirectory() as folder:
        save(model, os.path.join(folder, FILE))
        mlflow.pyfunc.save_model(
            path=os.fspath(path),
            loader_module="rdplearn.mlflow",
            data_path=os.path.join(folder, FILE),
            signature=_signature(model),
            pip_requirements=[f"rdplearn=={__version__}"] if pip_requirements is None else list(pip_requirements),
        )


class ScoringModel:
    """What MLflow calls.

    Examples
    --------
    >>> import pandas as pd, rdplearn
    >>> people = pd.DataFrame({"age": [31, 57, 44, 45] * 50, "city": ["Oslo", "Rome"] * 100})
    >>> detector = rdplearn.RDPDetector(n_members=2, n_rounds=1, n_steps=50, random_state=0)
    >>> model = ScoringModel(rdplearn.TableModel(detector).fit(people))
    >>> model.predict(pd.DataFrame({"age": [44, 9000], "city": ["Rome", "Rome"]})).columns.tolist()
    ['anomaly_score', 'anomalous']
    """

    def __init__(self, model: TableModel) -> None:
        self.model = model

    def predict(self, model_input: Any, params: Any = None) -> pd.DataFrame:
        """Scores, the higher the less normal, and whether each row is reported."""
        import pandas as pd

        normality = self.model.score_samples(model_input)
        index = getattr(model_input, "index", None)
        reported = normality < self.model.estimator.offset_
        return pd.DataFrame({SCORE: anomaly_scores_of(normality), REPORTED: reported}, index=index)


def _load_pyfunc(path: str) -> ScoringModel:
    file = Path(path)
    model = load(file / FILE if file.is_dir() else file)
    assert isinstance(model, TableModel)  # nothing else is saved
    return ScoringModel(model)


def _signature(model: TableModel) -> Any:
    """Which columns a row must have. Their types are left open: how cells are read is the encoder's business."""
    from mlflow.models import ModelSignature
    from mlflow.types.schema import AnyType, ColSpec, Schema

    needed = [column.source for column in model.encoder.columns_ if column.names()]
    return ModelSignature(
        inputs=Schema([ColSpec(AnyType(), name) for name in needed]),
        outputs=Schema([ColSpec("double", SCORE), ColSpec("boolean", REPORTED)]),
    )


def _require_mlflow() -> Any:
    try:
        import mlflow.pyfunc
    except ModuleNotFoundError as fault:
        raise ModuleNotFoundError(
            f"rdplearn.mlflow.save_model needs {fault.name}, which is not installed. Run: pip install "
            "'rdplearn[mlflow]'."
        ) from None
    return mlflow
