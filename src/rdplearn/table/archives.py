"""ZIP archives: one table in each, unpacked to a temporary file; bombs are refused before they go off.

An archive says how large its files are when unpacked. What says too much is refused; what says too little is found out,
because no more than that is unpacked, and its checksum is wrong then.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO

from rdplearn.errors import TableError
from rdplearn.table.openers import Opener, blocks_of
from rdplearn.table.wording import shown

ZIP = b"PK\x03\x04"
FREE_BYTES = 1 << 26
MOST_TIMES_LARGER = 200  # tables repeat themselves, but not like that
WORKBOOK, DOCUMENT = "xl/workbook.xml", "mimetype"


def is_workbook(opener: Opener, name: str) -> bool:
    """Whether an archive is an Excel workbook, of a size that can be read."""
    with opened_archive(opener, name) as archive:
        names = archive.namelist()
        if DOCUMENT in names:
            raise TableError(f"{name} is a document of an office program. Save the sheet as .xlsx or CSV.")
        if WORKBOOK in names:
            for member in archive.infolist():
                require_sane_size(member, name)
        return WORKBOOK in names


def unpacked(opener: Opener, name: str) -> Iterator[bytes]:
    """The one table in an archive, some megabytes at a time."""
    with opened_archive(opener, name) as archive:
        members = [member for member in archive.infolist() if not is_beside_the_point(member)]
        if len(members) != 1:
            listed = ", ".join(shown(member.filename) for member in members[:3])
            raise TableError(
                f"{name} must hold one table. Got {len(members)} files{': ' + listed if listed else ''}. Unpack it, "
                "and pass the files."
            )
        require_sane_size(members[0], name)
        with archive.open(members[0]) as file:
            yield from blocks_of(file)


@contextmanager
def opened_archive(opener: Opener, name: str) -> Iterator[zipfile.ZipFile]:
    """An archive; what is wrong with it in one line."""
    with opener() as file:
        try:
            with _archive_of(file) as archive:
                yield archive
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as fault:
            reason = "it has a password" if "password" in str(fault) else "it is damaged, or packed in an unusual way"
            raise TableError(f"Cannot unpack {name}: {reason}. Unpack it yourself, and pass what it holds.") from None


def _archive_of(file: IO[bytes]) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except ValueError as fault:  # Arrow's, of a file that is shorter than the end of an archive
        raise zipfile.BadZipFile(str(fault)) from None


def is_beside_the_point(member: zipfile.ZipInfo) -> bool:
    """Folders, hidden files and what macOS adds."""
    parts = PurePosixPath(member.filename).parts
    return member.is_dir() or any(part.startswith((".", "__MACOSX")) for part in parts)


def require_sane_size(member: zipfile.ZipInfo, name: str) -> None:
    """Refuse what would become many times as large as it is."""
    if member.file_size > FREE_BYTES + MOST_TIMES_LARGER * member.compress_size:
        times = member.file_size // max(member.compress_size, 1)
        raise TableError(
            f"{name} would become {times:,} times as large when unpacked ({member.file_size >> 20:,} MB), and no "
            "table does. Unpack it yourself if you trust it."
        )
