"""What `detect` and `score` do alike: score a table batch by batch, write the rows, and tell about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from rdplearn._results.formats import check_carried
from rdplearn._results.labels import read_labels
from rdplearn._results.scored import Evaluation, TopRows, scored_rows
from rdplearn.cli.places import Here, OnCluster
from rdplearn.cli.printing import print_rows
from rdplearn.table_model import REPORTED, SCORE, TableModel

MOST_SHOWN_COLUMNS = 6


class Outlet:
    """Where scores go: a file or standard output, the top rows, the comparison with labels."""

    def __init__(
        self,
        place: Here | OnCluster,
        table: Any,
        *,
        output: str | None,
        carried: list[str],
        label: str | None,
        n_top: int,
    ) -> None:
        check_carried(carried, (SCORE, REPORTED))
        self.table, self.talk, self.output = table, place.talk, output
        self.results = place.results(table, output, carried)
        self.top = TopRows(n_top, shown_columns(table, carried, label))
        self.evaluation = None
        if label is not None:
            look_at_labels(table, label)
            self.evaluation = Evaluation(label, table.name)
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
        self.threshold = -float(model.estimator.offset_)
        everyone = [self.top, *([self.evaluation] if self.evaluation else []), *watchers]
        self.results.write(scored_rows, model, doing="scored", watchers=everyone, made_of=made_of, resume=resume)

    def tell(self, more: Mapping[str, Any]) -> None:
        """Print what was found, unless the scores themselves go to standard output."""
        if self.output == "-":
            return
        facts: dict[str, Any] = {
            "table": self.table.name.strip("'"),
            "n_rows": self.results.n_rows,
            "n_anomalous": self.results.tally[0],
            "threshold": self.threshold,
            **more,
        }
        if not self.results.is_resumed:  # the rows that were scored earlier are in the file alone
            facts["top"] = self.top.as_dicts()
        if self.evaluation is not None:
            facts["evaluation"] = self.evaluation.figures()
        if self.output is not None:
            facts["output"] = self.output
        if self.talk.as_json:
            typer.echo(json.dumps(facts, default=str))
        else:
            self._print(facts)

    def _print(self, facts: Mapping[str, Any]) -> None:
        if "top" in facts:
            print_rows(facts["top"])
        typer.echo(
            f"{facts['n_anomalous']:,} of {facts['n_rows']:,} rows reported as anomalous: their score is above "
            f"{self.threshold:.4g}."
        )
        if "evaluation" in facts:
            figures = facts["evaluation"]
            typer.echo(
                f"Against the labels ({figures['n_anomalies']:,} anomalies in {figures['n_labelled']:,} rows): "
                f"AUC-ROC {figures['auc_roc']:.3f}, AUC-PR {figures['auc_pr']:.3f}."
            )
        for what, title in {"model": "Model", "output": "Scores", "report": "Report"}.items():
            if facts.get(what):
                typer.echo(f"{title}: {facts[what]}")


def shown_columns(table: Any, carried: list[str], label: str | None) -> list[str]:
    """The columns that are shown of a row on the terminal: those carried along first, and not too many."""
    others = [name for name in table.column_names if name not in (*carried, label)]
    return [*carried, *others][: max(MOST_SHOWN_COLUMNS, len(carried))]


def look_at_labels(table: Any, label: str) -> None:
    """See before the work that the label column has labels, as far as the first rows can tell."""
    first_rows = next(iter(table.batches()), None)
    if first_rows is not None:
        read_labels(first_rows.column(label), label, table.name)
