"""What was looked at and how the model was made: the table, the parameters, the seed, the versions."""

from __future__ import annotations

import platform
import time
from importlib.metadata import version
from pathlib import PurePath
from typing import Any

from rdplearn._version import __version__
from rdplearn.errors import no_rows
from rdplearn.report.charts import mean_losses
from rdplearn.table import Table
from rdplearn.table_model import TableModel

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow")


def describe_table(table: Table, n_rows: int) -> dict[str, Any]:
    """The name of a table, without the folder that it is in, and its size; an error for a table without rows."""
    if n_rows == 0:
        raise no_rows(table.name)
    return {"name": short_name(table.name), "n_rows": n_rows, "n_columns": len(table.column_names)}


def short_name(table: str) -> str:
    """The name of a table without the folder that it is in."""
    return PurePath(table.strip("'")).name


def describe_making(model: TableModel) -> dict[str, Any]:
    """All that there is to say of a model whatever it was made for."""
    learner = getattr(model.estimator, "detector", model.estimator)  # of one that has been answered
    return {
        "columns": model.encoder.describe(),
        "training": describe_training(model.estimator),
        "model": describe_model(learner) | {"n_rows": model.encoder.n_rows_},
        "versions": describe_versions(),
    }


def describe_model(estimator: Any) -> dict[str, Any]:
    """Parameters as plain values, and which of them are not the defaults."""
    parameters = {name: _plain(value) for name, value in estimator.get_params(deep=False).items()}
    defaults = type(estimator)().get_params(deep=False)
    return {
        "estimator": type(estimator).__name__,
        "parameters": parameters,
        "changed": [name for name, value in parameters.items() if value != _plain(defaults[name])],
        "random_state": parameters["random_state"],
        "n_features": int(estimator.n_features_in_),
    }


def describe_training(estimator: Any) -> list[dict[str, float]]:
    """The losses by round and step, mean over members; empty for an estimator that keeps none."""
    trained = getattr(estimator, "transformer_", estimator)
    return mean_losses(getattr(trained, "history_", []))


def describe_versions() -> dict[str, str]:
    """When and with what the report was written."""
    return {
        "written": time.strftime("%Y-%m-%d %H:%M"),
        "rdplearn": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
