"""The container of a stored model: named arrays and one JSON header, in a safetensors file.

It knows nothing of models. Reading executes nothing and allocates nothing that the file does not really hold: first the
sizes are held against the size of the file, then the header against its checksum, the arrays against what the header
promises, and each array against its own checksum. `docs/model_files.md` describes the format for other programs.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from rdplearn._files.atomic import written_whole
from rdplearn._files.checked_values import as_mapping, require
from rdplearn._types import Arrays
from rdplearn._version import __version__
from rdplearn.errors import ModelFileError

Layout = dict[str, tuple[str, tuple[int, ...]]]  # of each array: its type, as safetensors calls it, and its shape

FORMAT_VERSION = 2
METADATA_KEY = "rdplearn"
HEADER_CHECKSUM = "header_sha256"
LONGEST_START = 8 + 1


def write_model_file(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a model, whole or not at all; the same model gives the same bytes."""
    from safetensors.numpy import save

    unusable = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    if unusable:
        raise ValueError(f"The model cannot be stored: its '{unusable[0]}' has NaN or infinity. Fit it again.")
    stored = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    checksums = {name: _checksum(array) for name, array in stored.items()}
    text = json.dumps(
        {"format": FORMAT_VERSION, "library": __version__, **header, "sha256": checksums}, allow_nan=False
    )
    stored[HEADER_CHECKSUM] = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint8)
    content = save(stored, metadata={METADATA_KEY: text})
    with written_whole(path) as temporary:
        temporary.write_bytes(content)


class ModelFile:
    """An open model file: its header, which has been checked, and arrays that are read when it is known what they are.

    Attributes
    ----------
    header : plain values, as `write_model_file` took them
    n_arrays : how many arrays the file has
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self.header = _read_header(file)
        self.n_arrays = len(file.keys()) - 1  # the header's checksum is one more

    def read(self, layout: Layout) -> Arrays:
        """The arrays, of these types and shapes and no others, held against their checksums."""
        _require_layout(self._file, layout)
        return {name: _read_array(self._file, name, self.header["sha256"]) for name in layout}


@contextmanager
def opened_model_file(path: str | os.PathLike[str]) -> Iterator[ModelFile]:
    """Open a model file, and say of whatever turns out to be wrong with it which file it is.

    Raises
    ------
    ModelFileError
        In one line, with the name of the file and the reason.
    """
    from safetensors import SafetensorError, safe_open

    name = repr(os.fspath(path))
    try:
        _require_regular_file(path)
        with safe_open(os.fspath(path), framework="numpy") as file:
            yield ModelFile(file)
    except FileNotFoundError:
        raise ModelFileError(f"There is no file {name}.") from None
    except OSError as fault:
        raise ModelFileError(f"Cannot read {name}: {fault.strerror or fault}.") from None
    except ModelFileError as fault:
        raise ModelFileError(f"{name} cannot be read as a model. {fault}") from None
    except (SafetensorError, UnicodeError) as fault:
        if not looks_like_model_file(path):
            raise ModelFileError(
                f"{name} cannot be read as a model. It is damaged, or another kind of file: name a model that fit, "
                "embed or cluster wrote."
            ) from None
        told = " ".join(str(fault).split())[:120]
        raise ModelFileError(f"{name} cannot be read as a model. It is damaged, or not a model: {told}.") from None


def looks_like_model_file(path: str | os.PathLike[str]) -> bool:
    r"""Whether the file starts as safetensors do: the length of a JSON object, then the object.

    What cannot be read does not: whoever reads it then says why.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "model"
    >>> n_bytes = path.write_bytes(b"age,city\n31,Oslo\n")
    >>> looks_like_model_file(path)
    False
    """
    if not Path(path).is_file():
        return False
    try:
        with open(path, "rb") as file:
            start = file.read(LONGEST_START)
    except OSError:
        return False
    return start[8:] == b"{" and int.from_bytes(start[:8], "little") < os.path.getsize(path)


def _require_regular_file(path: str | os.PathLike[str]) -> None:
    os.stat(path)
    if not Path(path).is_file():
        raise ModelFileError("It is a folder or a device. Pass a file.")


def _read_header(file: Any) -> Mapping[str, Any]:
    text = (file.metadata() or {}).get(METADATA_KEY)
    if text is None:
        raise ModelFileError("It is a safetensors file, but not one of rdplearn.")
    try:
        header = as_mapping(json.loads(text, parse_constant=_refuse_constant), "its header", "It")
    except (ValueError, RecursionError):
        raise ModelFileError("Its header is not JSON, or nested too deeply.") from None
    require("format", header.get("format"), int, "It")
    version: int = header["format"]
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"It was written by rdplearn {str(header.get('library'))!r:.30} in format {version}, and this is "
            f"{__version__}, which reads format {FORMAT_VERSION}. Upgrade rdplearn."
        )
    if version < 1:
        raise ModelFileError(f"It has format {version}, and no such format exists.")
    _require_layout(file, {HEADER_CHECKSUM: ("U8", (32,))}, exactly=False)
    if file.get_tensor(HEADER_CHECKSUM).tobytes() != hashlib.sha256(text.encode()).digest():
        raise ModelFileError("Its header does not match its checksum: the file is damaged.")
    as_mapping(header.get("sha256"), "its checksums", "It")
    return header


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _require_layout(file: Any, layout: Layout, *, exactly: bool = True) -> None:
    found = set(file.keys())
    differing = sorted((found - {HEADER_CHECKSUM}) ^ set(layout) if exactly else set(layout) - found)
    if differing:
        raise ModelFileError(
            f"It {'has an array too many' if differing[0] in found else 'lacks an array'}, {differing[0]!r:.60}."
        )
    for name, (dtype, shape) in layout.items():
        array = file.get_slice(name)
        if (array.get_dtype(), tuple(array.get_shape())) != (dtype, shape):
            raise ModelFileError(
                f"Its array '{name}' must be {dtype} of shape {shape}. Got {array.get_dtype()} of shape "
                f"{tuple(array.get_shape())} instead."
            )


def _read_array(file: Any, name: str, checksums: Mapping[str, Any]) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = file.get_tensor(name)
    if _checksum(array) != checksums.get(name):
        raise ModelFileError(f"Its array '{name}' does not match its checksum: the file is damaged.")
    if not np.isfinite(array).all():
        raise ModelFileError(f"Its array '{name}' has NaN or infinity.")
    return array


def _checksum(array: npt.NDArray[Any]) -> str:
    return hashlib.sha256(array.data if array.size else b"").hexdigest()
