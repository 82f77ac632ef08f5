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
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import scipy.sparse as sp

from rdplearn._files.atomic import written_whole
from rdplearn._files.lock import is_ours, release
from rdplearn._types import Arrays, Matrix, row_blocks
from rdplearn._version import __version__
from rdplearn.callbacks import Checkpoint, KeepRounds, Records, find, record_every
from rdplearn.errors import CheckpointError

FIT, LOCK, ENDING = "fit.json", "fit.lock", ".checkpoint"
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


def in_words(value: Any, known: frozenset[int] = frozenset()) -> Any:
    """A parameter as text that is the same in every process: functions by their names and by what they do.

    known : functions that are being told already, by their addresses

    Examples
    --------
    >>> in_words(len), in_words(0.5), in_words({"contrast": (len, 2.0)})
    ('builtins.len', '0.5', {'contrast': ['builtins.len', '2.0']})
    >>> in_words(lambda row: row + 1) == in_words(lambda row: row + 2)
    False
    """
    if isinstance(value, dict):
        return {str(name): in_words(part, known) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [in_words(part, known) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: in_words(getattr(value, field.name), known) for field in fields(value)}
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {checksum(np.atleast_1d(value))}"
    if isinstance(value, partial):
        return ["partial", in_words(value.func, known), in_words(value.args, known), in_words(value.keywords, known)]
    if isinstance(value, MethodType):
        return ["method", in_words(value.__func__, known), in_words(value.__self__, known)]
    if isinstance(value, FunctionType):
        return [f"{value.__module__}.{value.__qualname__}", *inside_of(value, known)]
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    kind = type(value)
    if " at 0x" not in repr(value):
        return repr(value)
    called = vars(kind).get("__call__")
    of_class = inside_of(called, known) if isinstance(called, FunctionType) else []
    plain = {name: part for name, part in getattr(value, "__dict__", {}).items() if is_plain(part)}
    name = f"{kind.__module__}.{kind.__qualname__}"
    return [name, *of_class, in_words(plain, known)] if of_class or plain else name


def is_plain(value: Any) -> bool:
    """Whether an attribute can be told in words without going in circles."""
    return isinstance(value, bool | int | float | str | np.ndarray | np.generic | FunctionType | None)


def inside_of(function: FunctionType, known: frozenset[int]) -> list[Any]:
    """What a function does: a checksum of its code, its defaults, and the values of names from around it.

    Functions that it calls are known by their names alone.
    """
    if id(function) in known:
        return []
    known = known | {id(function)}
    code = hashlib.blake2b(repr(code_of(function.__code__)).encode(), digest_size=16).hexdigest()
    held = [cell.cell_contents for cell in function.__closure__ or () if cell_is_filled(cell)]
    brought = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *held]
    return [code, *(in_words(part, known) for part in brought if part is not function)]


def cell_is_filled(cell: Any) -> bool:
    """Whether a name that a function brought along has a value."""
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def code_of(code: CodeType) -> tuple[Any, ...]:
    """What a piece of code does, without where it stands."""
    constants = [
        code_of(constant) if isinstance(constant, CodeType) else sorted(map(repr, constant))
        if isinstance(constant, frozenset) else repr(constant)
        for constant in code.co_consts
    ]  # fmt: skip
    return code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars


def checksum(matrix: Matrix) -> str:
    """Of the shape and every value of a table."""
    digest = hashlib.blake2b(repr((matrix.shape, str(matrix.dtype))).encode(), digest_size=16)
    for block in row_blocks(matrix.shape[0]):
        rows = matrix[block]
        parts = (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows,)
        for part in parts:
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()
