"""The folder of a `Checkpoint`: what a fit has done so far, each piece written whole or not at all.

`fit.json` says which fit it is; a piece is a safetensors file with the arrays of one member or one training and, as
JSON in its header, the losses so far. Nothing in it is executed. Random draws are not stored: they are repeated
from the seed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rdplearn._files.atomic import written_whole
from rdplearn._types import Arrays, Matrix, row_blocks
from rdplearn._version import __version__
from rdplearn.callbacks import Checkpoint, KeepRounds, Records, find, record_every
from rdplearn.errors import CheckpointError

FIT, ENDING = "fit.json", ".checkpoint"
NOT_COMPARED = ("n_jobs", "verbose", "random_state", "callbacks")


@dataclass(frozen=True)
class Piece:
    """A part of a fit that has been saved."""

    records: Records
    arrays: Arrays


@dataclass(frozen=True)
class FitFolder:
    """A folder that belongs to one fit. every : how many rounds or records lie between two saves."""

    path: Path
    every: int
    seed: int

    def load(self, name: str) -> Piece | None:
        """The piece of this name, if it was saved."""
        from safetensors import SafetensorError, safe_open

        file = self.path / f"{name}{ENDING}"
        if not file.exists():
            return None
        try:
            with safe_open(file, framework="numpy") as content:
                arrays = {key: content.get_tensor(key) for key in content.keys()}  # noqa: SIM118  it is no dictionary
                return Piece(json.loads(content.metadata()["records"]), arrays)
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as fault:
            told = " ".join(str(fault).split())[:120]
            raise CheckpointError(f"'{file}' cannot be read ({told}). Delete it, and this part begins anew.") from None

    def save(self, name: str, piece: Piece) -> None:
        """Write a piece, in place of the one that was there."""
        from safetensors.numpy import save

        arrays = {key: np.ascontiguousarray(array) for key, array in piece.arrays.items()}
        content = save(arrays, metadata={"records": json.dumps(piece.records)})
        with written_whole(self.path / f"{name}{ENDING}") as temporary:
            temporary.write_bytes(content)

    def remove(self) -> None:
        """Delete what belongs to this fit, and the folder if nothing else is in it."""
        for file in [*self.path.glob(f"*{ENDING}"), *self.path.glob(f".*{ENDING}.*.part"), self.path / FIT]:
            file.unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()


@dataclass(frozen=True)
class SavedTraining:
    """One training of a fit, and where it is saved."""

    folder: FitFolder
    name: str

    def load(self) -> Piece | None:
        """What was saved of it."""
        return self.folder.load(self.name)

    def save_if_due(self, records: Records, state: Callable[[], Arrays]) -> None:
        """Save after every so many records."""
        if len(records) % self.folder.every == 0:
            self.folder.save(self.name, Piece(records, state()))


def open_fit_folder(estimator: Any, callbacks: Sequence[Any] | None, matrix: Matrix, seed: int) -> FitFolder | None:
    """The folder of the checkpoint among the callbacks, begun or found; None if there is no checkpoint.

    seed : of this fit; without a `random_state` that is a number, the seed of the fit that was begun goes on to be used
    """
    checkpoint = find(Checkpoint, callbacks)
    if checkpoint is None:
        return None
    folder = Path(os.fspath(checkpoint.folder))
    identity = identity_of(estimator, matrix)
    if not (folder / FIT).exists():
        folder.mkdir(parents=True, exist_ok=True)
        with written_whole(folder / FIT) as temporary:
            temporary.write_text(json.dumps({"seed": seed, "fit": identity}, indent=1) + "\n")
        return FitFolder(folder, checkpoint.every, seed)
    begun = read_fit(folder)
    is_fixed = isinstance(estimator.random_state, int | np.integer)
    here = {"seed": seed if is_fixed else begun["seed"], **identity}
    there = {"seed": begun["seed"], **begun["fit"]}
    differing = sorted(name for name in {*here, *there} if here.get(name) != there.get(name))
    if differing:
        raise CheckpointError(
            f"The checkpoint folder '{folder}' holds another fit: its {differing[0]!r} is "
            f"{there.get(differing[0])!r:.60}, and now it is {here.get(differing[0])!r:.60}. Pass another folder, or "
            "delete this one to begin anew."
        )
    return FitFolder(folder, checkpoint.every, int(begun["seed"]))


def read_fit(folder: Path) -> dict[str, Any]:
    """What `fit.json` says."""
    try:
        begun = json.loads((folder / FIT).read_text())
        if isinstance(begun["seed"], int) and isinstance(begun["fit"], dict):
            return begun
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise CheckpointError(f"'{folder / FIT}' is damaged. Delete the folder to begin anew.")


def identity_of(estimator: Any, matrix: Matrix) -> dict[str, Any]:
    """What must be the same for a fit to be continued: version, parameters and table."""
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NOT_COMPARED}
    return {
        "library": __version__,
        "estimator": type(estimator).__name__,
        **{name: in_words(value) for name, value in parameters.items()},
        "record_every": in_words(record_every(estimator.callbacks)),
        "keep_rounds": in_words(find(KeepRounds, estimator.callbacks) is not None),
        "table": checksum(matrix),
    }


def in_words(value: Any) -> Any:
    """A parameter as text that is the same in every process: functions by their names.

    Examples
    --------
    >>> in_words(len), in_words(0.5), in_words({"contrast": (len, 2.0)})
    ('builtins.len', '0.5', {'contrast': ['builtins.len', '2.0']})
    """
    if isinstance(value, dict):
        return {str(name): in_words(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [in_words(part) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: in_words(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.generic):
        return repr(value.item())
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    kind = type(value)
    has_address = " at 0x" in repr(value)
    return f"{kind.__module__}.{kind.__qualname__}" if has_address else repr(value)


def checksum(matrix: Matrix) -> str:
    """Of the shape and every value of a table."""
    digest = hashlib.blake2b(repr((matrix.shape, str(matrix.dtype))).encode(), digest_size=16)
    for block in row_blocks(matrix.shape[0]):
        rows = matrix[block]
        parts = (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows,)
        for part in parts:
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()
