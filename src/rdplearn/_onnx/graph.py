"""A graph of ONNX operators, written node by node: `graph.add("Sub", rows, low)` is the name of a new value.

Arrays become constants of the graph. Only the `onnx` package is needed, and no training library.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

INSTALL = "pip install 'rdplearn[onnx]'"
OPSET = 18  # of the ONNX standard; onnxruntime 1.14 and later run it
IR_VERSION = 8
Value = str  # the name of a value in the graph


class Graph:
    """Nodes and constants in the order in which they were added."""

    def __init__(self, input_type: str = "float64") -> None:
        require_onnx()
        self.input_type = np.dtype(input_type)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []
        self.n_names = 0
        self._written: dict[Hashable, Value] = {}

    def add(self, operator: str, *inputs: Value | npt.NDArray[Any], n_outputs: int = 1, **attributes: Any) -> Value:
        """Add a node, and return the name of its first output; nobody reads the others."""
        from onnx import helper

        output, *others = [self._new_name(operator) for _ in range(n_outputs)]
        names = [given if isinstance(given, str) else self.constant(given) for given in inputs]
        self.nodes.append(helper.make_node(operator, names, [output, *others], name=output, **attributes))
        return output

    def finite_rows(self) -> Value:
        """The input in double precision; NaN and infinity are made zero here, and told by `or_nan` at the end."""
        return self.once("finite rows", lambda: self.add("Where", self._unusable(), np.array(0.0), self._doubles()))

    def or_nan(self, value: Value, dtype: Any, *, by_columns: bool = False) -> Value:
        """The value, and NaN for rows with NaN or infinity. by_columns : it has several numbers a row."""
        return self.add("Where", self.is_unusable(by_columns=by_columns), np.array(np.nan, dtype), value)

    def is_unusable(self, *, by_columns: bool = False) -> Value:
        """Which rows have NaN or infinity: (n_rows,), or (n_rows, 1) beside several numbers a row."""
        counted = self.cast(self._unusable(), np.float64)
        return self.add(
            "Greater", self.add("ReduceSum", counted, np.array([1]), keepdims=int(by_columns)), np.array(0.0)
        )

    def _doubles(self) -> Value:
        return "rows" if self.input_type == np.float64 else self.once("doubles", lambda: self.cast("rows", np.float64))

    def _unusable(self) -> Value:
        rows = self._doubles()
        return self.once("unusable", lambda: self.add("Or", self.add("IsNaN", rows), self.add("IsInf", rows)))

    def once(self, key: Hashable, write: Callable[[], Value]) -> Value:
        """What `write` adds to the graph; the value that it gave before, if the key is known."""
        if key not in self._written:
            self._written[key] = write()
        return self._written[key]

    def constant(self, array: npt.NDArray[Any]) -> Value:
        """Add a constant."""
        from onnx import numpy_helper

        name = self._new_name("constant")
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def cast(self, value: Value, dtype: Any) -> Value:
        """Convert a value to another type."""
        from onnx import helper

        return self.add("Cast", value, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def output(self, name: str, value: Value, dtype: Any, shape: list[str | int]) -> None:
        """Make a value an output of the graph under a name of its own."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [name], name=f"output_{name}"))
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def model(self, name: str, n_columns: int, properties: dict[str, str]) -> Any:
        """The whole model: one input, `rows`, with any number of rows."""
        import onnx
        from onnx import helper

        from rdplearn._version import __version__

        rows = helper.make_tensor_value_info(
            "rows", helper.np_dtype_to_tensor_dtype(self.input_type), ["n_rows", n_columns]
        )
        graph = helper.make_graph(self.nodes, name, [rows], self.outputs, self.constants)
        model = helper.make_model(
            graph,
            producer_name="rdplearn",
            producer_version=__version__,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        helper.set_model_props(model, properties)
        onnx.checker.check_model(model, full_check=True)
        return model

    def _new_name(self, kind: str) -> str:
        self.n_names += 1
        return f"{kind.lower()}_{self.n_names}"


def require_onnx() -> None:
    """Raise an error that names the remedy unless the onnx package is installed."""
    if find_spec("onnx") is None:
        raise ImportError(f"export_onnx needs the onnx package, which is not installed. Run: {INSTALL}")


def leaky(graph: Graph, values: Value, slope: float) -> Value:
    """Leaky rectifier: the values where positive, `slope` times them elsewhere."""
    return graph.add("Max", values, graph.add("Mul", values, np.array(slope, np.float32)))


def unit_length(graph: Graph, vectors: Value, smallest: float) -> Value:
    """Every row divided by its length; a row shorter than `smallest` becomes zero."""
    squares = graph.add("ReduceSum", graph.add("Mul", vectors, vectors), np.array([1]), keepdims=1)
    lengths = graph.add("Sqrt", squares)
    is_long = graph.add("Greater", lengths, np.array(smallest, np.float32))
    divisor = graph.add("Where", is_long, lengths, np.array(1.0, np.float32))
    return graph.add("Where", is_long, graph.add("Div", vectors, divisor), np.array(0.0, np.float32))
