"""`rdplearn review`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import Jobs, ModelPath, MoreTables, TablePath
from rdplearn.cli.reading_options import ReadingOptions

if TYPE_CHECKING:
    from rdplearn._feedback.session import ReviewSession

SAID = {"y": "anomalous", "n": "normal", "?": "unsure"}
KEYS = "Anomalous? y yes, n no, ? unsure, u undo, q quit: "


def review(
    *,
    model_path: ModelPath,
    table: TablePath = None,
    more: MoreTables = None,
    answers_path: Annotated[
        str | None, typer.Option("--answers", metavar="FILE", help="File of the answers [TABLE.answers.csv].")
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            help="Which rows to ask about: those with the highest scores (top), or those that teach most (informative)."
        ),
    ] = "top",
    n_columns: Annotated[int, typer.Option("--columns", min=1, help="How many reasons to show for each row.")] = 3,
    n_jobs: Jobs = -1,
    talk: TalkOptions,
    reading: ReadingOptions,
) -> None:
    """Go through unusual rows, and say with a key whether each is an anomaly.

    Each answer changes which row comes next. Answers are saved after every key, to a CSV file. Stop whenever you like:
    the same command goes on from there. Then use tell to add the answers to the model.

    \b
    Examples:
      rdplearn review model.safetensors sales.csv
      rdplearn review model.safetensors --sql sqlite:///shop.db --table sales --answers sales.answers.csv
      rdplearn tell model.safetensors sales.csv.answers.csv -o answered.safetensors
    """
    from rdplearn._feedback.session import ReviewSession
    from rdplearn._feedback.tables import review as reviewed
    from rdplearn.cli.checks import check_paths, files_named, load_table_model

    if table == "-":
        raise typer.BadParameter("must be a file: the keys come from standard input.", param_hint="TABLE")
    files = files_named(table, more)
    reading.check(files)
    if not isinstance(files, str) and answers_path is None:
        several = "--sql" if files is None else "several files"
        raise typer.BadParameter(
            f"is needed with {several}: name the file to keep the answers in.", param_hint="--answers"
        )
    path = answers_path if answers_path is not None else f"{table}.answers.csv"
    if not os.path.exists(path):
        check_paths({"table": files, "model": model_path}, None, path)
    model = reviewed(load_table_model(model_path, ["RDPDetector"], n_jobs))
    session = ReviewSession(model, reading.open(files), path, strategy=strategy)
    ask(session, n_columns, aside=talk.as_json)
    lines = session.file.latest()
    counts = {said: sum(line.answer == said for line in lines) for said in SAID.values()}
    talk.tell({"answers": path, "model": model_path, "n_answers": len(lines), **counts}, print_ending)


def ask(session: ReviewSession, n_columns: int, *, aside: bool) -> None:
    """Show rows and take keys until there are no more of either. aside : what is shown goes to standard error."""
    place = session.next()
    while place is not None:
        show_row(session, place, n_columns, aside=aside)
        key = known_key(aside=aside)
        if key == "q":
            return
        if key in SAID:
            session.answer(place, SAID[key])
            place = session.next()
        else:
            last = session.undo()
            typer.echo("There is no answer to undo." if last is None else "Undone.", err=aside)
            place = place if last is None else last
    typer.echo("You have seen all rows.", err=aside)


def show_row(session: ReviewSession, place: int, n_columns: int, *, aside: bool) -> None:
    """A row, its reasons, and what stands in it."""
    from rdplearn._feedback.answers_file import cell_texts
    from rdplearn.table.typical import value_words

    row = session.row(place)
    explanation = session.model.explain(row)
    score, threshold = float(explanation.anomaly_scores[0]), -float(session.model.estimator.offset_)
    verdict = "reported" if score > threshold else "not reported"
    uncertain = float(session.model.uncertainty(row)[0])
    typer.echo(f"\nRow {place + 1:,}: anomaly score {score:.2f}, give or take {uncertain:.2f}; {verdict}.", err=aside)
    for sentence in explanation.sentences(0, n_columns=n_columns):
        typer.echo(f"  {sentence}", err=aside)
    cells = zip(row.column_names, cell_texts(row)[0], strict=True)
    typer.echo("  " + " | ".join(f"{value_words(name)}: {value_words(cell)}" for name, cell in cells), err=aside)


def known_key(*, aside: bool) -> str:
    """One of the keys that mean something; for any other, such as an arrow, the question stands again."""
    while True:
        typer.echo(KEYS, nl=False, err=aside)
        key = read_key()
        typer.echo(key if key.isprintable() else "", err=aside)
        if key in (*SAID, "u", "q"):
            return key


def read_key() -> str:
    """One key, without waiting for the end of the line; from a pipe one character. The end of it is q."""
    if sys.stdin.isatty():
        try:
            return typer.getchar().lower()
        except EOFError:
            return "q"
    while (key := sys.stdin.read(1)).isspace():
        pass
    return key.lower() or "q"


def print_ending(facts: Mapping[str, Any]) -> None:
    from rdplearn.table.wording import counted

    counts = ", ".join(f"{facts[said]:,} {said}" for said in SAID.values())
    typer.echo(f"{counted(facts['n_answers'], 'answer')} ({counts}) in {facts['answers']}")
    if facts["n_answers"]:
        typer.echo(f"To use them: rdplearn tell {facts['model']} {facts['answers']} -o answered.safetensors")
