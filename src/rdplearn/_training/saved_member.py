"""A member between two rounds of boosting, in the folder of a checkpoint.

Saved are φ of its rounds, the rows kept and the losses; random mappings are drawn again from the member's seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rdplearn._model.representation import Representation
from rdplearn._scoring.scores import Member
from rdplearn._training.checkpoint import FitFolder, Piece
from rdplearn._training.task import Phi
from rdplearn._types import Arrays, Ints

if TYPE_CHECKING:
    from rdplearn._training.boosting import Boosting


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
    def spread(self) -> float:
        """Of the logarithms of the member's scores."""
        return float(self.arrays["spread"][0])

    def of_rounds(self, name: str) -> list[Any]:
        """An array of each saved round."""
        names = [f"round_{number}.{name}" for number in range(self.n_rounds_done)]
        return [self.arrays[name] for name in names if name in self.arrays]

    def fill(self, number: int, drawn: Member) -> Member:
        """A saved round, put into the member as it was drawn before training."""
        start = f"round_{number}."
        arrays = {name.removeprefix(start): a for name, a in self.arrays.items() if name.startswith(start)}
        phi: Phi = drawn.representation
        if isinstance(phi, Representation):
            for layer, (weights, bias) in enumerate(phi.layers):
                weights[:], bias[:] = arrays[f"weights_{layer}"], arrays[f"bias_{layer}"]
        else:
            network = {name.removeprefix("network."): a for name, a in arrays.items() if name.startswith("network.")}
            phi.load(network)
        return Member(phi, drawn.mapping, arrays.get("references"), float(arrays["typical"][0]))


def save_member(folder: FitFolder, boosting: Boosting) -> None:
    """Save a member after a round, in place of what was saved of it before."""
    member = boosting.member
    arrays: Arrays = {
        "n_rounds_done": np.array([boosting.n_rounds_done]),
        "kept": boosting.kept,
        "spread": np.array([member.spread]),
    }
    for number, saved in enumerate(member.rounds):
        of_round: Arrays = {
            "kept_before": boosting.kept_before[number],
            "logs": boosting.logs[number],
            "sizes": boosting.sizes[number],
            "typical": np.array([saved.typical]),
        }
        phi: Phi = saved.representation
        if isinstance(phi, Representation):
            for layer, (weights, bias) in enumerate(phi.layers):
                of_round |= {f"weights_{layer}": weights, f"bias_{layer}": bias}
        else:
            of_round |= {f"network.{name}": array for name, array in phi.arrays().items()}
        if saved.references is not None:
            of_round["references"] = saved.references
        arrays |= {f"round_{number}.{name}": array for name, array in of_round.items()}
    folder.save(piece_name(member.number), Piece(member.history, arrays))


def load_member(folder: FitFolder, number: int) -> SavedMember | None:
    """What was saved of a member, if anything."""
    piece = folder.load(piece_name(number))
    return None if piece is None else SavedMember(piece.records, piece.arrays)


def piece_name(number: int) -> str:
    """The name of a member's file."""
    return f"member_{number:05}"
