"""What `detect` and `score` do alike: score a table batch by batch, write the rows, and tell about them."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import typer

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.printing import counted_rows, print_rows
from rdplearn.errors import TableError
from rdplearn.growing_file import GrowingFile
from rdplearn.result_formats import CsvRows, format_of
from rdplearn.scored_rows import Evaluation, ScoredRows, TopRows, check_carried, read_labels, scored_rows
from rdplearn.table import Table
from rdplearn.table_model import TableModel
from rdplearn.version import __version__
from rdplearn.whole_files import checked_target

MOST_SHOWN_COLUMNS = 6


class Outlet:
    """Where scores go: a file or standard output, the top rows, the comparison with labels."""

    def __init__(
        self, table: Table, talk: TalkOptions, *, output: str | None, carried: list[str], label: str | None, n_top: int
    ) -> None:
        check_carried(carried)
        self.table, self.talk, self.output, self.carried = table, talk, output, carried
        others = [name for name in table.column_names if name not in (*carried, label)]
        self.top = TopRows(n_top, [*carried, *others][: max(MOST_SHOWN_COLUMNS, len(carried))])
        self.evaluation = Evaluation(label, table.name) if label else None
        self.n_rows = self.n_reported = 0
        self.is_resumed = False
        self.threshold = 0.0

    def score(self, model: TableModel, *, made_of: Mapping[str, Any] | None = None, resume: bool = False) -> None:
        """Score all rows and send them where they belong."""
        self.threshold = -float(model.estimator.offset_)
        with ExitStack() as stack:
            file = None
            if self.output not in (None, "-"):
                file = stack.enter_context(GrowingFile(str(self.output), made_of, resume=resume))
                self.n_rows, self.n_reported = file.n_rows, file.n_reported
                self.is_resumed = file.n_rows > 0
            count = stack.enter_context(counted_rows(self.talk.shows_progress, self.n_rows))
            for scored in scored_rows(model, self.table, skip_rows=self.n_rows):
                self._take(scored, file)
                count(len(scored.scores))
            sys.stdout.flush()
            if self.n_rows == 0:
                raise TableError(f"There are no rows in {self.table.name}. Pass a table with at least one row.")

    def tell(self, more: Mapping[str, Any]) -> None:
        """Print what was found, unless the scores themselves go to standard output."""
        if self.output == "-":
            return
        facts: dict[str, Any] = {
            "table": self.table.name.strip("'"),
            "n_rows": self.n_rows,
            "n_anomalous": self.n_reported,
            "threshold": self.threshold,
            **more,
        }
        if not self.is_resumed:  # the rows that were scored earlier are in the file alone
            facts["top"] = self.top.as_dicts()
        if self.evaluation is not None:
            facts["evaluation"] = self.evaluation.figures()
        if self.output is not None:
            facts["output"] = self.output
        if self.talk.as_json:
            typer.echo(json.dumps(facts, default=str))
        else:
            self._print(facts)

    def _take(self, scored: ScoredRows, file: GrowingFile | None) -> None:
        n_reported = int(scored.reported.sum())
        result = scored.result(self.carried)
        if file is not None:
            file.add(result, n_reported=n_reported)
        elif self.output == "-":
            rows = CsvRows()
            sys.stdout.buffer.write((rows.start(result.schema) if self.n_rows == 0 else b"") + rows.rows(result))
        self.top.add(scored)
        if self.evaluation is not None:
            self.evaluation.add(scored)
        self.n_rows += len(scored.scores)
        self.n_reported += n_reported

    def _print(self, facts: Mapping[str, Any]) -> None:
        if "top" in facts:
            print_rows(facts["top"])
        typer.echo(
            f"{self.n_reported:,} of {self.n_rows:,} rows reported as anomalous: their score is above "
            f"{self.threshold:.4g}."
        )
        if "evaluation" in facts:
            figures = facts["evaluation"]
            typer.echo(
                f"Against the labels ({figures['n_anomalies']:,} anomalies in {figures['n_labelled']:,} rows): "
                f"AUC-ROC {figures['auc_roc']:.3f}, AUC-PR {figures['auc_pr']:.3f}."
            )
        for what in ("model", "output"):
            if facts.get(what):
                typer.echo(f"{'Scores' if what == 'output' else 'Model'}: {facts[what]}")


def check_paths(table: str, output: str | None, model: str | None) -> None:
    """See before the work that its results can be written afterwards, and not over the table."""
    for path in (output, model):
        if path is None or (path == "-" and path is output):
            continue
        target = checked_target(path)
        if path is output:
            format_of(target)
        if table != "-" and os.path.realpath(table) == str(target):
            raise TableError(f"'{path}' is the table itself. Pass another name for the result.")


def require_columns(table: Table, *, carried: Sequence[str] = (), label: str | None = None) -> None:
    """See that columns named by options are there, and that the label has labels, as far as a first look can tell."""
    for option, columns in {"--id": carried, "--label": [label] if label is not None else []}.items():
        for column in columns:
            if column not in table.column_names:
                near = difflib.get_close_matches(column, table.column_names, n=1)
                hint = f" Did you mean '{near[0]}'?" if near else ""
                raise TableError(f"{option} names column '{column}', which {table.name} has not.{hint}")
    first_rows = next(iter(table.batches()), None) if label is not None else None
    if label is not None and first_rows is not None:
        read_labels(first_rows.column(label), label, table.name)


def identity_of(path: str) -> list[Any] | None:
    """What tells a file from its later or other versions, without reading all of it; None for standard input."""
    if path == "-":
        return None
    status = os.stat(path)
    with open(path, "rb") as file:
        start = hashlib.sha256(file.read(1 << 16)).hexdigest()
    return [os.path.realpath(path), status.st_size, status.st_mtime_ns, start, __version__]
