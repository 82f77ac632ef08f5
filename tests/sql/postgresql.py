"""A PostgreSQL server of our own, on a free port, in a folder of its own, stopped and removed in the end."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

PASSWORD = "pass@word/1"


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL server."""

    port: int
    user: str = "bob"

    def uri(self, password: str = PASSWORD, database: str = "postgres") -> str:
        return f"postgresql://{self.user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"


def programs_of_postgresql() -> Path | None:
    """Where Debian has them, or wherever else they are found."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    on_path = shutil.which("postgres")
    return found[-1].parent if found else Path(on_path).resolve().parent if on_path else None


@contextmanager
def running_server(programs: Path) -> Iterator[Server]:
    """The server, run by somebody who is not root, for PostgreSQL refuses root."""
    folder = Path(tempfile.mkdtemp(prefix="rdplearn-postgresql-"))
    nobody = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
    secret = folder / "password"
    secret.write_text(PASSWORD)
    if nobody:
        for path in (folder, secret):
            shutil.chown(path, "nobody")
    process = None
    try:
        made = f"{programs}/initdb -D {folder}/data -U bob -A scram-sha-256 --pwfile={secret} --no-sync --encoding=UTF8"
        subprocess.run([*made.split(), "--locale=C"], check=True, capture_output=True, cwd=folder, **nobody)
        port = free_port()
        run = f"{programs}/postgres -D {folder}/data -h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(run.split(), cwd=folder, **silent, **nobody)
        wait_for(process, Server(port))
        yield Server(port)
    finally:
        if process is not None:
            stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(process: subprocess.Popen, server: Server) -> None:
    from adbc_driver_postgresql import dbapi

    until = time.monotonic() + 60
    while True:
        try:
            dbapi.connect(server.uri()).close()
            return
        except dbapi.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.05)


def stop(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
