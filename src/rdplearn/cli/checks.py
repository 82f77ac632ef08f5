"""What is looked at before the work: that results can be written, that columns are there, that a model fits the job."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from rdplearn._files.atomic import checked_target, held_together
from rdplearn._results.formats import format_of
from rdplearn._results.resumable import names_beside
from rdplearn._storage.models import load, n_answers_and_rules
from rdplearn._version import __version__
from rdplearn.cli.reading_options import sql_table_of
from rdplearn.errors import ModelFileError, TableError, warn_user
from rdplearn.table import Table
from rdplearn.table.several_files import files_of
from rdplearn.table.wording import column_hint, counted, shown
from rdplearn.table_model import TableModel

SAMPLE_BYTES = 1 << 16
PAGE_ENDINGS = (".html", ".htm")
COMMAND_FOR = {"RDPDetector": "score", "RDPTransformer": "embed", "RDPClusterer": "cluster"}


def check_paths(inputs: Mapping[str, str | list[str] | None], output: str | None, *others: str | None) -> None:
    """See before the work that its results can be written afterwards, and not over what is read, nor over each other.

    inputs : what is read, such as the table and the model, and where it is
    """
    taken: dict[Any, str] = {}
    for what, where in inputs.items():
        paths = [] if where in (None, "-") else files_of(where) or [str(where)]
        taken |= {_place(path): f"the {what} itself" for path in paths}
    for path in others:
        if path is not None:
            _take(path, [checked_target(path)], taken)
    if output is not None and output != "-":
        target = checked_target(output)
        format_of(target)
        _take(output, [target, *names_beside(target)], taken)


def check_keeps_answers(path: str | None) -> None:
    """Refuse to put a new model in the place of one with answers or muting rules: they would be lost."""
    n_answers, n_rules = (0, 0) if path is None else n_answers_and_rules(path)
    if n_answers or n_rules:
        had = f"{counted(n_answers, 'answer')} and {counted(n_rules, 'muting rule')}"
        raise ModelFileError(f"'{path}' has {had}, which a new model would not have. Pass another name with -m.")


def results_held(*paths: str | None) -> AbstractContextManager[None]:
    """Keep other runs away from the results of this one, if there are several: they belong together."""
    targets = [Path(os.path.realpath(path)) for path in paths if path not in (None, "-")]
    return held_together(targets if len(targets) > 1 else [])


def _take(path: str, written: Sequence[Path], taken: dict[Any, str]) -> None:
    """Take the names that a result needs, if none of them is taken."""
    for target in written:
        if _place(target) in taken:
            raise TableError(
                f"'{path if target is written[0] else target}' is {taken[_place(target)]}. Pass another name for the "
                "result."
            )
        taken[_place(target)] = "the name of another result"
    if written[0].exists():
        warn_user(f"'{path}' exists and will be replaced.")


def _place(path: str | os.PathLike[str] | None) -> Any:
    """What two names of one file have in common."""
    try:
        status = os.stat(path or "")
    except OSError:
        return os.path.realpath(path or "")
    return status.st_dev, status.st_ino


def require_columns(table: Table, *, carried: Sequence[str] = (), label: str | None = None) -> None:
    """See that columns named by options are there."""
    for option, columns in {"--id": carried, "--label": [label] if label is not None else []}.items():
        for column in columns:
            if column not in table.column_names:
                hint = column_hint(column, table.column_names)
                raise TableError(f"{option} names column {shown(column)}, which {table.name} does not have.{hint}")


def check_page(path: str | None) -> None:
    """See that a report is named as what it is."""
    if path is not None and Path(path).suffix.lower() not in PAGE_ENDINGS:
        raise TableError(f"'{path}' must end in {' or '.join(PAGE_ENDINGS)}: a report is an HTML page.")


def check_resume(resume: bool, table: str | list[str] | None, output: str | None, label: str | None) -> None:
    """See that there is something to resume from, and that nothing needs the rows that were done earlier."""
    if resume and (output in (None, "-") or sql_table_of(output) or table in (None, "-") or label):
        raise typer.BadParameter("needs a file to read, a file to write (-o) and no --label.", param_hint="--resume")


def check_one_machine(dask: str | None, *, label: str | None = None, report: str | None = None) -> None:
    """See that nothing is asked of Dask that only one machine does."""
    for option, value, done in (("--label", label, "compared"), ("--report", report, "written")):
        if dask is not None and value is not None:
            raise typer.BadParameter(f"is {done} on one machine only. Leave it out with --dask.", param_hint=option)


def files_named(table: str | None, more: Sequence[str] | None, dask: str | None = None) -> str | list[str] | None:
    """The table as it was named, or all its files if several were, or a pattern of them."""
    if dask is not None:
        if more:
            raise typer.BadParameter("takes one folder or 'pattern' of Parquet files.", param_hint="--dask")
        return table
    return files_of([table, *more] if more else table) or table


def identity_of(path: str | list[str] | None, *, n_samples: int = 1024) -> list[Any] | None:
    """What tells a file from its later or other versions: place, size, time, and samples from its start to its end.

    A file of up to 64 MB is read whole, a larger one in so many samples. None for what is no file; of several files a
    list for each.
    """
    several = files_of(path)
    if several is not None:
        return [identity_of(one, n_samples=n_samples) for one in several]
    path = str(path)
    if path == "-" or not os.path.isfile(path):
        return None
    checksum = hashlib.sha256()
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        last = max(status.st_size - SAMPLE_BYTES, 0)
        n_samples = min(n_samples, last // SAMPLE_BYTES + 2)
        for number in range(n_samples):
            file.seek(last * number // max(n_samples - 1, 1))
            checksum.update(file.read(SAMPLE_BYTES))
    return [os.path.realpath(path), status.st_size, status.st_mtime_ns, checksum.hexdigest(), __version__]


def load_table_model(path: str, estimators: Sequence[str], n_jobs: int) -> TableModel:
    """A model with its table encoder, of a kind that a command takes, to be run on so many threads."""
    model = load(path)
    if not isinstance(model, TableModel):
        raise ModelFileError(
            f"'{path}' holds a model without a table encoder. Make one with 'rdplearn fit', 'embed' or 'cluster'."
        )
    kind = type(getattr(model.estimator, "detector", model.estimator)).__name__  # one with answers has a detector
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
