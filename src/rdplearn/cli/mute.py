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
        str | None, typer.Argument(metavar="ANSWERS", help="A file of answers. Needed for a new rule.")
    ] = None,
    row: Annotated[int | None, typer.Option("--row", min=1, help="Make a rule from this answered row.")] = None,
    same: Annotated[
        list[str] | None,
        typer.Option("--same", metavar="COLUMN", help="The rule is for rows with the same value in this column."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the new rule.")] = None,
    removed: Annotated[list[str] | None, typer.Option("--remove", metavar="NAME", help="Remove this rule.")] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the model with the new rules to this file."),
    ] = None,
    talk: TalkOptions,
) -> None:
    """List, add or remove rules that keep known rows from being reported.

    A rule comes from an answered row. Rows with the same first reason, and the same values in the --same columns, are
    no longer reported. Their score is set to the threshold, and score says how many they are.

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
        raise typer.BadParameter("is needed with --row or --remove, and only with them.", param_hint="--output")
    if (row is not None) != (answers_path is not None):
        raise typer.BadParameter("and ANSWERS go together: give both, or none.", param_hint="--row")
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
        raise TableError(f"'{path}' has no answer about row {row:,}. Its first column lists the rows that it has.")
    if lines[0].answer == "anomalous":
        raise TableError(
            f"Row {row:,} of '{path}' was answered as anomalous, and a muting rule says that rows like it are fine. "
            "Pass a row that is normal, or correct the answer in the file."
        )
    return AnswersFile(file.column_names, lines).table()


def print_rules(facts: Mapping[str, Any]) -> None:
    from rdplearn.table.wording import counted, printable

    for rule in facts["rules"]:
        typer.echo(printable(rule["rule"]))
    typer.echo(f"{counted(len(facts['rules']), 'muting rule')} in {facts['model']}.")
