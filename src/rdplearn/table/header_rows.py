"""Which rows at the top of a table are no data, besides the header: titles, names of groups, units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rdplearn.table.cells import MISSING_MARKERS, USUAL_MARKERS

MOST_TITLE_ROWS = 20
MOST_UNIT_ROWS = 3
FEWEST_ROWS_BELOW_UNITS = 5
NO_UNITS = {marker.lower() for marker in (*MISSING_MARKERS, *USUAL_MARKERS)}


def n_title_rows(rows: list[list[str]]) -> int:
    """How many rows above the header are a title, such as "Sales of 2024", or name groups of columns.

    The header is as wide as most rows, without holes, or without holes together with the row of groups above it; it
    has no numbers. Rows above it begin with # or are half empty at least, and are shorter, or the first of them has a
    cell at its start alone. Below a row of groups there are numbers.

    Examples
    --------
    >>> n_title_rows([["Sales", "", ""], ["city", "amount", "when"], ["Oslo", "3", ""]])
    1
    >>> n_title_rows([["Sales"], ["city", "amount"], ["Oslo", "3"]])
    1
    >>> n_title_rows([["account", "12 345"], ["city", "amount", "when", "note"], *[["Oslo", "3", "", ""]] * 3])
    1
    >>> n_title_rows([["city", "", ""], ["Oslo", "3", "4"]])
    0
    >>> n_title_rows([["", "2023", "", "2024"], ["city", "sales", "returns", "sales"], ["Oslo", "1", "2", "3"]])
    1
    >>> n_title_rows([["city", "2023", "", "note"], ["", "sales", "returns", ""], ["Oslo", "1", "2", ""]])
    1
    """
    if names_separator(rows[0] if rows else []):
        return 1
    width = _usual_width(rows)
    header = next((place for place, row in enumerate(rows) if _ends_header(rows, place, width)), 0)
    if not 0 < header < min(len(rows) - 1, MOST_TITLE_ROWS + 1) or any(is_number(cell) for cell in rows[header]):
        return 0
    groups = group_row(rows, header)
    above = rows[: header if groups is None else header - 1]
    half_empty = all(2 * _n_filled(row) <= width or row[0].strip().startswith("#") for row in above)
    shapes_fit = all(len(row) < width or (len(row) == width > 2) for row in above)
    is_alone = not above or _is_alone(above[0]) or all(len(row) < width for row in above)
    below_fit = all(len(row) == width for row in rows[header : header + 2])
    return header if half_empty and shapes_fit and is_alone and below_fit else 0


def group_row(rows: list[list[str]], header: int) -> list[str] | None:
    """The row right above the header, if it names groups of columns, each above the first of them, as merged cells do.

    Examples
    --------
    >>> group_row([["", "2023", "", "2024"], ["city", "sales", "returns", "sales"], ["Oslo", "1", "2", "3"]], 1)
    ['', '2023', '', '2024']
    """
    if not 0 < header < len(rows) - 1:
        return None
    groups, names, below = rows[header - 1 : header + 2]
    is_one = _names_groups(groups) and len(groups) == len(names) and any(is_number(cell) for cell in below)
    return groups if is_one and not any(_names_groups(row) for row in rows[: header - 1]) else None


def names_separator(row: list[str]) -> bool:
    """Whether a row is the line ``sep=;`` that spreadsheets write above the header."""
    return len(row) in (1, 2) and row[0].strip().lower().startswith("sep=") and not "".join(row[1:]).strip()


def in_groups(names: list[str], groups: list[str]) -> list[str]:
    """Names of columns with those of their groups, each of which goes on to the next.

    Examples
    --------
    >>> in_groups(["city", "sales", "returns", "sales"], ["", "2023", "", "2024"])
    ['city', '2023 sales', '2023 returns', '2024 sales']
    >>> in_groups(["", "sales", "returns"], ["city", "2023", ""])
    ['city', '2023 sales', '2023 returns']
    """
    named, last = [], ""
    for name, group in zip(names, groups, strict=True):
        last = group.strip() or last
        named.append(f"{last} {name.strip()}".strip())
    return named


def n_unit_rows(rows: list[list[str]]) -> int:
    """How many rows right below the header say units or the like: words where all rows below them have numbers.

    Examples
    --------
    >>> n_unit_rows([["site", "power", "wind"], ["", "kW", "m/s"], *[["A", "1.5", "7"]] * 5])
    1
    >>> n_unit_rows([["site", "power", "wind"], ["A", "?", "7"], *[["A", "1.5", "7"]] * 5])
    0
    """
    for n_rows in range(MOST_UNIT_ROWS, 0, -1):
        below = rows[1 + n_rows :]
        if len(below) < FEWEST_ROWS_BELOW_UNITS:
            continue
        measured = [place for place in range(len(rows[0])) if _are_numbers(row[place : place + 1] for row in below)]
        enough = len(measured) > 1 and 2 * len(measured) >= len(rows[0])
        if enough and _say_units(rows[1 : 1 + n_rows], measured):
            return n_rows
    return 0


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number."""
    try:
        float(cell.strip().replace(",", "."))
    except ValueError:
        return False
    return True


def empty_places(row: list[str]) -> set[int]:
    """Which of the cells are empty."""
    return {place for place, cell in enumerate(row) if not cell.strip()}


def _usual_width(rows: list[list[str]]) -> int:
    counts = Counter(len(row) for row in rows)
    return max(counts, key=lambda width: (counts[width], width), default=0)


def _ends_header(rows: list[list[str]], place: int, width: int) -> bool:
    """Whether a row names all columns, by itself or together with a row of groups above it."""
    row = rows[place]
    if len(row) != width or width < 2:
        return False
    holes = empty_places(row)
    if not holes or place == 0 or _n_filled(row) < 2 or any(is_number(cell) for cell in row):
        return not holes
    groups = group_row(rows, place)
    return groups is not None and not holes & empty_places(groups)


def _names_groups(row: list[str]) -> bool:
    return _n_filled(row[1:]) > 1


def _is_alone(row: list[str]) -> bool:
    return bool(row[0].strip()) and _n_filled(row) == 1


def _n_filled(row: list[str]) -> int:
    return sum(1 for cell in row if cell.strip())


def _are_numbers(cells: Iterable[list[str]]) -> bool:
    """Whether there are cells, and those that say something are all numbers."""
    said = [cell for one in cells for cell in one if _says_more(cell)]
    return bool(said) and all(map(is_number, said))


def _say_units(rows: list[list[str]], measured: list[int]) -> bool:
    """Whether all rows have words in some of these columns, most columns have one, and none has a number."""
    words = [[place for place in measured if row[place : place + 1] and _says_more(row[place])] for row in rows]
    enough = 2 * len(set().union(*words)) >= len(measured)
    return (
        enough
        and all(words)
        and not any(is_number(row[place]) for row, said in zip(rows, words, strict=True) for place in said)
    )


def _says_more(cell: str) -> bool:
    return cell.strip().lower() not in NO_UNITS
