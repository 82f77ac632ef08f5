"""Anomalies, clusters and features in tables, without labels, by predicting random distances.

Names are imported when first used, so that ``import rdplearn`` and ``rdplearn --help`` cost next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rdplearn.clusterer import RDPClusterer as RDPClusterer
    from rdplearn.detector import RDPDetector as RDPDetector
    from rdplearn.errors import RDPWarning as RDPWarning
    from rdplearn.errors import TableError as TableError
    from rdplearn.transformer import RDPTransformer as RDPTransformer

__version__ = "0.1.0"

_HOME = {
    "RDPClusterer": "rdplearn.clusterer",
    "RDPDetector": "rdplearn.detector",
    "RDPTransformer": "rdplearn.transformer",
    "RDPWarning": "rdplearn.errors",
    "TableError": "rdplearn.errors",
}
__all__ = ["RDPClusterer", "RDPDetector", "RDPTransformer", "RDPWarning", "TableError"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'rdplearn' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
