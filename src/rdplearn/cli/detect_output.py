"""What `detect` tells of a table: its highest rows and why, kinds of anomalies, how far to trust it, and all rows.

Ranks are known when all rows are scored. So the rows are scored first, and then gone through again to be written; in
between memory holds the scores, 16 bytes for each row. On Dask parts are written where they are scored, without ranks
and reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from rdplearn._explain.reasons import REASON_COLUMNS
from rdplearn._explain.reliability import STEADY
from rdplearn._results.explained import REASONS, WHY, ExplainedRows, RankRows, rows_to_explain
from rdplearn._results.formats import ROW, check_carried
from rdplearn._results.scored import AllScores, scored_rows
from rdplearn.cli.backends import Here, OnDask
from rdplearn.cli.options import ScoredRowOptions
from rdplearn.cli.printing import print_ending, print_rows
from rdplearn.cli.results import Pass
from rdplearn.cli.score_output import AGREEMENT, comparison_with, print_count
from rdplearn.table_model import RANK, REPORTED, SCORE, TableModel, threshold_of

MOST_KINDS = 10  # on the terminal


class DetectOutput:
    """Where goes what `detect` finds."""

    def __init__(
        self, backend: Here | OnDask, table: Any, output: str | None, wanted: ScoredRowOptions, *, keep: bool
    ) -> None:
        if keep and output is None:
            raise typer.BadParameter(
                "is about the file that -o writes. Name one, or leave it out.", param_hint="--keep"
            )
        others = [name for name in table.column_names if keep and name not in wanted.ids]
        self.backend, self.table, self.output = backend, table, output
        self.ids, self.carried, self.n_listed = wanted.ids, [*wanted.ids, *others], wanted.n_top
        check_carried(self.carried, (SCORE, RANK, REPORTED, *REASON_COLUMNS))
        self.top = rows_to_explain(wanted.n_top, table)
        self.evaluation = comparison_with(wanted.label, table)
        self.facts: dict[str, Any] = {}

    def find(self, model: TableModel, watchers: Sequence[Any] = ()) -> None:
        """Score all rows, explain the highest, and write all if that was asked for; watchers are shown the scores."""
        ranked_here = self.output is not None and isinstance(self.backend, Here)
        scores = AllScores()
        everyone: list[Any] = [
            self.top,
            *([self.evaluation] if self.evaluation else []),
            *([scores] if ranked_here else []),
        ]
        target = None if ranked_here else self.output
        scoring = Pass(scored_rows, model, self.table, "scored", target, self.carried, [*everyone, *watchers])
        written = self.backend.write(scoring)
        explained = ExplainedRows.of(model, self.top, n_listed=self.n_listed, n_rows=written.n_rows)
        if ranked_here:
            ranking = RankRows(scores.scores(), explained)
            self.backend.write(Pass(ranking, model, self.table, "written", self.output, self.carried))
        self.facts = {
            "n_rows": written.n_rows,
            "n_anomalous": written.tally[0],
            "threshold": threshold_of(model.estimator),
            **described(explained, self.n_listed),
        }

    def tell(self, **files: str | None) -> None:
        """Print what was found, unless the rows themselves go to standard output; `files` were written beside."""
        if self.output == "-":
            return
        facts = {
            "table": self.table.name.strip("'"),
            **self.facts,
            **files,
            "evaluation": self.evaluation.figures() if self.evaluation is not None else None,
            "output": self.output,
        }
        self.backend.talk.tell(facts, lambda known: print_findings(known, self.ids))


def described(explained: ExplainedRows, n_listed: int) -> dict[str, Any]:
    """What was found as plain values for JSON."""
    stability = explained.stability
    return {
        "stability": None
        if stability is None
        else {"figure": stability.figure, "n_top": stability.n_top, "words": stability.words()},
        "n_explained": len(explained.numbers),
        "kinds": [kind.to_dict(explained.numbers) for kind in explained.kinds()],
        "top": explained.as_dicts(n_listed),
    }


def print_findings(facts: Mapping[str, Any], ids: Sequence[str]) -> None:
    shown = [ROW, *(name for name in ids if name not in (REASONS, WHY)), SCORE, REPORTED]
    print_rows([{name: row[name] for name in shown} | {WHY: "\n".join(row[WHY])} for row in facts["top"]], whole=[WHY])
    print_kinds(facts)
    print_count(facts)
    stability = facts.get("stability")
    if stability is not None and stability["figure"] < STEADY:
        typer.echo(stability["words"])
    print_ending(facts, agreement=AGREEMENT, output="Scores")


def print_kinds(facts: Mapping[str, Any]) -> None:
    """Kinds of anomalies, the largest first."""
    kinds = facts["kinds"]
    names = {"kind": "kind of anomaly", "n_rows": "rows", "example": "such as row", "typical": "typical"}
    shown = [{title: kind[name] for name, title in names.items()} for kind in kinds[:MOST_KINDS]]
    print_rows(shown, whole=["kind of anomaly", "typical"])
    if len(kinds) > MOST_KINDS:
        n_more = len(kinds) - MOST_KINDS
        typer.echo(f"{n_more:,} more {'kind' if n_more == 1 else 'kinds'}, with --json.")
    n_told = sum(kind["n_rows"] for kind in kinds)
    if n_told < facts["n_anomalous"]:
        typer.echo(f"Kinds of the {n_told:,} highest of the reported rows; --top looks at more.")
