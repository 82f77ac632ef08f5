"""Rows and scores as tensors: the messages of the Open Inference Protocol, version 2.

Each column of the table is a tensor of shape [n_rows] or [n_rows, 1]. Tensors stand in the JSON, or as bytes behind it
("binary_tensor_data"), as clients of Triton prefer.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic_core import to_json

from rdplearn._serving.bodies import column_of, parse_json
from rdplearn._serving.models import LoadedModel, ServedModel
from rdplearn._serving.problems import ProblemError, bad_request, unusable_rows
from rdplearn._serving.scoring import Scored
from rdplearn.table.wording import shown
from rdplearn.table_model import REPORTED, SCORE

JSON_LENGTH = "inference-header-content-length"
WHOLE = {f"{kind}{bits}": np.dtype(f"{kind.lower()}{bits}") for kind in ("INT", "UINT") for bits in (8, 16, 32, 64)}
NUMBERS = WHOLE | {f"FP{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)}
DATATYPES = {**NUMBERS, "BOOL": np.dtype(bool), "BYTES": np.dtype(object)}
DATATYPE_OF = {"number": "FP64", "year": "FP64", "boolean": "BOOL"}  # of a kind of column; of all others BYTES
OUTPUTS = {SCORE: "FP64", REPORTED: "BOOL"}


def describe_model(served: ServedModel) -> dict[str, Any]:
    """What the protocol tells of a model."""
    columns = served.current.model.encoder.columns_
    return {
        "name": served.name,
        "versions": [served.current.version],
        "platform": "rdplearn",
        "inputs": [
            {"name": column.source, "datatype": DATATYPE_OF.get(column.kind, "BYTES"), "shape": [-1]}
            for column in columns
            if column.names()
        ],
        "outputs": [{"name": name, "datatype": datatype, "shape": [-1]} for name, datatype in OUTPUTS.items()],
        **({"parameters": {"reload_fault": served.fault}} if served.fault is not None else {}),
    }


class InferRequest:
    """A request for scores.

    Attributes
    ----------
    batch : the rows
    outputs : names of the tensors that are wanted, and whether each is to be sent as bytes
    """

    def __init__(self, body: bytes, json_length: str | None) -> None:
        n_json = _json_length(json_length, len(body))
        self._message = parse_json(body[:n_json])
        if not isinstance(self._message, dict):
            raise bad_request("The body must be a JSON object with a list of 'inputs'.")
        self._bytes = memoryview(body)[n_json:]
        self.outputs = self._wanted_outputs()
        self.batch = self._rows()

    def answer(self, name: str, loaded: LoadedModel, scored: Scored) -> tuple[bytes, dict[str, str]]:
        """The body and the headers of the answer."""
        values = {SCORE: scored.scores, REPORTED: scored.reported}
        tensors, behind = [], []
        for output, as_bytes in self.outputs.items():
            tensor: dict[str, Any] = {"name": output, "datatype": OUTPUTS[output], "shape": [len(scored.scores)]}
            if as_bytes:
                behind.append(values[output].tobytes())
                tensor["parameters"] = {"binary_data_size": len(behind[-1])}
            else:
                tensor["data"] = values[output].tolist()
            tensors.append(tensor)
        told: dict[str, Any] = {"model_name": name, "model_version": loaded.version, "outputs": tensors}
        if isinstance(self._message.get("id"), str):
            told["id"] = self._message["id"]
        if scored.notes:
            told["parameters"] = {"notes": "\n".join(scored.notes)}
        message = to_json(told)
        if not behind:
            return message, {"content-type": "application/json"}
        return b"".join([message, *behind]), {
            "content-type": "application/octet-stream",
            JSON_LENGTH: str(len(message)),
        }

    def _wanted_outputs(self) -> dict[str, bool]:
        as_bytes = _parameter(self._message, "binary_data_output") is True
        wanted = self._message.get("outputs")
        if not wanted:
            return dict.fromkeys(OUTPUTS, as_bytes)
        found = {}
        for output in _mappings(wanted, "outputs"):
            name = output.get("name")
            if not isinstance(name, str) or name not in OUTPUTS:
                raise bad_request(f"There is no output {name!r:.60}. Outputs are {' and '.join(OUTPUTS)}.")
            found[name] = bool(_parameter(output, "binary_data", as_bytes))
        return found

    def _rows(self) -> pa.RecordBatch:
        names, columns = [], []
        for tensor in _mappings(self._message.get("inputs"), "inputs"):
            name = tensor.get("name")
            if not isinstance(name, str):
                raise bad_request(f"Each of the inputs must have a name. Got {name!r:.60} instead.")
            names.append(name)
            columns.append(self._column(name, tensor))
            if len(columns[-1]) != len(columns[0]):
                raise unusable_rows(
                    f"Input {shown(name)} has {len(columns[-1]):,} rows, and {shown(names[0])} has "
                    f"{len(columns[0]):,}. Give all inputs equally many."
                )
        if not columns or not len(columns[0]):
            raise unusable_rows("There are no rows in the request. Send at least one.")
        return pa.RecordBatch.from_arrays(columns, names=names)

    def _column(self, name: str, tensor: Mapping[str, Any]) -> pa.Array:
        datatype, shape = tensor.get("datatype"), tensor.get("shape")
        if not isinstance(datatype, str) or datatype not in DATATYPES:
            raise bad_request(f"Input {shown(name)} has datatype {datatype!r:.60}. Known are {', '.join(DATATYPES)}.")
        n_rows = _rows_of_shape(name, shape)
        n_bytes = _parameter(tensor, "binary_data_size")
        column = (
            self._from_json(name, datatype, tensor) if n_bytes is None else self._from_bytes(name, datatype, n_bytes)
        )
        if len(column) != n_rows:
            raise bad_request(f"Input {shown(name)} has shape {shape} and {len(column):,} values. Make them agree.")
        return column

    def _from_json(self, name: str, datatype: str, tensor: Mapping[str, Any]) -> pa.Array:
        cells = tensor.get("data")
        if not isinstance(cells, list):
            raise bad_request(f"Input {shown(name)} must have its values in a list 'data'.")
        cells = [value for cell in cells for value in (cell if isinstance(cell, list) else (cell,))]
        fitting: tuple[type, ...] = {"BOOL": (bool,), "BYTES": (str,)}.get(datatype, (int, float))
        if datatype in WHOLE:
            fitting = (int,)
        wrong = set(map(type, cells)) - {*fitting, type(None)}
        if wrong:
            told = sorted(kind.__name__ for kind in wrong)[0]
            raise bad_request(f"Input {shown(name)} is said to be {datatype} and has a value of type {told}.")
        return column_of(cells)

    def _from_bytes(self, name: str, datatype: str, n_bytes: Any) -> pa.Array:
        if type(n_bytes) is not int or not 0 <= n_bytes <= len(self._bytes):
            raise bad_request(
                f"Input {shown(name)} has binary_data_size {n_bytes!r:.60}, and {len(self._bytes):,} bytes are left."
            )
        part, self._bytes = self._bytes[:n_bytes], self._bytes[n_bytes:]
        try:
            if datatype == "BYTES":
                return pa.array(_texts(part), pa.string())
            values: npt.NDArray[Any] = np.frombuffer(part, dtype=DATATYPES[datatype])
            return pa.array(values.astype(np.float64) if datatype in NUMBERS else values)
        except (ValueError, struct.error) as fault:
            raise bad_request(f"The bytes of input {shown(name)} are not {datatype}: {fault}.") from None


def _json_length(given: str | None, n_bytes: int) -> int:
    if given is None:
        return n_bytes
    if not given.isdecimal() or int(given) > n_bytes:
        raise bad_request(
            f"The header {JSON_LENGTH} must be the length of the JSON, at most {n_bytes:,}. Got {given!r:.40} instead."
        )
    return int(given)


def _mappings(given: Any, what: str) -> list[Mapping[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise bad_request(f"'{what}' must be a list of JSON objects, one for each tensor.")
    return given


def _parameter(owner: Mapping[str, Any], name: str, default: Any = None) -> Any:
    parameters = owner.get("parameters")
    return parameters.get(name, default) if isinstance(parameters, dict) else default


def _rows_of_shape(name: str, shape: Any) -> int:
    if (
        not isinstance(shape, list)
        or not all(type(size) is int and size >= 0 for size in shape)
        or len(shape) not in (1, 2)
        or shape[1:] not in ([], [1])
    ):
        raise bad_request(f"Input {shown(name)} must have shape [rows] or [rows, 1]. Got {shape!r:.60} instead.")
    return int(shape[0])


def _texts(part: memoryview) -> list[str]:
    """Texts, each after its length in four bytes."""
    texts, place = [], 0
    while place < len(part):
        length = struct.unpack_from("<I", part, place)[0]
        text = part[place + 4 : place + 4 + length]
        if len(text) < length:
            raise ValueError("the last text is cut short")
        texts.append(str(text, "utf-8"))
        place += 4 + length
    return texts


def check_version(served: ServedModel, version: str) -> None:
    """See that the version that is asked for is the one that is served."""
    if version != served.current.version:
        raise ProblemError(
            HTTPStatus.NOT_FOUND,
            f"Model '{served.name}' has version {served.current.version} now. Got {version!r:.60} instead.",
        )
