"""The models that are served, each from a file that may be replaced while it is."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rdplearn.errors import ModelFileError
from rdplearn.table_model import TableModel

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
N_DIGITS = 12  # of a file's checksum, by which its version is called
Load = Callable[[str], TableModel]


@dataclass(frozen=True)
class LoadedModel:
    """A model as one file held it.

    version : the first digits of the file's SHA-256
    fitting : the columns of earlier requests, in their order, that had all that is needed
    """

    model: TableModel
    version: str
    fitting: set[tuple[str, ...]] = field(default_factory=set)


class ServedModel:
    """A model by its name, as its file has it now, or as it had it before the file was broken.

    `current` is exchanged at once: a request that has begun goes on with the model that it began with.

    Attributes
    ----------
    current : the model
    fault : what is wrong with the file, if it cannot be read any more; the earlier model then goes on serving
    """

    def __init__(self, name: str, path: str, load: Load) -> None:
        self.name, self.path, self._load = name, path, load
        self.fault: str | None = None
        self._seen = identity(path)
        self.current = self._read()

    def reload(self) -> bool:
        """Look at the file again; whether a new model has taken the place of the old one."""
        found = identity(self.path)
        if found == self._seen:
            return False
        self._seen = found  # before it is read: what is written from now on is looked at the next time
        try:
            loaded = self._read()
        except Exception as fault:  # whatever it is that the file brings about, the old model goes on
            self.fault = f"{str(fault).rstrip('.')}. Version {self.current.version} stays in use."
            return False
        self.fault = None
        is_new = loaded.version != self.current.version
        if is_new:
            self.current = loaded
        return is_new

    def _read(self) -> LoadedModel:
        """Load a private copy: a file that is mapped into memory and cut short by somebody else ends the process."""
        try:
            content = Path(self.path).read_bytes()
        except OSError as fault:
            raise ModelFileError(f"Cannot read {self.path!r}: {fault.strerror or fault}.") from None
        with tempfile.TemporaryDirectory(prefix="rdplearn-") as folder:
            copy = os.path.join(folder, os.path.basename(self.path))
            Path(copy).write_bytes(content)
            try:
                model = self._load(copy)
            except ModelFileError as fault:
                raise ModelFileError(str(fault).replace(copy, self.path)) from None
        return LoadedModel(model, hashlib.sha256(content).hexdigest()[:N_DIGITS])


def identity(path: str) -> tuple[int, ...] | None:
    """What changes when a file is replaced or written to; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def named_paths(given: Sequence[str]) -> dict[str, str]:
    """Names and paths of models, from ``path`` or ``name=path`` each.

    Examples
    --------
    >>> named_paths(["models/orders.safetensors", "web=models/of_last_week.safetensors"])
    {'orders': 'models/orders.safetensors', 'web': 'models/of_last_week.safetensors'}
    """
    found: dict[str, str] = {}
    for entry in given:
        name, is_named, path = entry.partition("=")
        if not is_named or os.path.exists(entry):
            name, path = Path(entry).stem, entry
        if not NAME.fullmatch(name):
            raise ModelFileError(
                f"A model's name must be letters, digits, '.', '_' and '-'. Got {name!r}; pass NAME={path}."
            )
        if name in found:
            raise ModelFileError(f"Two models are called {name!r}. Pass one of them as OTHER={path}.")
        found[name] = path
    return found
