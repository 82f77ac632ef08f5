"""`rdplearn mute`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import ModelPath


def mute(
    *,
    model_path: ModelPath,
    answers_path: Annotated[
        str | None, typer.Argument(metavar="ANSWERS", help="A file of answers, for a new rule.")
    ] = None,
    row: Annotated[int | None, typer.Option("--row", min=1, help="The answered row that the rule is made of.")] = None,
    same: Annotated[
        list[str] | None, typer.Option("--same", metavar="COLUMN", help="This column must be as in that row.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="What to call the rule.")] = None,
    removed: Annotated[list[str] | None, typer.Option("--remove", metavar="NAME", help="Remove this rule.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="The model with the changed rules.")
    ] = None,
    talk: TalkOptions,
) -> None:
    """List, add or remove rules by which rows are fine, whatever their score.

    A rule is made of an answered row: rows with the same first reason, and the same values in some columns, are not
    reported any more. They keep their place at the threshold, and score counts them.

    \b
    Examples:
      rdplearn mute answered.safetensors
      rdplearn mute answered.safetensors sales.csv.answers.csv --row 18 --same city -o quiet.safetensors
      rdplearn mute quiet.safetensors --remove 'tolls, city Oslo' -o loud.safetensors
    """
    from rdplearn._feedback.tables import review
    from rdplearn._storage.models import save
    from rdplearn.cli.checks import check_paths, load_table_model

    changes = row is not None or bool(removed)
    if changes != (output is not None):
        raise typer.BadParameter("goes with --row or --remove, and they with it.", param_hint="--output")
    if (row is not None) != (answers_path is not None):
        raise typer.BadParameter("names a row of ANSWERS, and ANSWERS needs it.", param_hint="--row")
    check_paths({"model": model_path, "answers": answers_path}, None, output)
    model = review(load_table_model(model_path, ["RDPDetector"], -1))
    for rule in removed or ():
        model.unmute(rule)
    if row is not None and answers_path is not None:
        model.mute(answered_row(answers_path, row), same or (), name=name)
    if output is not None:
        save(model, output)
    rules = [{"name": rule.name, "rule": str(rule)} for rule in model.estimator.rules_]
    talk.tell({"model": output or model_path, "rules": rules}, print_rules)


def answered_row(path: str, row: int) -> Any:
    """One row of an answers file, as a table."""
    from rdplearn._feedback.answers_file import AnswersFile, read_answers
    from rdplearn.errors import TableError

    file = read_answers(path)
    lines = [line for line in file.latest() if line.row == row]
    if not lines:
        raise TableError(f"'{path}' has no answer about row {row:,}. Its rows are those in its first column.")
    return AnswersFile(file.column_names, lines).table()


def print_rules(facts: Mapping[str, Any]) -> None:
    for rule in facts["rules"]:
        typer.echo(rule["rule"])
    typer.echo(f"{len(facts['rules']):,} muting rules in {facts['model']}.")
