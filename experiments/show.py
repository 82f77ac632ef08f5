"""Print a table: ours beside the paper's, as text, Markdown or LaTeX, with the counts and tests under it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments import datasets
from experiments.significance import Record, sign_test, wilcoxon_test, win_draw_loss
from experiments.summary import STD_MARKS, Cell, Grid, grid, paper_number
from experiments.tables.layout import Panel, Table

TERMINAL = 120  # columns
CLOSE = 0.04  # a competitor that reproduces lies this near to the paper's number
MANY = 6  # sets from which on columns are compared in notes: with fewer no sign test can reach the 95% level


@dataclass(frozen=True)
class Sheet:
    """A table of strings with a title and notes: what every format prints."""

    title: str
    header: list[str]
    lines: list[list[str]]
    notes: list[str]


def sheets(table: Table, records: Iterable[dict[str, Any]], *, quick: bool, no_data: set[str]) -> list[Sheet]:
    """Make one sheet a panel, leaving out columns with neither a result nor a number of the paper."""
    records = list(records)
    return [_sheet(table, panel, grid(table, panel, records, quick=quick, no_data=no_data)) for panel in table.panels]


def values_matrix(table: Table, cells: Grid, labels: list[str]) -> tuple[list[str], np.ndarray]:
    """Give the data sets on which all these columns have results, and the means (n_data_sets, n_columns)."""
    data = list(dict.fromkeys(name for name, _ in cells))
    complete = [name for name in data if all(cells[name, label].values for label in labels)]
    return complete, np.array([[cells[name, label].mean for label in labels] for name in complete])


def filled_columns(table: Table, panel: Panel, cells: Grid) -> list[str]:
    """Name the columns that have a result or a number of the paper."""
    data = list(dict.fromkeys(name for name, _ in cells))
    return [
        column.label
        for column in table.columns
        if any(cells[name, column.label].values for name in data)
        or any(cells[name, column.label].reason not in ("", "no data here") for name in data)
        or any(paper_number(panel, name, column.label) for name in data)
    ]


def _sheet(table: Table, panel: Panel, cells: Grid) -> Sheet:
    labels = filled_columns(table, panel, cells)
    data = list(dict.fromkeys(name for name, _ in cells))
    lines = [[datasets.title(name), *(_entry(panel, cells, name, label) for label in labels)] for name in data]
    notes = [table.note] if table.note else []
    if not labels:
        notes.append(f"Nothing of it has been run yet: python -m experiments run {table.name} does so.")
    notes += _what_is_spread(cells)
    notes += [note for label in labels if (note := _closeness(panel, cells, data, label))]
    if panel.higher_is_better and table.axis is None:
        notes += [note for label in labels if (note := _contest(table, panel, cells, label))]
        notes += _printed_counts(table, panel)
    notes += _counts("Members of the ensembles", cells, labels, lambda cell: cell.n_members)
    notes += _counts("Runs of a cell", cells, labels, lambda cell: len(cell.values))
    title = f"{table.title}: {panel.title}" + (", ours (paper's)" if panel.paper else "")
    return Sheet(title, ["", *labels], lines, notes)


def _entry(panel: Panel, cells: Grid, data: str, label: str) -> str:
    ours = cells[data, label].text(panel.digits)
    paper = paper_number(panel, data, label)
    if paper is None:
        return ours or "-"
    return f"{ours or 'not run'} ({paper.mean:.{panel.digits}f})"


def _closeness(panel: Panel, cells: Grid, data: list[str], label: str) -> str:
    both = {
        name: cells[name, label].mean - number.mean
        for name in data
        if cells[name, label].values and (number := paper_number(panel, name, label))
    }
    if len(both) < MANY or not panel.higher_is_better:
        return ""
    differences = np.array(list(both.values()))
    close, reached = int((abs(differences) <= CLOSE).sum()), int((differences >= -0.0005).sum())
    apart = [
        f"{datasets.title(name)} {difference:+.3f}" for name, difference in both.items() if abs(difference) > CLOSE
    ]
    return (
        f"{label}: within {CLOSE} of the paper on {close} of {len(both)} sets, at or above it on {reached}; "
        f"mean difference {differences.mean():+.3f}{'; not: ' + ', '.join(apart) if apart else ''}."
    )


def _contest(table: Table, panel: Panel, cells: Grid, label: str) -> str:
    if label == table.ours or table.ours not in {column for _, column in cells}:
        return ""
    names, values = values_matrix(table, cells, [table.ours, label])
    if len(names) < MANY:
        return ""
    ours, theirs = values.T
    record = win_draw_loss(ours, theirs, panel.digits)
    counts = f"{record.wins}/{record.draws}/{record.losses} wins/draws/losses on {len(names)} sets"
    tests = f"sign test p = {sign_test(record):.3g}, Wilcoxon p = {wilcoxon_test(ours, theirs):.3g}"
    return f"{table.ours} against {label}: {counts}, {tests}."


def contradictions(panel: Panel, ours: str) -> dict[str, tuple[tuple[int, int, int], Record]]:
    """Give where the paper's row of wins, draws and losses differs from its cells: as printed, as counted."""
    counted = {}
    for label, printed in panel.paper_wins.items():
        pairs = [(row[ours].mean, row[label].mean) for row in panel.paper.values() if label in row]
        counted[label] = (printed, win_draw_loss(*np.array(pairs).T, panel.digits))
    return {label: both for label, both in counted.items() if both[0] != both[1]}


