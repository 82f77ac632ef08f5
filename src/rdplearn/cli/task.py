"""What `embed` and `cluster` do alike: apply a model, fitted on the table or taken from a file, to all its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from rdplearn._storage.models import save
from rdplearn.cli.backends import Here, OnDask
from rdplearn.cli.checks import files_named, identity_of, load_table_model, refuse_given, require_columns
from rdplearn.cli.options import ClassedRowOptions, FileOptions
from rdplearn.cli.results import Apply, Pass, Watcher, Written
from rdplearn.cli.training_options import FeatureOptions
from rdplearn.table_model import TableModel

NO_EFFECT = "has no effect on a model that is fitted already. Leave it out, or leave out MODEL."


@dataclass(frozen=True)
class Task:
    """A table, what is to be made of it, and where."""

    table: Any
    path: str | list[str] | None  # of the table; None in a database
    files: FileOptions
    wanted: ClassedRowOptions
    backend: Here | OnDask
    model_identity: Any  # of the file that was named, before it was read

    def model(self, estimator: Any, training: FeatureOptions) -> TableModel:
        """The model of the file, or else this estimator fitted on the table, and kept if that was asked for."""
        if self.files.model is not None:
            refuse_given(training, but=["jobs"], why=NO_EFFECT)
            return load_table_model(self.files.model, [type(estimator).__name__], training.jobs)
        model = self.backend.fit(TableModel(estimator, training.encoder(self.wanted.all())), self.table)
        if self.files.kept_model is not None:
            save(model, self.files.kept_model)
        return model

    def write(self, apply: Apply, model: TableModel, doing: str, watchers: Sequence[Watcher | None]) -> Written:
        """Apply the model to all rows, and send them where they belong."""
        here = [watcher for watcher in watchers if watcher is not None]
        output, ids, resume = self.files.output, self.wanted.ids, self.wanted.resume
        return self.backend.write(Pass(apply, model, self.table, doing, output, ids, here, self._made_of(), resume))

    def _made_of(self) -> Mapping[str, Any] | None:
        """What decides the content of the output; None if the model is not kept, so that nothing can be continued."""
        identity = self.model_identity
        if identity is None and self.files.kept_model is not None:
            identity = identity_of(self.files.kept_model)
        return None if identity is None else self.backend.made_of(identity, self.path, self.wanted.ids)


def open_task(
    files: FileOptions, wanted: ClassedRowOptions, backend: Here | OnDask, report_path: str | None = None
) -> Task:
    """See before the work that all that is named is there and that its results can be written."""
    if files.model is not None and files.kept_model is not None:
        raise typer.BadParameter(NO_EFFECT, param_hint="--model")
    tables = files.tables
    path = files_named(tables[0], tables[1:], wanted.dask) if tables else None
    if path is None and files.model is not None and backend.reading.sql is None:
        raise typer.BadParameter(f"'{files.model}' is a model. Name the table after it.", param_hint="TABLE")
    inputs: dict[str, str | list[str] | None] = {"table": path, "model": files.model}
    backend.check(inputs, files.output, files.kept_model, report_path, resume=wanted.resume, label=wanted.label)
    if wanted.resume and files.model is None:
        raise typer.BadParameter(
            "needs the MODEL that the output was begun with, before TABLE: the one that -m has kept.",
            param_hint="--resume",
        )
    table = backend.open(path)
    require_columns(table, carried=wanted.ids, label=wanted.label)
    return Task(table, path, files, wanted, backend, None if files.model is None else identity_of(files.model))
