"""`rdplearn fit`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import Dask, KeptModel, MoreTables, TablePath
from rdplearn.cli.reading_options import ReadingOptions
from rdplearn.cli.training_options import TrainingOptions

if TYPE_CHECKING:
    from rdplearn.cli.backends import Here, OnDask
    from rdplearn.table import Table
    from rdplearn.table_model import TableModel

MOST_STEPS_AGAIN = 1000  # training that takes longer is not repeated to see how new rows score


def fit(
    *,
    table: TablePath = None,
    more: MoreTables = None,
    model_path: KeptModel = None,
    update: Annotated[
        str | None,
        typer.Option(
            "--update",
            metavar="MODEL",
            help="Update this model with the table: new members replace the oldest. The file is replaced unless -m "
            "names another.",
        ),
    ] = None,
    unseen: Annotated[
        list[str] | None,
        typer.Option("--id", "--label", metavar="COLUMN", help="Do not use this column; the same as --ignore."),
    ] = None,
    dask: Dask = None,
    talk: TalkOptions,
    reading: ReadingOptions,
    training: TrainingOptions,
) -> None:
    """Learn what is usual in a table, and save it as a model file.

    The table may be larger than memory. It is read once, and the model learns from at most 100,000 of its rows. For a
    model of features or groups use embed or cluster with -m.

    \b
    Examples:
      rdplearn fit sales.csv -m model.safetensors
      rdplearn fit sales.parquet -m model.safetensors --id order --false-alarm-rate 0.001
      rdplearn fit today.csv --update model.safetensors
      rdplearn fit --sql postgresql://host/shop --query "SELECT * FROM sales" -m model.safetensors
    """
    from rdplearn._storage.models import save
    from rdplearn.cli.backends import chosen_backend
    from rdplearn.cli.checks import check_keeps_answers, files_named
    from rdplearn.table_model import threshold_of

    target = model_path or update
    if target is None:
        raise typer.BadParameter("is missing. Say where to write the model.", param_hint="--model")
    if update is not None:
        refuse_options(training, unseen, dask)
    files = files_named(table, more, dask)
    with chosen_backend(dask, reading, talk) as backend:
        backend.check({"table": files}, None, target)
        if update is None or model_path not in (None, update):
            check_keeps_answers(target)
        opened = backend.open(files)
        if update is None:
            model = new_model(backend, opened, unseen or [], training, talk, on_dask=dask is not None)
        else:
            model = updated_model(update, opened, training.jobs)
    save(model, target)
    facts = {
        "table": opened.name.strip("'"),
        "n_rows": model.encoder.n_rows_,
        "n_columns": len(model.encoder.groups_),
        "n_features": len(model.encoder.feature_names_),
        "n_renewed": model.estimator.n_renewed_ or None,
        "threshold": threshold_of(model.estimator),
        "model": target,
    }
    talk.tell(facts, print_fit)


def new_model(
    backend: Here | OnDask, table: Any, unseen: list[str], training: TrainingOptions, talk: TalkOptions, on_dask: bool
) -> TableModel:
    """A model of the table, which remembers how new rows score if that does not take too long."""
    from rdplearn._watch.watching import remember_scores_of, score_sampler
    from rdplearn.cli.checks import require_columns
    from rdplearn.table_model import TableModel, watched

    require_columns(table, carried=unseen)
    detector, encoder = training.detector(verbose=talk.shows_progress), training.encoder(unseen)
    if on_dask:
        return backend.fit(TableModel(detector, encoder), table)
    sampler = score_sampler()
    model = backend.fit(TableModel(detector, encoder), watched(table, sampler, frozenset(encoder.ignore)))
    is_quick = (detector.n_steps or 0) <= MOST_STEPS_AGAIN
    return remember_scores_of(model, sampler) if is_quick else model


def updated_model(path: str, table: Table, n_jobs: int) -> TableModel:
    """The model of a file, gone on with the table."""
    from rdplearn._watch.watching import remember_scores_of, score_sampler
    from rdplearn.cli.checks import load_table_model
    from rdplearn.table_model import watched

    model, before = (load_table_model(path, ["RDPDetector"], n_jobs) for _ in range(2))
    sampler = score_sampler()
    is_answered = hasattr(model.estimator, "detector")  # then 'watch' compares columns alone
    had_scores = not is_answered and model.memory_ is not None and model.memory_.scores is not None
    model.partial_fit(watched(table, sampler, frozenset(model.encoder.ignore)))
    return remember_scores_of(model, sampler, before) if had_scores else model


def refuse_options(training: TrainingOptions, unseen: list[str] | None, dask: str | None) -> None:
    """See that nothing is asked of a model that is fitted already."""
    from rdplearn.cli.checks import refuse_given

    refuse_given(training, but=["jobs"], why="is fixed in the model that --update names. Leave it out.")
    for option, value in {"--id": unseen, "--dask": dask}.items():
        if value:
            raise typer.BadParameter("has no effect with --update. Leave it out.", param_hint=option)


def print_fit(facts: Mapping[str, Any]) -> None:
    if "n_renewed" in facts:
        renewed = "member has" if facts["n_renewed"] == 1 else "members have"
        typer.echo(f"{facts['n_renewed']:,} {renewed} been replaced so far.")
    typer.echo(
        f"{facts['n_rows']:,} rows, {facts['n_columns']} columns as {facts['n_features']} components. Rows with an "
        f"anomaly score above {facts['threshold']:.4g} are reported.\nModel: {facts['model']}"
    )
