"""What is looked at before the work: that results can be written, that columns are there, that a model fits the job."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import typer

from rdplearn._files.atomic import checked_target
from rdplearn._results.formats import format_of
from rdplearn._storage.models import load
from rdplearn._version import __version__
from rdplearn.errors import ModelFileError, TableError
from rdplearn.table import Table
from rdplearn.table_model import TableModel

COMMAND_FOR = {"RDPDetector": "score", "RDPTransformer": "embed", "RDPClusterer": "cluster"}


def check_paths(table: str, output: str | None, *others: str | None) -> None:
    """See before the work that its results can be written afterwards, and not over the table."""
    for path in (output, *others):
        if path is None or (path == "-" and path is output):
            continue
        target = checked_target(path)
        if path is output:
            format_of(target)
        if table != "-" and os.path.realpath(table) == str(target):
            raise TableError(f"'{path}' is the table itself. Pass another name for the result.")


def require_columns(table: Table, *, carried: Sequence[str] = (), label: str | None = None) -> None:
    """See that columns named by options are there."""
    for option, columns in {"--id": carried, "--label": [label] if label is not None else []}.items():
        for column in columns:
            if column not in table.column_names:
                near = difflib.get_close_matches(column, table.column_names, n=1)
                hint = f" Did you mean '{near[0]}'?" if near else ""
                raise TableError(f"{option} names column '{column}', which {table.name} has not.{hint}")


def check_resume(resume: bool, table: str, output: str | None, label: str | None) -> None:
    """See that there is something to resume from, and that nothing needs the rows that were done earlier."""
    if resume and (output in (None, "-") or table == "-" or label):
        raise typer.BadParameter("needs a file to read, a file to write (-o) and no --label.", param_hint="--resume")


def check_one_machine(dask: str | None, *, label: str | None = None, report: str | None = None) -> None:
    """See that nothing is asked of Dask that only one machine does."""
    for option, value, done in (("--label", label, "compared"), ("--report", report, "written")):
        if dask is not None and value is not None:
            raise typer.BadParameter(f"is {done} on one machine only. Leave it out with --dask.", param_hint=option)


def identity_of(path: str) -> list[Any] | None:
    """What tells a file from its later or other versions, without reading all of it; None for standard input."""
    if path == "-":
        return None
    status = os.stat(path)
    with open(path, "rb") as file:
        start = hashlib.sha256(file.read(1 << 16)).hexdigest()
    return [os.path.realpath(path), status.st_size, status.st_mtime_ns, start, __version__]


def load_table_model(path: str, estimators: Sequence[str], n_jobs: int) -> TableModel:
    """A model with its table encoder, of a kind that a command takes, to be run on so many threads."""
    model = load(path)
    if not isinstance(model, TableModel):
        raise ModelFileError(
            f"'{path}' holds a model without a table encoder. Make one with 'rdplearn fit', 'embed' or 'cluster'."
        )
    kind = type(model.estimator).__name__
    if kind not in estimators:
        raise ModelFileError(
            f"'{path}' holds an {kind}, and this command needs an {' or '.join(estimators)}. Use 'rdplearn "
            f"{COMMAND_FOR[kind]}'."
        )
    for learner in (model.estimator, getattr(model.estimator, "transformer_", None)):
        if learner is not None:
            learner.set_params(n_jobs=n_jobs)
    return model


def refuse_given(group: Any, *, but: Sequence[str] = (), why: str) -> None:
    """See that options of a group are left as they are, for they would have no effect."""
    for field in fields(group):
        if field.name not in but and getattr(group, field.name) != field.default:
            raise typer.BadParameter(why, param_hint=f"--{field.name.replace('_', '-')}")
