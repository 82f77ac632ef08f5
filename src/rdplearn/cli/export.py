"""`rdplearn export`."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import ModelPath


def export(
    *,
    model_path: ModelPath,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The ONNX file to write.")],
    input_type: Annotated[
        str, typer.Option("--input-type", metavar="TYPE", help="Type of the input: float64, float32 or int64.")
    ] = "float64",
    talk: TalkOptions,
) -> None:
    """Write a model as an ONNX file, which runs without Python.

    Its input is called "rows" and takes numbers: the components that inspect lists, in that order. Texts, dates and
    missing values have to be turned into these first.

    \b
    Examples:
      rdplearn export model.safetensors -o model.onnx
    """
    from rdplearn._onnx.export import export_onnx
    from rdplearn._onnx.graph import OPSET
    from rdplearn._storage.models import load
    from rdplearn.cli.checks import check_paths
    from rdplearn.table_model import TableModel

    check_paths({"model": model_path}, None, output)
    model = load(model_path)
    export_onnx(model, output, input_type=cast(Any, input_type))
    estimator = model.estimator if isinstance(model, TableModel) else model
    facts = {"model": model_path, "onnx": output, "opset": OPSET, "n_features": int(estimator.n_features_in_)}
    words = f"ONNX (opset {OPSET}), {facts['n_features']:,} components per row: {output}"
    talk.tell(facts, lambda _: typer.echo(words))
