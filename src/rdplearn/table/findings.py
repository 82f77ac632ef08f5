"""What a transform meets that the fit had not: gathered over all batches, told once."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdplearn.errors import warn_user
from rdplearn.table.summary import Stray
from rdplearn.table.wording import rows_text, shown

UNSEEN = "has values that the fit did not see in {rows} (first: row {row}, {text}); they count as rare"
NEWLY_MISSING = (
    "has missing values in {rows} (first: row {row}), which it did not have at fit; they get a neutral value"
)
NOT_FITTING = "has cells that cannot be read in {rows} (first: row {row}, {text}); they count as missing"
INFINITE = "has infinite values in {rows} (first: row {row}, {text}); they count as missing"
TOO_LARGE = "has numbers beyond 1e37 in {rows} (first: row {row}, {text}); they are cut there"
NO_LONGER_CONSTANT = (
    "held one value at fit and others now in {rows} (first: row {row}, {text}); the model cannot see them"
)
NO_LONGER_EMPTY = "was empty at fit and has values now in {rows} (first: row {row}, {text}); the model cannot see them"


@dataclass
class Findings:
    """Surprises per column, with their first row."""

    table: str
    rows_before: int = 0
    strays: dict[tuple[str, str], Stray] = field(default_factory=dict)

    def note(self, column: str, matter: str, stray: Stray) -> None:
        if stray.n_rows:
            known = self.strays.get((column, matter), Stray())
            self.strays[column, matter] = known.then(stray, self.rows_before)

    def told(self) -> list[str]:
        """Each surprise in a sentence."""
        return [
            f"Column {shown(column)} of {self.table} "
            f"{matter.format(rows=rows_text(stray.n_rows), row=stray.first_row, text=shown(stray.first_text))}."
            for (column, matter), stray in self.strays.items()
        ]

    def warn(self) -> None:
        """Tell each surprise once, as an `RDPWarning`."""
        for told in self.told():
            warn_user(told)
