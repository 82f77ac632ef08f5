"""A member between two rounds of boosting, in the folder of a checkpoint.

Saved are φ of its rounds, the rows kept and the losses; random mappings are drawn again from the member's seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rdplearn.fit_folder import Arrays, FitFolder, Piece
from rdplearn.problem import Phi
from rdplearn.representation import Representation

if TYPE_CHECKING:
    from rdplearn.boosting import BoostedMember

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SavedMember:
    """What was saved of a member."""

    history: list[dict[str, float]]
    arrays: Arrays

    @property
    def n_rounds_done(self) -> int:
        """Rounds that need not be repeated."""
        return int(self.arrays["n_rounds_done"][0])

    @property
    def kept(self) -> Ints:
        """Rows for the next round."""
        return self.arrays["kept"]

    @property
    def kept_before(self) -> list[Ints]:
        """The rows that each saved round was trained on."""
        names = [f"kept_before_{number}" for number in range(len(self.arrays))]
        return [self.arrays[name] for name in names if name in self.arrays]

    def fill(self, number: int, drawn: Phi) -> Phi:
        """φ of a saved round, put into one as it was drawn before training."""
        if isinstance(drawn, Representation):
            for layer, (weights, bias) in enumerate(drawn.layers):
                weights[:] = self.arrays[f"round_{number}.weights_{layer}"]
                bias[:] = self.arrays[f"round_{number}.bias_{layer}"]
        else:
            start = f"round_{number}.network."
            drawn.load({name.removeprefix(start): a for name, a in self.arrays.items() if name.startswith(start)})
        return drawn

    def references(self, number: int) -> Floats | None:
        """Rows in φ's space that a member without the novelty loss scores by."""
        return self.arrays.get(f"round_{number}.references")


def save_member(
    folder: FitFolder, member: BoostedMember, n_rounds_done: int, kept: Ints, kept_before: list[Ints]
) -> None:
    """Save a member after a round, in place of what was saved of it before."""
    arrays: Arrays = {"n_rounds_done": np.array([n_rounds_done]), "kept": kept}
    for number, (of_round, before) in enumerate(zip(member.rounds, kept_before, strict=True)):
        arrays[f"kept_before_{number}"] = before
        phi: Phi = of_round.representation
        if isinstance(phi, Representation):
            for layer, (weights, bias) in enumerate(phi.layers):
                arrays |= {f"round_{number}.weights_{layer}": weights, f"round_{number}.bias_{layer}": bias}
        else:
            arrays |= {f"round_{number}.network.{name}": array for name, array in phi.arrays().items()}
        if of_round.references is not None:
            arrays[f"round_{number}.references"] = of_round.references
    folder.save(piece_name(member.number), Piece(member.history, arrays))


def load_member(folder: FitFolder, number: int) -> SavedMember | None:
    """What was saved of a member, if anything."""
    piece = folder.load(piece_name(number))
    return None if piece is None else SavedMember(piece.records, piece.arrays)


def piece_name(number: int) -> str:
    """The name of a member's file."""
    return f"member_{number:05}"