def _printed_counts(table: Table, panel: Panel) -> list[str]:
    wrong = contradictions(panel, table.ours)
    if not wrong:
        return []
    told = "; ".join(
        f"{label} {'/'.join(map(str, printed))} printed, {'/'.join(map(str, counted))} by its cells"
        for label, (printed, counted) in wrong.items()
    )
    return [
        f"The paper's own row of wins/draws/losses contradicts its cells in {len(wrong)} of {len(panel.paper_wins)} "
        f"places: {told}."
    ]


def _what_is_spread(cells: Grid) -> list[str]:
    """Say what ± is over in this table."""
    found = {cell.std_is_over for cell in cells.values()} - {""}
    said = [f"{mark!r} behind it: over the {name} of one run" for name, mark in STD_MARKS.items() if name in found]
    if "runs" in found:
        said.insert(0, "over runs")
    return [f"±: sample standard deviation, {'; '.join(said)}."] if said else []


def _counts(title: str, cells: Grid, labels: list[str], count: Callable[[Cell], int | None]) -> list[str]:
    """Note how many of something a column has, least to most over its sets where they differ."""
    counts = {}
    for label in labels:
        found = {number for (_, column), cell in cells.items() if column == label and (number := count(cell))}
        if found:
            counts[label] = "-".join(str(number) for number in sorted(found)[:: max(1, len(found) - 1)])
    if not counts:
        return []
    return [f"{title}: " + ", ".join(f"{label}: {number}" for label, number in counts.items()) + "."]


def as_text(sheet: Sheet) -> str:
    """Print for a terminal: a table that is wider than it goes on below, its first column repeated."""
    widths = [max(map(len, column)) for column in zip(sheet.header, *sheet.lines, strict=True)]
    parts = [sheet.title]
    for places in _fitting(widths):
        rows = ["  ".join(row[place].ljust(widths[place]) for place in places).rstrip() for row in _all(sheet)]
        parts += ["", rows[0], "-" * max(map(len, rows)), *rows[1:]]
    parts.append("")
    for note in sheet.notes:
        parts += textwrap.wrap(note, TERMINAL, subsequent_indent="  ")
    return "\n".join(parts) + "\n"


def _fitting(widths: list[int]) -> Iterator[list[int]]:
    """Part columns into stretches that fit a terminal, each led by the first one."""
    places, used = [0], widths[0]
    for place, width in enumerate(widths[1:], start=1):
        if len(places) > 1 and used + 2 + width > TERMINAL:
            yield places
            places, used = [0], widths[0]
        places.append(place)
        used += 2 + width
    yield places


def as_markdown(sheet: Sheet) -> str:
    rows = ["| " + " | ".join(cell.replace("\\", "\\\\") for cell in row) + " |" for row in _all(sheet)]
    rule = "|---" * len(sheet.header) + "|"
    notes = [f"- {note}" for note in sheet.notes]
    return "\n".join([f"### {sheet.title}", "", rows[0], rule, *rows[1:], "", *notes]) + "\n"


def as_latex(sheet: Sheet) -> str:
    rows = [" & ".join(map(_latex, row)) + r" \\" for row in _all(sheet)]
    columns = "l" + "c" * (len(sheet.header) - 1)
    lines = [
        r"\begin{table}[htbp]", rf"\caption{{{_latex(sheet.title)}}}", r"\begin{center}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\hline", rows[0], r"\hline", *rows[1:], r"\hline",
        r"\end{tabular}", r"\end{center}", r"\end{table}",
    ]  # fmt: skip
    return "\n".join([*lines, *(f"% {note}" for note in sheet.notes)]) + "\n"


FORMATS: dict[str, Callable[[Sheet], str]] = {"text": as_text, "markdown": as_markdown, "latex": as_latex}


def _all(sheet: Sheet) -> list[list[str]]:
    return [sheet.header, *sheet.lines]


def _latex(text: str) -> str:
    escaped = text.replace("\\", r"$\setminus$")
    for character in "_%&#":
        escaped = escaped.replace(character, f"\\{character}")
    return escaped.replace("±", r"$\pm$")
