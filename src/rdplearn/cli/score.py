"""`rdplearn score`."""

from __future__ import annotations

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import (
    Carried,
    Jobs,
    Label,
    ModelPath,
    OutputPath,
    ReadingOptions,
    Resume,
    TablePath,
    TopCount,
)


def score(
    model_path: ModelPath,
    table: TablePath,
    talk: TalkOptions,
    reading: ReadingOptions,
    output: OutputPath = None,
    carried: Carried = None,
    label: Label = None,
    n_top: TopCount = 10,
    n_jobs: Jobs = -1,
    resume: Resume = False,
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
    from rdplearn.cli.checks import check_paths, check_resume, identity_of, load_table_model, require_columns
    from rdplearn.cli.scoring import Outlet

    check_paths(table, output, None)
    check_resume(resume, table, output, label)
    model = load_table_model(model_path, ["RDPDetector"], n_jobs)
    opened = reading.open(table)
    require_columns(opened, carried=carried or [], label=label)
    made_of = {
        "model": identity_of(model_path),
        "table": identity_of(table),
        "--id": carried or [],
        "way of reading": reading.as_dict(),
    }
    outlet = Outlet(opened, talk, output=output, carried=carried or [], label=label, n_top=n_top)
    outlet.score(model, made_of=made_of, resume=resume)
    outlet.tell({"model": model_path})
