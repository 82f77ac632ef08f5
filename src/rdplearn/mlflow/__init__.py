"""Models for MLflow: folders that `mlflow models serve` and `mlflow.pyfunc.load_model` take."""

from rdplearn.mlflow.pyfunc import _load_pyfunc as _load_pyfunc  # MLflow calls it by this name
from rdplearn.mlflow.pyfunc import save_model

__all__ = ["save_model"]
