"""Tables and progress on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import typer

from rdplearn.table.wording import printable

if TYPE_CHECKING:
    from rdplearn.table import Table

LONGEST_CELL = 40
MOST_SHOWN_COLUMNS = 6
WIDTH_OF_PIPES = 160


def print_rows(rows: Sequence[Mapping[str, Any]], *, whole: Sequence[str] = ()) -> None:
    """Print rows of values as a table on standard output; columns named as `whole`, of words of ours, are not cut."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name, value in rows[0].items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        table.add_column(Text(written(name)), justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        texts = (value if name in whole else written(value) for name, value in row.items())
        table.add_row(*(Text(text) for text in texts))  # Text: cells are no markup
    Console(width=None if sys.stdout.isatty() else WIDTH_OF_PIPES).print(table)


def written(value: Any) -> str:
    r"""A value as it is shown: short, on one line, without characters that steer the terminal.

    Examples
    --------
    >>> written(0.123456), written(True), written(None), written("\x1b[2J")
    ('0.1235', 'yes', '', '\\x1b[2J')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = printable(str(value)[: LONGEST_CELL + 1])
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"


def shown_columns(table: Any, carried: list[str], label: str | None) -> list[str]:
    """The columns that are shown of a row on the terminal: those carried along first, and not too many."""
    others = [name for name in table.column_names if name not in (*carried, label)]
    return [*carried, *others][: max(MOST_SHOWN_COLUMNS, len(carried))]


def print_ending(facts: Mapping[str, Any], *, agreement: str, output: str) -> None:
    """Tell how the results agree with labels, and where they, the model and the page are, as far as was asked for."""
    if "evaluation" in facts:
        typer.echo(f"Against the labels {agreement.format(**facts['evaluation'])}")
    for what, title in {"model": "Model", "output": output, "report": "Report"}.items():
        if facts.get(what):
            typer.echo(f"{title}: {facts[what]}")


@contextmanager
def counted_rows(visible: bool, n_done: int, doing: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show on stderr how many rows have been read, scored, ... of so many, if that is known."""
    if not visible:
        yield lambda n_rows: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    of_all = "" if total is None else f" of {total:,}"
    text = TextColumn(f"{{task.completed:,.0f}}{of_all} rows {doing}")
    with Progress(SpinnerColumn(), text, TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(doing, total=total, completed=n_done)
        yield lambda n_rows: bar.advance(task, n_rows)


def told_while_read(table: Table, visible: bool) -> Table:
    """The same table; while it is read, stderr shows how many rows have been."""
    from rdplearn.table import Table

    def read() -> Iterator[pa.RecordBatch]:
        with counted_rows(visible, 0, "read") as count:
            for batch in table.batches():
                count(batch.num_rows)
                yield batch

    return Table(table.name, table.column_names, read)
