"""An autoencoder as users find it in PyOD: the error of reconstructing a row through a bottleneck."""

from __future__ import annotations

from typing import Any, ClassVar

from experiments.baselines.pyod_detector import PyODDetector


class PyODAutoEncoder(PyODDetector):
    """PyOD's, with its own sizes (64, 32) and 10 epochs."""

    module = "auto_encoder"
    class_name = "AutoEncoder"
    options: ClassVar[dict[str, Any]] = {"verbose": 0, "device": "cpu"}
    takes_seed = True
