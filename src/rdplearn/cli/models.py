"""How `embed` and `cluster` come by their model: fitted on the table, or taken from a file that is named before it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import typer

from rdplearn._storage.container import looks_like_model_file
from rdplearn._storage.models import save
from rdplearn.cli.checks import (
    load_table_model,
    refuse_given,
    require_columns,
)
from rdplearn.cli.options import ColumnOptions
from rdplearn.cli.places import Here, OnCluster
from rdplearn.table_model import TableModel

NO_EFFECT = "has no effect on a model that is fitted already. Leave it out, or leave out MODEL."


@dataclass(frozen=True)
class Task:
    """A table, what is to be made of it, and the model to use if there is one."""

    model_path: str | None
    path: str
    table: Any
    output: str | None
    kept_model: str | None
    carried: list[str]
    label: str | None
    place: Here | OnCluster

    def model(self, estimator: Any, columns: ColumnOptions, training: Any) -> TableModel:
        """The model of the file, or else this estimator fitted on the table, and kept if that was asked for."""
        if self.model_path is not None:
            refuse_given(columns, training, but=["jobs"], why=NO_EFFECT)
            return load_table_model(self.model_path, [type(estimator).__name__], training.jobs)
        unseen = [*self.carried, *([self.label] if self.label else [])]
        model = self.place.fit(TableModel(estimator, columns.encoder(unseen)), self.table)
        if self.kept_model is not None:
            save(model, self.kept_model)
        return model

    def made_of(self) -> Mapping[str, Any] | None:
        """What decides the content of the output; None if the model is not kept, so that nothing can be continued."""
        model = self.model_path or self.kept_model
        if model is None:
            return None
        return self.place.made_of(model, self.path, self.carried)


def open_task(
    first: str,
    second: str | None,
    place: Here | OnCluster,
    *,
    output: str | None,
    kept_model: str | None,
    carried: list[str],
    label: str | None,
    resume: bool,
) -> Task:
    """See before the work that all that is named is there and that its results can be written."""
    model_path, path = (None, first) if second is None else (first, second)
    if model_path is not None and kept_model is not None:
        raise typer.BadParameter(NO_EFFECT, param_hint="--model")
    if model_path is None and path != "-" and os.path.isfile(path) and looks_like_model_file(path):
        raise typer.BadParameter(f"'{path}' is a model. Name the table after it.", param_hint="TABLE")
    place.check(path, output, kept_model, resume=resume, label=label)
    if resume and model_path is None:
        raise typer.BadParameter(
            "needs the MODEL that the output was begun with, before TABLE: the one that -m has kept.",
            param_hint="--resume",
        )
    table = place.open(path)
    require_columns(table, carried=carried, label=label)
    return Task(model_path, path, table, output, kept_model, carried, label, place)
