"""Whether a command has kept its word on a disk that failed: old or whole, exact on the second try, nothing left."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.faults.commands import Command, contents, fresh
from tests.faults.disk import KILLS, Call, Ended, Fault, FaultyDisk

UNTOLD = ("should not have happened", "Traceback")


class Trial:
    """One command in a folder of its own: what it does undisturbed, and what becomes of it with a fault."""

    def __init__(self, disk: FaultyDisk, command: Command, given: Path, folder: Path) -> None:
        self.disk, self.command, self.given, self.folder = disk, command, given, folder
        fresh(command, given, folder)
        self.old = contents(folder)
        ended = disk.run(command.words(folder), folder)
        assert ended.exit_code == 0, ended
        self.whole = contents(folder)
        self.calls = disk.calls()

    def cases(self) -> list[tuple[int, Call, Fault]]:
        """Every fault at every call."""
        return [(number, call, fault) for number, call in enumerate(self.calls) for fault in call.faults()]

    def wrong(self, number: int, call: Call, fault: Fault) -> str | None:
        """What was wrong with a case, if anything."""
        fresh(self.command, self.given, self.folder)
        ended = self.disk.run(self.command.words(self.folder), self.folder, number, fault)
        what = self.wrong_after(fault, ended)
        return what and f"{fault.name} at {number}, {call.name} of {Path(call.path).name}: {what}"

    def wrong_after(self, fault: Fault, ended: Ended) -> str | None:
        """What was wrong with a run that met a fault, or with the next one, which meets none."""
        found = contents(self.folder)
        what = self._first_run(fault, ended.exit_code, ended.signal, ended.said, found)
        if what is None and found != self.whole:
            again = self.disk.run(self.command.words(self.folder), self.folder)
            if again.exit_code:
                what = f"the second run ended with {again}"
            elif contents(self.folder) != self.whole:
                what = f"the second run left {self._difference(contents(self.folder))}"
        return what

    def _first_run(self, fault: Fault, code: int, ended_by: int, said: str, found: dict[str, bytes]) -> str | None:
        mixed = [name for name in self.whole if found.get(name) not in (self.old[name], self.whole[name])]
        if mixed:
            return f"neither old nor whole: {mixed}"
        if fault in KILLS:
            return None if ended_by == signal.SIGKILL else f"it went on: {code}, {ended_by}, {said}"
        if ended_by:
            return f"signal {ended_by}"
        if code == 0:
            return None if found == self.whole else f"exit code 0, and {self._difference(found)}"
        if fault == Fault.SHORT:
            return f"a short write is no fault: {said}"
        if code != 1 or any(words in said for words in UNTOLD):
            return f"exit code {code}: {said}"
        return None

    def _difference(self, found: dict[str, bytes]) -> list[str]:
        return sorted(name for name in {*found, *self.whole} if found.get(name) != self.whole.get(name))
