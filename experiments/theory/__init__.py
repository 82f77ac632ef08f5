"""What the paper states without an experiment, shown: one statement a module.

Each module has `TITLE`, `settings(quick)`, the measurements to be made, `measure(setting)`, which makes one and gives
numbers by name, and `draw(records, path)`. Lines are in `experiments/results/theory`.
"""

from __future__ import annotations

import importlib
from types import ModuleType

NAMES = ("bounds", "kernel", "class_structure", "learning", "rounding")


def statement(name: str) -> ModuleType:
    """Give a statement by its name."""
    if name not in NAMES:
        raise KeyError(f"The statement must be one of {', '.join(NAMES)}. Got {name!r} instead.")
    return importlib.import_module(f"experiments.theory.{name}")
