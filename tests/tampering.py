"""Model files that somebody damaged, or changed on purpose."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from safetensors.numpy import save_file

import rdplearn
from rdplearn import ModelFileError

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def parts_of(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["rdplearn"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def rewrite(path: Path, header: dict[str, Any], arrays: dict[str, Any], *, text: str | None = None) -> Path:
    """Keeps checksums right, so that the checks behind them are reached."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items() if name != "header_sha256"}
    header["sha256"] = {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}
    text = json.dumps(header) if text is None else text
    arrays["header_sha256"] = np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8)
    save_file(arrays, path, metadata={"rdplearn": text})
    return path


def assert_refused(path: str | Path, match: str | None = None) -> None:
    with pytest.raises(ModelFileError, match=match) as caught:
        rdplearn.load(path)
    told = str(caught.value)
    assert "\n" not in told
    assert len(told) < 500


def change_a_value(header: Any, data: st.DataObject) -> None:
    """Put any JSON in the place of one value, however deep it lies."""
    holder = header
    while True:
        key = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
        if isinstance(holder[key], dict | list) and holder[key] and data.draw(st.booleans()):
            holder = holder[key]
        else:
            break
    holder[key] = data.draw(JSON_VALUES)


def flip_bytes(content: bytes, data: st.DataObject) -> bytes:
    """Change up to four bytes, half of the time in the header, where each byte means something."""
    flipped = bytearray(content)
    end = data.draw(st.sampled_from([8 + int.from_bytes(content[:8], "little"), len(content)]))
    for place in data.draw(st.lists(st.integers(0, end - 1), min_size=1, max_size=4, unique=True)):
        flipped[place] ^= data.draw(st.integers(1, 255))
    return bytes(flipped)
