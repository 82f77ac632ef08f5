"""Fetch a public file once: progress on stderr, checksum, and a cache that never holds half a file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

Opener = Callable[[str], Any]

_BLOCK = 1 << 20


class NoDataError(LookupError):
    """A data set is neither on this machine nor to be had from its public source."""


@dataclass(frozen=True)
class Source:
    """A public file: where it is, what it is called in the cache, and its sha256 where that is known.

    `by_hand` marks a file behind a registration page: `address` is that page, and a person has to fetch it.
    """

    address: str
    file_name: str
    sha256: str | None = None
    by_hand: bool = False


def fetch(source: Source, cache: Path, opener: Opener | None = None) -> Path:
    """Give the path of the cached file; download it first if it is not there."""
    target = cache / source.file_name
    if target.exists():
        return target
    if source.by_hand:
        raise NoDataError(f"{source.file_name} has to be fetched by hand from {source.address} into {cache}.")
    try:
        with (opener or _open)(source.address) as stream, write_atomically(target) as file:
            digest = _copy(stream, file, source.file_name)
            if source.sha256 not in (None, digest):
                raise NoDataError(f"{source.address} has sha256 {digest}; expected {source.sha256}. Nothing was kept.")
    except (OSError, HTTPException) as problem:
        raise NoDataError(f"{source.address} could not be downloaded ({problem}).") from problem
    return target


@contextlib.contextmanager
def write_atomically(target: Path) -> Iterator[IO[bytes]]:
    """Write beside `target` and rename at the end: a killed process leaves nothing that looks finished."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def file_sha256(path: Path) -> str:
    """Give the checksum that stands in every result line."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open(address: str) -> Any:
    request = urllib.request.Request(address, headers={"User-Agent": "rdplearn-experiments"})
    return urllib.request.urlopen(request, timeout=60)


def _copy(stream: Any, file: IO[bytes], label: str) -> str:
    size = getattr(stream, "headers", {}).get("Content-Length")
    digest = hashlib.sha256()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=int(size) if size else None)
        while block := stream.read(_BLOCK):
            file.write(block)
            digest.update(block)
            progress.advance(task, len(block))
    return digest.hexdigest()
