"""What `score` does: score a table batch by batch, write the rows, and tell about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from rdplearn._results.formats import check_carried
from rdplearn._results.labels import read_labels
from rdplearn._results.scored import Evaluation, MutedRows, TopRows, scored_rows
from rdplearn.cli.backends import Here, OnDask
from rdplearn.cli.options import ScoredRowOptions
from rdplearn.cli.printing import print_ending, print_rows, shown_columns
from rdplearn.cli.results import Pass, Written
from rdplearn.table.wording import counted
from rdplearn.table_model import REPORTED, SCORE, TableModel, threshold_of

AGREEMENT = "({n_anomalies:,} anomalies in {n_labelled:,} rows): AUC-ROC {auc_roc:.3f}, AUC-PR {auc_pr:.3f}."


class ScoreOutput:
    """Where scores go: a file or standard output, the top rows, the comparison with labels."""

    def __init__(self, backend: Here | OnDask, table: Any, output: str | None, wanted: ScoredRowOptions) -> None:
        check_carried(wanted.ids, (SCORE, REPORTED))
        self.backend, self.table, self.output, self.carried = backend, table, output, wanted.ids
        self.top = TopRows(wanted.n_top, shown_columns(table, wanted.ids, wanted.label))
        self.evaluation = comparison_with(wanted.label, table)
        self.muted: MutedRows | None = None
        self.written = Written()
        self.threshold = 0.0

    def score(
        self,
        model: TableModel,
        *,
        watchers: Sequence[Any] = (),
        made_of: Mapping[str, Any] | None = None,
        resume: bool = False,
    ) -> None:
        """Score all rows and send them where they belong; watchers are shown them too."""
        self.threshold = threshold_of(model.estimator)
        if getattr(model.estimator, "rules_", None):
            self.muted = MutedRows(self.threshold)
        everyone = [self.top, *(watcher for watcher in (self.evaluation, self.muted) if watcher), *watchers]
        self.written = self.backend.write(
            Pass(scored_rows, model, self.table, "scored", self.output, self.carried, everyone, made_of, resume)
        )

    def tell(self, **files: str | None) -> None:
        """Print what was found, unless the scores themselves go to standard output; `files` were written beside."""
        if self.output == "-":
            return
        facts = {
            "table": self.table.name.strip("'"),
            "n_rows": self.written.n_rows,
            "n_anomalous": self.written.tally[0],
            "n_muted": None if self.muted is None else self.muted.n_rows,
            "threshold": self.threshold,
            **files,
            # the rows that were scored earlier are in the file alone
            "top": None if self.written.is_resumed else self.top.as_dicts(),
            "evaluation": self.evaluation.figures() if self.evaluation is not None else None,
            "output": self.output,
        }
        self.backend.talk.tell(facts, print_scores)


def print_scores(facts: Mapping[str, Any]) -> None:
    print_rows(facts.get("top", []))
    print_count(facts)
    print_ending(facts, agreement=AGREEMENT, output="Scores")


def print_count(facts: Mapping[str, Any]) -> None:
    above = "their score is above" if facts["n_anomalous"] else "none has a score above"
    typer.echo(
        f"{facts['n_anomalous']:,} of {facts['n_rows']:,} rows reported as anomalous: {above} {facts['threshold']:.4g}."
    )
    if "n_muted" in facts:
        typer.echo(f"{counted(facts['n_muted'], 'row')} muted, with the threshold as score.")


def comparison_with(label: str | None, table: Any) -> Evaluation | None:
    """What compares scores with a column of labels, if one is named.

    That it has labels is seen before the work, as far as the first rows can tell.
    """
    if label is None:
        return None
    first_rows = next(iter(table.batches()), None)
    if first_rows is not None:
        read_labels(first_rows.column(label), label, table.name)
    return Evaluation(label, table.name)
