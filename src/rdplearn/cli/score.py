"""`rdplearn score`."""

from __future__ import annotations

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import (
    Carried,
    Dask,
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
    dask: Dask = None,
) -> None:
    """Score the rows of a table, of any size, with a model.

    The output takes its name when it is complete. A run that was stopped leaves FILE.partial beside it, and the same
    command with --resume goes on from there.

    \b
    Examples:
      rdplearn score model.safetensors new.csv
      rdplearn score model.safetensors new.parquet --id order -o scores.parquet
      rdplearn score model.safetensors - -o - < new.csv > scores.csv
      rdplearn score model.safetensors folder/ -o scores/ --dask tcp://10.0.0.1:8786
    """
    from rdplearn.cli.checks import load_table_model, require_columns
    from rdplearn.cli.places import work_place
    from rdplearn.cli.scoring import Outlet

    with work_place(dask, reading, talk) as place:
        place.check(table, output, None, resume=resume, label=label)
        model = load_table_model(model_path, ["RDPDetector"], n_jobs)
        opened = place.open(table)
        require_columns(opened, carried=carried or [], label=label)
        outlet = Outlet(place, opened, output=output, carried=carried or [], label=label, n_top=n_top)
        outlet.score(model, made_of=place.made_of(model_path, table, carried or []), resume=resume)
    outlet.tell({"model": model_path})
