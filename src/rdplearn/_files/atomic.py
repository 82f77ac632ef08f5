"""Files that are written whole or not at all.

The content goes to a file beside the final one, reaches the disk, and takes the final name in one step. A program that
is killed on the way leaves the old file, or none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def checked_target(path: str | os.PathLike[str]) -> Path:
    """The file that a path leads to, links followed; an error where no file could be put.

    Examples
    --------
    >>> checked_target("scores.csv").name
    'scores.csv'
    >>> checked_target("/no/such/folder/scores.csv")
    Traceback (most recent call last):
    FileNotFoundError: There is no folder '/no/such/folder' to write 'scores.csv' in. Create it first.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder '{target.parent}' to write '{target.name}' in. Create it first.")
    if target.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder. Pass the name of a file in it.")
    if target.exists() and not target.is_file():
        raise OSError(f"'{path}' is not a regular file. Pass another name, or - for standard output.")
    return target


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary name to write to, which becomes `path` when the block ends well and goes away when it does not.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "answer.txt"
    >>> with written_whole(path) as temporary:
    ...     n_letters = temporary.write_text("42")
    >>> path.read_text(), [file.name for file in path.parent.iterdir()]
    ('42', ['answer.txt'])
    """
    target = checked_target(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield temporary
        publish(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def publish(temporary: Path, target: Path) -> None:
    """Give a finished file its final name, once its content is on the disk."""
    with open(temporary, "rb+") as file:
        os.fsync(file.fileno())
    temporary.replace(target)
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name reaches the disk too
    finally:
        os.close(folder)
