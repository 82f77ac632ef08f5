"""Excel workbooks: one sheet as CSV, from which it is read like any other table.

Cells are written as a person would type them without formats: numbers with all digits, dates as 2024-01-31. Rows
without any content are none. While a sheet is read, memory holds it whole; Excel's own limit is 1,048,576 rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from rdplearn.errors import TableError, warn_user
from rdplearn.table.archives import opened_archive
from rdplearn.table.openers import Opener
from rdplearn.table.wording import shown

MOST_BYTES = 1 << 31  # of a workbook, unpacked
ROWS_AT_ONCE = 4096
NOT_INSTALLED = "{name} is an Excel workbook. To read it, run: pip install 'rdplearn[excel]'. Or save the sheet as CSV."


def sheet_as_csv(opener: Opener, name: str, sheet: str | None) -> Iterator[bytes]:
    """The rows of a sheet, the first one unless another is named, as CSV in UTF-8."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ModuleNotFoundError:
        raise TableError(NOT_INSTALLED.format(name=name)) from None
    require_whole(opener, name)
    with opener() as file:
        content = io.BytesIO(file.read())
    try:
        workbook = CalamineWorkbook.from_filelike(content)
        chosen = chosen_sheet(workbook.sheet_names, sheet, name)
        if sheet is None and len(workbook.sheet_names) > 1:
            warn_user(
                f"{name} has {len(workbook.sheet_names)} sheets, and the first, {shown(chosen)}, is read. For another, "
                f"pass --sheet: {listed_sheets(workbook.sheet_names[1:])}."
            )
        yield from csv_blocks(workbook.get_sheet_by_name(chosen).iter_rows())
    except CalamineError as fault:
        raise TableError(f"Cannot read {name}: {' '.join(str(fault).split())[:200]}. Save the sheet as CSV.") from None


def require_whole(opener: Opener, name: str) -> None:
    """See that a workbook is no larger than it says, and that this is not too large for memory."""
    with opened_archive(opener, name) as archive:
        n_bytes = sum(member.file_size for member in archive.infolist())
        if n_bytes > MOST_BYTES:
            raise TableError(
                f"{name} has {n_bytes >> 20:,} MB when unpacked, more than the {MOST_BYTES >> 20:,} MB that are read. "
                "Save the sheet as CSV."
            )
        if archive.testzip() is not None:
            raise TableError(f"Cannot read {name}: it is damaged. Save it again, or save the sheet as CSV.")


def chosen_sheet(names: list[str], sheet: str | None, name: str) -> str:
    """The sheet that was asked for by its name, or the first."""
    if not names or (sheet is not None and sheet not in names):
        listed = listed_sheets(names) or "none"
        raise TableError(f"{name} has no sheet {shown(sheet)}. It has {listed}: pass one with --sheet.")
    return names[0] if sheet is None else sheet


def listed_sheets(names: list[str]) -> str:
    """The names of sheets, of many the first."""
    return ", ".join(shown(one) for one in names[:5]) + (" and others" if len(names) > 5 else "")


def csv_blocks(rows: Iterable[list[Any]]) -> Iterator[bytes]:
    r"""Rows as CSV, some thousands at a time; rows without content are left out.

    Examples
    --------
    >>> b"".join(csv_blocks([["age", "name"], [31.0, "Li, A"], ["", ""], [True, None]]))
    b'age,name\r\n31,"Li, A"\r\ntrue,\r\n'
    """
    text = io.StringIO()
    writer = csv.writer(text)
    for number, row in enumerate(rows, 1):
        cells = [written(cell) for cell in row]
        if any(cells):
            writer.writerow(cells)
        if number % ROWS_AT_ONCE == 0:
            yield text.getvalue().encode(errors="replace")
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode(errors="replace")


def written(cell: Any) -> str:
    """A cell as text; midnight is left out of dates, for Excel has no dates without a time."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return f"{cell:.0f}"
    return str(cell).removesuffix(" 00:00:00")
