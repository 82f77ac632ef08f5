"""`rdplearn score`."""

from __future__ import annotations

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import (
    Dask,
    IfExistsOption,
    Jobs,
    ModelPath,
    MoreTables,
    OutputPath,
    Resume,
    ScoredRowOptions,
    TablePath,
)
from rdplearn.cli.reading_options import ReadingOptions


def score(
    *,
    model_path: ModelPath,
    table: TablePath = None,
    more: MoreTables = None,
    output: OutputPath = None,
    if_exists: IfExistsOption = None,
    wanted: ScoredRowOptions,
    n_jobs: Jobs = -1,
    resume: Resume = False,
    dask: Dask = None,
    talk: TalkOptions,
    reading: ReadingOptions,
) -> None:
    """Score the rows of a table with a saved model.

    The table may be larger than memory. The output file appears when it is complete. A run that was stopped leaves
    FILE.partial; the same command with --resume continues it.

    \b
    Examples:
      rdplearn score model.safetensors new.csv
      rdplearn score model.safetensors new.parquet --id order -o scores.parquet
      rdplearn score model.safetensors - -o - < new.csv > scores.csv
      rdplearn score model.safetensors --sql sqlite:///shop.db --query "SELECT * FROM sales" -o sql:scores
      rdplearn score model.safetensors folder/ -o scores/ --dask tcp://scheduler:8786
    """
    from rdplearn.cli.backends import chosen_backend
    from rdplearn.cli.checks import files_named, identity_of, load_table_model, require_columns
    from rdplearn.cli.score_output import ScoreOutput

    files = files_named(table, more, dask)
    with chosen_backend(dask, reading, talk, if_exists) as backend:
        backend.check({"table": files, "model": model_path}, output, resume=resume, label=wanted.label)
        model_identity = identity_of(model_path)  # before it is read: of a later version the journal must not speak
        model = load_table_model(model_path, ["RDPDetector"], n_jobs)
        opened = backend.open(files)
        require_columns(opened, carried=wanted.ids, label=wanted.label)
        scores = ScoreOutput(backend, opened, output, wanted)
        scores.score(model, made_of=backend.made_of(model_identity, files, wanted.ids), resume=resume)
    scores.tell(model=model_path)
