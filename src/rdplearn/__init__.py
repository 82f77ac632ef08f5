"""Anomalies, clusters and features in tables, without labels, by predicting random distances.

Names are imported when first used, so that ``import rdplearn`` and ``rdplearn --help`` cost next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rdplearn import _to_dask
from rdplearn._version import __version__ as __version__

if TYPE_CHECKING:  # the names of _HOME once more, for those who read types
    from rdplearn._detect import detect as detect
    from rdplearn._feedback.reviewed import Reviewed as Reviewed
    from rdplearn._feedback.tables import review as review
    from rdplearn._model.mapping import RandomMapping as RandomMapping
    from rdplearn._onnx.export import export_onnx as export_onnx
    from rdplearn._storage.models import load as load
    from rdplearn._storage.models import save as save
    from rdplearn._training.torch_options import TorchOptions as TorchOptions
    from rdplearn._watch.watching import remember_scores as remember_scores
    from rdplearn._watch.watching import watch as watch
    from rdplearn.callbacks import Checkpoint as Checkpoint
    from rdplearn.callbacks import KeepRounds as KeepRounds
    from rdplearn.callbacks import RecordEvery as RecordEvery
    from rdplearn.callbacks import StopOnPlateau as StopOnPlateau
    from rdplearn.clusterer import RDPClusterer as RDPClusterer
    from rdplearn.detector import RDPDetector as RDPDetector
    from rdplearn.errors import CheckpointError as CheckpointError
    from rdplearn.errors import ModelFileError as ModelFileError
    from rdplearn.errors import RDPWarning as RDPWarning
    from rdplearn.errors import TableError as TableError
    from rdplearn.report import write_report as write_report
    from rdplearn.table import TableEncoder as TableEncoder
    from rdplearn.table_model import TableModel as TableModel
    from rdplearn.transformer import RDPTransformer as RDPTransformer

_HOME = {
    "Checkpoint": "rdplearn.callbacks",
    "CheckpointError": "rdplearn.errors",
    "KeepRounds": "rdplearn.callbacks",
    "ModelFileError": "rdplearn.errors",
    "RDPClusterer": "rdplearn.clusterer",
    "RDPDetector": "rdplearn.detector",
    "RDPTransformer": "rdplearn.transformer",
    "RDPWarning": "rdplearn.errors",
    "RandomMapping": "rdplearn._model.mapping",
    "RecordEvery": "rdplearn.callbacks",
    "Reviewed": "rdplearn._feedback.reviewed",
    "StopOnPlateau": "rdplearn.callbacks",
    "TableEncoder": "rdplearn.table",
    "TableError": "rdplearn.errors",
    "TableModel": "rdplearn.table_model",
    "TorchOptions": "rdplearn._training.torch_options",
    "detect": "rdplearn._detect",
    "export_onnx": "rdplearn._onnx.export",
    "load": "rdplearn._storage.models",
    "remember_scores": "rdplearn._watch.watching",
    "review": "rdplearn._feedback.tables",
    "save": "rdplearn._storage.models",
    "watch": "rdplearn._watch.watching",
    "write_report": "rdplearn.report",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'rdplearn' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _open_dispatch() -> Any:
    from rdplearn._distributed import dispatch

    return dispatch


_to_dask.hand_down(_open_dispatch)
