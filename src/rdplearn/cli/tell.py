"""`rdplearn tell`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import ModelPath

AnswersPath = Annotated[str, typer.Argument(metavar="ANSWERS", help="A file of answers that review or a report wrote.")]
NewModel = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Write the model with the answers to this file.")
]


def tell(*, model_path: ModelPath, answers_path: AnswersPath, output: NewModel, talk: TalkOptions) -> None:
    """Add your answers to a model. Rows like the answered ones get other scores. There is no new fit.

    Use the new model as the old one: with score, explain, report and review. If two files have an answer about the
    same row, the later one counts.

    \b
    Examples:
      rdplearn tell model.safetensors sales.csv.answers.csv -o answered.safetensors
      rdplearn score answered.safetensors new.csv
    """
    from rdplearn._feedback.session import tell_file
    from rdplearn._feedback.tables import review
    from rdplearn._storage.models import save
    from rdplearn.cli.checks import check_paths, load_table_model

    check_paths({"model": model_path, "answers": answers_path}, None, output)
    model = review(load_table_model(model_path, ["RDPDetector"], -1))
    file = tell_file(model, answers_path)
    save(model, output)
    counts = Counter(line.answer for line in file.latest())
    facts = {"model": output, "answers": answers_path, "n_answers": len(model.estimator.answers_), **counts}
    talk.tell(facts, print_told)


def print_told(facts: Mapping[str, Any]) -> None:
    from rdplearn.table.wording import counted

    counts = ", ".join(f"{facts[answer]:,} {answer}" for answer in ("anomalous", "normal", "unsure") if answer in facts)
    typer.echo(f"Answers of {facts['answers']}: {counts or 'none'}.")
    typer.echo(f"Model with {counted(facts['n_answers'], 'answer')}: {facts['model']}")
