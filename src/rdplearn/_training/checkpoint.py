"""The folder of a `Checkpoint`: what a fit has done so far, each piece written whole or not at all.

`fit.json` says which fit it is; a piece is a safetensors file with the arrays of one member or one training and, as
JSON in its header, the losses so far. Each has a checksum over its content, its name and its fit, so that what was
damaged, renamed or brought here from another fit is refused. Nothing in it is executed. Random draws are not stored:
they are repeated from the seed. While a fit is at work, `fit.lock` keeps others out.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rdplearn._files.atomic import written_whole
from rdplearn._files.lock import is_ours, release
from rdplearn._training.fit_identity import identity_of
from rdplearn._types import Arrays, Matrix
from rdplearn.callbacks import Checkpoint, Records, find
from rdplearn.errors import CheckpointError

FIT, LOCK, ENDING = "fit.json", "fit.lock", ".checkpoint"


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
    fit: str = ""  # checksum of what the fit is

    def require(self, name: str, holds: bool, what: str) -> None:
        """Raise an error that names a piece and what of it cannot be."""
        if not holds:
            raise CheckpointError(
                f"'{self.path / name}{ENDING}' cannot be continued from: {what} cannot be of this fit. Delete it, and "
                "this part starts again."
            )

    def load(self, name: str) -> Piece | None:
        """The piece of this name, if it was saved."""
        from safetensors import SafetensorError, safe_open

        file = self.path / f"{name}{ENDING}"
        if not file.exists():
            return None
        try:
            with safe_open(file, framework="numpy") as content:
                arrays = {key: content.get_tensor(key) for key in content.keys()}  # noqa: SIM118  it is no dictionary
                metadata = content.metadata()
            if metadata["checksum"] != self._checksum(name, metadata["records"], arrays):
                raise ValueError("it does not match its checksum")
            return Piece(checked_records(json.loads(metadata["records"])), arrays)
        except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as fault:
            told = " ".join(str(fault).split())[:120]
            raise CheckpointError(f"'{file}' cannot be read ({told}). Delete it, and this part starts again.") from None

    def save(self, name: str, piece: Piece) -> None:
        """Write a piece, in place of the one that was there."""
        from safetensors.numpy import save

        arrays = {key: np.ascontiguousarray(array) for key, array in piece.arrays.items()}
        records = json.dumps(piece.records)
        metadata = {"records": records, "checksum": self._checksum(name, records, arrays)}
        content = save(arrays, metadata=metadata)
        with written_whole(self.path / f"{name}{ENDING}") as temporary:
            temporary.write_bytes(content)

    def remove(self) -> None:
        """Delete what belongs to this fit."""
        for file in [*self.path.glob(f"*{ENDING}"), *self.path.glob(f".*{ENDING}.*.part"), self.path / FIT]:
            file.unlink(missing_ok=True)

    def _checksum(self, name: str, records: str, arrays: Arrays) -> str:
        shapes = [(key, str(array.dtype), array.shape) for key, array in sorted(arrays.items())]
        digest = hashlib.blake2b(repr((self.fit, name, records, shapes)).encode(), digest_size=16)
        for _, array in sorted(arrays.items()):
            digest.update(np.ascontiguousarray(array).data if array.size else b"")
        return digest.hexdigest()


@dataclass(frozen=True)
class SavedTraining:
    """One training of a fit, and where it is saved."""

    folder: FitFolder
    name: str

    def load(self) -> Piece | None:
        """What was saved of it."""
        return self.folder.load(self.name)

    def require(self, holds: bool, what: str) -> None:
        """Raise an error that says what of it cannot be."""
        self.folder.require(self.name, holds, what)

    def save_if_due(self, records: Records, state: Callable[[], Arrays]) -> None:
        """Save after every so many records."""
        if len(records) % self.folder.every == 0:
            self.folder.save(self.name, Piece(records, state()))


@contextmanager
def open_fit_folder(
    estimator: Any, callbacks: Sequence[Any] | None, matrix: Matrix, seed: int
) -> Iterator[FitFolder | None]:
    """The folder of the checkpoint among the callbacks, begun or found; None if there is no checkpoint.

    Until the block ends, another fit in the same folder is refused; when it ends well, the folder goes away.

    seed : of this fit; without a `random_state` that is a number, the seed of the fit that was begun goes on to be used
    """
    checkpoint = find(Checkpoint, callbacks)
    if checkpoint is None:
        yield None
        return
    path = Path(os.fspath(checkpoint.folder))
    path.mkdir(parents=True, exist_ok=True)
    with locked(path):
        is_fixed = isinstance(estimator.random_state, int | np.integer)
        begun = begun_fit(path, identity_of(estimator, matrix), seed, is_fixed=is_fixed)
        folder = FitFolder(path, checkpoint.every, int(begun["seed"]), digest_of(begun))
        yield folder
        folder.remove()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other fits out of a folder, where the system has locks; a killed process leaves none behind."""
    with open(folder / LOCK, "ab") as file:
        if not is_ours(file.fileno(), folder / LOCK):
            raise CheckpointError(
                f"Another fit is at work in the checkpoint folder '{folder}'. Wait until it has ended, or pass another "
                "folder."
            )
        try:
            yield
        finally:
            (folder / LOCK).unlink(missing_ok=True)
            with suppress(OSError):  # there is something in it
                folder.rmdir()
            release(file.fileno())  # also for processes that were forked meanwhile


def begun_fit(folder: Path, identity: dict[str, Any], seed: int, *, is_fixed: bool) -> dict[str, Any]:
    """What `fit.json` says, written if there is none; an error for another fit. is_fixed : the seed was given."""
    if not (folder / FIT).exists():
        begun = json.loads(json.dumps({"seed": seed, "fit": identity}))
        with written_whole(folder / FIT) as temporary:
            temporary.write_text(json.dumps({**begun, "checksum": digest_of(begun)}, indent=1) + "\n")
        return begun
    begun = read_fit(folder)
    here = {"seed": seed if is_fixed else begun["seed"], **identity}
    there = {"seed": begun["seed"], **begun["fit"]}
    differing = sorted(name for name in {*here, *there} if here.get(name) != there.get(name))
    if differing:
        raise CheckpointError(
            f"The checkpoint folder '{folder}' holds another fit: its {differing[0]!r} is "
            f"{there.get(differing[0])!r:.60}, and now it is {here.get(differing[0])!r:.60}. Pass another folder, or "
            "delete this one to start again."
        )
    return begun


def read_fit(folder: Path) -> dict[str, Any]:
    """What `fit.json` says."""
    try:
        begun = json.loads((folder / FIT).read_text())
        checksum = begun.pop("checksum")
        is_seed = isinstance(begun["seed"], int) and 0 <= begun["seed"] < 2**31
        if is_seed and isinstance(begun["fit"], dict) and checksum == digest_of(begun):
            return begun
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise CheckpointError(f"'{folder / FIT}' is damaged. Delete the folder to start again.")


def digest_of(begun: dict[str, Any]) -> str:
    """Checksum of plain values."""
    return hashlib.blake2b(json.dumps(begun, sort_keys=True).encode(), digest_size=16).hexdigest()


def checked_records(records: Any) -> Records:
    """The records of a piece, if they are what records are."""
    is_list = isinstance(records, list) and all(isinstance(record, dict) for record in records)
    if is_list and all(isinstance(value, int | float) for record in records for value in record.values()):
        return records
    raise ValueError("its records are not losses")
