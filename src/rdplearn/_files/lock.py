"""Two runs with one name for their results: the second is turned away.

The lock is a file that stands beside the result, or is the growing result itself. The system lets go of it when a
program ends, however it ends; a file that a killed program has left behind holds nobody up.
"""

from __future__ import annotations

import os
from pathlib import Path


def is_ours(file: int, path: Path) -> bool:
    """Take the lock of an open file; whether no other run has it, and the file still has its name.

    file : its descriptor; the lock lasts until it is closed

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "lock"
    >>> with open(path, "ab") as file, open(path, "ab") as other:
    ...     is_ours(file.fileno(), path), is_ours(other.fileno(), path)
    (True, False)
    """
    if os.name != "posix":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # the run that had it may have removed it, or given it its final name, between our opening and our locking
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except (BlockingIOError, FileNotFoundError):
        return False


def release(file: int) -> None:
    """Let go of the lock before the file is closed."""
    if os.name == "posix":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)
