"""The README's table of evidence, and the verdicts on the paper's claims for the site's front page of results.

Every figure is a cell of a page that is generated from result files.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from experiments.datasets import REPOSITORY
from experiments.markdown import markdown_table

BEGIN, END = "<!-- evidence: written by `python -m experiments front-page` -->", "<!-- /evidence -->"
CLAIMS_BEGIN, CLAIMS_END = "<!-- verdicts: written by `python -m experiments front-page` -->", "<!-- /verdicts -->"
HEADER = ["", "rdplearn", "others", "measured on"]
PEERS = ("IsolationForest", "kNN", "LOF")
Lines = list[list[str]]
Rows = dict[str, dict[str, str]]


def evidence(docs: Path = REPOSITORY / "docs") -> str:
    """Write the table; a study that has no page yet has no line."""
    default, results, speed = ((docs / name).read_text() for name in ("default.md", "results.md", "speed.md"))
    lines = [*_of(docs / "mixed.md", _mixed_tables), *_labelled_tables(default), *_cost(speed)]
    lines += [*_of(docs / "answers_study.md", _answers), *_paper((docs / "default_tables.md").read_text(), results)]
    return markdown_table(HEADER, lines)


def verdicts(docs: Path = REPOSITORY / "docs") -> str:
    """Quote the table of the paper's claims: each claim and its verdict."""
    rows = rows_below((docs / "results.md").read_text(), "<!-- claims -->")
    return markdown_table(["the paper's claim", "verdict"], [[claim, row["verdict"]] for claim, row in rows.items()])


def site_page(page: str, docs: Path = REPOSITORY / "docs") -> str:
    """Put both tables into the site's front page of results; its links are within `docs`."""
    page = with_table(page, evidence(docs).replace("](docs/", "]("))
    return with_table(page, verdicts(docs), CLAIMS_BEGIN, CLAIMS_END)


def with_table(page: str, table: str, begin: str = BEGIN, end: str = END) -> str:
    r"""Put a table between its two marks.

    Examples
    --------
    >>> with_table(f"above {BEGIN} old {END} below", "new ") == f"above {BEGIN}\nnew {END} below"
    True
    """
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{table}{end}{after}"


def rows_below(page: str, heading: str) -> Rows:
    r"""Read the first table below a heading: from the first cell of each row to its other cells, by their columns.

    Examples
    --------
    >>> rows_below("# Cost\n\n|  | time |\n|---|---|\n| forest | **1 s** |\n", "# Cost")
    {'forest': {'time': '1 s'}}
    """
    _, found, below = page.partition(heading)
    table = re.search(r"(?:^\|.*\n?)+", below, flags=re.MULTILINE) if found else None
    if table is None:
        raise ValueError(f"The page must have a table below {heading!r}. Write the page anew.")
    header, _, *rows = ([cell.strip(" *") for cell in line[1:-1].split("|")] for line in table[0].splitlines())
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


def ours(rows: Rows) -> dict[str, str]:
    """Give the row of rdplearn as it is; until the study is run anew, the last one of an earlier state."""
    return rows.get("rdplearn") or [row for label, row in rows.items() if label.startswith("rdplearn")][-1]


def _of(page: Path, lines_of: Callable[[str], Lines]) -> Lines:
    return lines_of(page.read_text()) if page.exists() else []


def _labelled_tables(page: str) -> Lines:
    rows = rows_below(page, "## Against what users pick today")
    default = rows["RDP default"]
    sets = next(column for column in default if column.startswith("all "))
    where = f"{sets.removeprefix('all ')} sets, on which it was chosen: [the default](docs/default.md)"
    return [["finds anomalies in labelled tables", f"**{default[sets]}**", _listed(rows, PEERS, sets), where]]


def _cost(page: str) -> Lines:
    """Fit and score, both in one run: the least and the most that the sizes of the benchmark give."""
    rows = rows_below(page, "## The default, fit plus score")
    ratios = sorted(float(row["times as long"]) for row in rows.values())
    where = f"{len(ratios)} sizes, up to {list(rows)[-1]} rows: [speed](docs/speed.md)"
    return [
        [
            "processor time of fit and score, next to IsolationForest's",
            f"**{ratios[0]:g}x to {ratios[-1]:g}x**",
            "IsolationForest 1x, in the same run",
            where,
        ]
    ]


def _mixed_tables(page: str) -> Lines:
    found, reasons = rows_below(page, "## Who finds what"), rows_below(page, "## The right reason")
    n_tables = rows_below(page, "## Who finds what")["tables"]["missing"]
    where = f"errors planted in {n_tables} real mixed tables: [mixed tables](docs/mixed.md)"
    what, others = "finds errors in mixed tables: AUC-ROC / AUC-PR", _listed(found, PEERS[:1], "all")
    return [
        [what, f"**{ours(found)['all']}**", others, where],
        ["names the right column first", f"**{ours(reasons)['all']}**", "no reasons to compare", "the same tables"],
    ]


def _answers(page: str) -> Lines:
    heading = "## Sets with AADForest and PineForest"
    rows = rows_below(page, heading)
    n_sets = re.search(f"{heading}: (\\d+)", page)
    where = f"{n_sets[1] if n_sets else 'many'} labelled tables: [what answers are worth](docs/answers_study.md)"
    shown = {"RDP": "without answers", "AADForest": "AADForest", "PineForest": "PineForest"}
    beside = "; ".join(f"{name} {rows[label]['found in 60']}" for label, name in shown.items())
    return [["anomalies found in 60 answers", f"**{rows['RDP, answered']['found in 60']}**", beside, where]]


def _paper(tables: str, results: str) -> Lines:
    whole = rows_below(tables, "## On the paper's sets, whole")
    mean = whole.pop("mean")
    verdict = re.search(
        r"^We judged (\d+) claims of the paper: (\d+) hold, (\d+) hold in part, (\d+) do not hold", results, re.M
    )
    if verdict is None:
        raise ValueError("docs/results.md must say how many claims hold. Run: python -m experiments results")
    claims, holds, partly, does_not = verdict.groups()
    return [
        ["finds anomalies in the paper's tables", f"**{mean['default']}**", f"the paper's RDP {mean['paper']}",
         f"{len(whole)} whole data sets: [the default](docs/default_tables.md#on-the-papers-sets-whole)"],
        ["the paper's claims, run again", f"{holds} of {claims} hold", f"{partly} in part, {does_not} do not",
         "its tables and figures: [results](docs/results.md)"],
    ]  # fmt: skip


def _listed(rows: Rows, labels: tuple[str, ...], column: str) -> str:
    return "; ".join(f"{label} {rows[label][column]}" for label in labels)
