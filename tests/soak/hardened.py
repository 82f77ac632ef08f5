"""Surroundings that allow little: everything read-only but one folder, no rights, files for nobody else."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORK = Path("/srv")  # where the one folder is seen
NOBODY = 65534
NO_RIGHTS = f"--reuid={NOBODY} --regid={NOBODY} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all"
VARIABLES = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": str(ROOT / "src"),
    **{name: value for name, value in os.environ.items() if name.startswith("OPENBLAS")},  # which decide on rounding
}


def run_hardened(folder: Path, words: Sequence[str], hold: Path) -> subprocess.CompletedProcess[str]:
    """Run `rdplearn` with these words, `folder` as `WORK`, and nothing else to write to. hold : an empty folder."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("needs root on Linux, to make surroundings that allow little")
    program = shlex.join([sys.executable, "-B", "-m", "rdplearn.cli", *words])
    variables = shlex.join(f"{name}={value}" for name, value in VARIABLES.items())
    lines = [
        "set -e",
        *_opened([Path(sys.base_prefix), Path(sys.prefix).resolve(), ROOT], hold),
        f"mount --bind {shlex.quote(str(folder))} {WORK}",
        f"chown -R {NOBODY}:{NOBODY} {WORK}",
        "mount -o remount,bind,ro /",
        f"cd {WORK}; umask 077",
        f"exec env -i {variables} setpriv {NO_RIGHTS} {program}",
    ]
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join(lines)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _opened(needed: list[Path], hold: Path) -> list[str]:
    """Lines of a shell that let everybody reach these folders, through others that are closed, such as /root."""
    closed = {
        next((above for above in reversed(path.parents) if not above.stat().st_mode & stat.S_IXOTH), None)
        for path in needed
    } - {None}
    lines = []
    for number, above in enumerate(closed):
        inside = [path for path in needed if above in path.parents]
        for place, path in enumerate(inside):
            (hold / f"{number}-{place}").mkdir()
            lines.append(shlex.join(["mount", "--bind", str(path), str(hold / f"{number}-{place}")]))
        lines.append(shlex.join(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", str(above)]))
        for place, path in enumerate(inside):
            lines.append(shlex.join(["mkdir", "-p", str(path)]))
            lines.append(shlex.join(["mount", "--bind", str(hold / f"{number}-{place}"), str(path)]))
            lines.append(shlex.join(["mount", "-o", "remount,bind,ro", str(path)]))
        lines.append(shlex.join(["mount", "-o", "remount,ro", str(above)]))
    return lines
