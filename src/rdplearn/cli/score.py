"""`rdplearn score`."""

from __future__ import annotations

from typing import Annotated

import typer

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import Carried, Label, ModelPath, OutputPath, ReadingOptions, TablePath, TopCount


def score(
    model_path: ModelPath,
    table: TablePath,
    talk: TalkOptions,
    reading: ReadingOptions,
    output: OutputPath = None,
    carried: Carried = None,
    label: Label = None,
    n_top: TopCount = 10,
    n_jobs: Annotated[int, typer.Option("--jobs", help="Threads; -1 for all cores.")] = -1,
    resume: Annotated[bool, typer.Option("--resume", help="Continue what a stopped run has begun to write.")] = False,
) -> None:
    """Score the rows of a table, of any size, with a model.

    The output takes its name when it is complete. A run that was stopped leaves FILE.partial beside it, and the same
    command with --resume goes on from there.

    \b
    Examples:
      rdplearn score model.safetensors new.csv
      rdplearn score model.safetensors new.parquet --id order -o scores.parquet
      rdplearn score model.safetensors - -o - < new.csv > scores.csv
    """
    from rdplearn.cli.scoring import Outlet, check_paths, identity_of, require_columns
    from rdplearn.storage import load
    from rdplearn.table_model import TableModel

    check_paths(table, output, None)
    model = load(model_path)
    if not isinstance(model, TableModel):
        raise ValueError(f"'{model_path}' holds a model without a table encoder. Fit one with 'rdplearn fit'.")
    model.estimator.set_params(n_jobs=n_jobs)
    opened = reading.open(table)
    require_columns(opened, carried=carried or [], label=label)
    if resume and (output in (None, "-") or table == "-" or label):
        raise typer.BadParameter("needs a file to read, a file to write (-o) and no --label.", param_hint="--resume")
    made_of = {
        "model": identity_of(model_path),
        "table": identity_of(table),
        "--id": carried or [],
        "way of reading": reading.as_dict(),
    }
    outlet = Outlet(opened, talk, output=output, carried=carried or [], label=label, n_top=n_top)
    outlet.score(model, made_of=made_of, resume=resume)
    outlet.tell({"model": model_path})
