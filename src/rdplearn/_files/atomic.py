"""Files that are written whole or not at all.

The content goes to a file beside the final one, reaches the disk, and takes the final name in one step. A program that
is killed on the way leaves the old file, or none.

The file beside, such as ``.scores.csv.3f0c9a71d2b84e65.part``, has a random name, is made by whoever writes it and by
nobody else, and is locked while it is written. So one that nobody has locked was left behind by a program that was
killed, and the next one that writes the same file removes it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from rdplearn._files.lock import is_ours
from rdplearn.errors import TableError

NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # nor does a named pipe make us wait
PRIVATE, AS_THE_UMASK_SAYS = 0o600, 0o666
DISK_FAULTS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EFBIG: "it is larger than files may be here",
    errno.EIO: "the disk has a fault",
    errno.EROFS: "the disk is read-only",
}


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
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"The folder '{target.parent}' may not be written to, so '{target.name}' cannot be put there. Pass another "
            "place, or ask for the right to write."
        )
    return target


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary name to write to, which becomes `path` when the block ends well and goes away when it does not.

    What earlier programs have left behind beside `path` goes away too.

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
    remove_left_overs(target)
    with replaced_whole(target) as temporary:
        yield temporary


@contextmanager
def replaced_whole(target: Path) -> Iterator[Path]:
    """As `written_whole`, for a name that is ours: a link that stands there is replaced, not followed."""
    temporary, file = _new_file_beside(target)
    try:
        with disk_faults_told(target):
            yield temporary
            publish(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
        if file is not None:
            os.close(file)


def publish(temporary: Path, target: Path) -> None:
    """Give a finished file its final name, once its content is on the disk.

    The file that it replaces hands down its mode and, where that is permitted, its owner and group.
    """
    with open(temporary, "rb+") as file:
        with suppress(FileNotFoundError):
            _inherit(file.fileno(), os.lstat(target))
        os.fsync(file.fileno())
    temporary.replace(target)
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name reaches the disk too
    finally:
        os.close(folder)


@contextmanager
def _making_told(target: Path) -> Iterator[None]:
    """Say which file could not be made, where it was not the disk."""
    try:
        yield
    except OSError as fault:
        if fault.errno not in (errno.ENOENT, errno.EACCES, errno.EPERM):
            raise
        raise OSError(f"'{target}' cannot be written: no file can be made there. Pass another place.") from fault


def open_own(path: Path, *, like: Path) -> int:
    """Open or create a file of ours under a name that anyone can guess, to be read and appended to.

    A link, hard or symbolic, or anything else that is no file of its own could lead to what is not ours: an error.

    Parameters
    ----------
    like : the file that it will replace; what the owner of that one keeps to himself stays so meanwhile
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_LINK | getattr(os, "O_BINARY", 0)
    try:
        with _making_told(like):
            file = os.open(path, flags, PRIVATE if like.exists() else AS_THE_UMASK_SAYS)
    except OSError as fault:
        if fault.errno not in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise
        raise _not_ours(path) from None
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or path.is_symlink():
        os.close(file)
        raise _not_ours(path)
    return file


@contextmanager
def held_together(targets: Sequence[Path]) -> Iterator[None]:
    """Keep other runs away from all these names until the block ends: results of two runs would not fit together.

    Beside each there is a lock meanwhile, such as ``.scores.csv.lock``. One that a killed program has left holds nobody
    up, and goes away with the next run.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> with held_together([folder / "model", folder / "scores.csv"]):
    ...     try:
    ...         with held_together([folder / "page.html", folder / "model"]):
    ...             pass
    ...     except TableError as fault:
    ...         print(str(fault).replace(str(folder), "..."))
    Another run is writing '.../model'. Wait for it, or pass another name.
    >>> list(folder.iterdir())
    []
    """
    with ExitStack() as stack:
        for target in targets if os.name == "posix" else ():
            lock = target.with_name(f".{target.name}.lock")
            with disk_faults_told(target):
                file = open_own(lock, like=target)
            stack.callback(os.close, file)
            if not is_ours(file, lock):
                raise TableError(f"Another run is writing '{target}'. Wait for it, or pass another name.")
            stack.callback(_remove, lock)
        yield


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def remove_left_overs(target: Path) -> None:
    """Remove what programs have left that were killed while they wrote `target`: files that nobody has locked."""
    if os.name != "posix":
        return  # there, no lock tells who is at work
    name = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.part")
    for found in [entry.path for entry in os.scandir(target.parent) if name.fullmatch(entry.name)]:
        with suppress(OSError):  # it is somebody else's, or has just gone
            file = os.open(found, os.O_RDWR | NO_LINK)
            try:
                if is_ours(file, Path(found)):
                    os.unlink(found)
            finally:
                os.close(file)


@contextmanager
def disk_faults_told(
    target: str | os.PathLike[str], *, remedy: str = "Make room, or pass another place."
) -> Iterator[None]:
    """Say of a full or broken disk which file could not be written, and what to do."""
    try:
        yield
    except OSError as fault:
        if fault.errno not in DISK_FAULTS:
            raise
        raise OSError(f"'{os.fspath(target)}' cannot be written: {DISK_FAULTS[fault.errno]}. {remedy}") from fault


def _new_file_beside(target: Path) -> tuple[Path, int | None]:
    """A new file that nobody else has, and the open file whose lock says that we are at work."""
    while True:
        path = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
        with disk_faults_told(target):
            mode = PRIVATE if target.exists() else AS_THE_UMASK_SAYS  # the final mode comes with the final name
            with _making_told(target):
                file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_LINK, mode)
        if os.name != "posix":
            os.close(file)  # where an open file could not take its final name
            return path, None
        try:
            if is_ours(file, path):
                return path, file
        except OSError:
            return path, file  # this disk knows no locks: nobody will take it for left over
        os.close(file)  # somebody took it for left over before it was locked


def _inherit(file: int, status: os.stat_result) -> None:
    if os.name != "posix" or not stat.S_ISREG(status.st_mode):
        return
    own = os.fstat(file)
    for owner, group in ((status.st_uid, status.st_gid), (-1, status.st_gid)):
        if (own.st_uid, own.st_gid) == (status.st_uid, status.st_gid):
            break
        with suppress(PermissionError):
            os.fchown(file, owner, group)
            break
    with suppress(PermissionError):
        os.fchmod(file, stat.S_IMODE(status.st_mode) & 0o777)


def _not_ours(path: Path) -> OSError:
    return FileExistsError(
        f"'{path}' is a link or not a regular file, so nothing is written there. Remove it, or pass another "
        "name for the result."
    )
