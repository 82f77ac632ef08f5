"""Members between two rounds, in the folder of a checkpoint: all but the random mappings, which are drawn again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rdplearn._model.even_residuals import divided_mapping
from rdplearn._model.panel import Round
from rdplearn._training.checkpoint import FitFolder, Piece
from rdplearn._training.phi import draw_phi, saved_phi, take_phi
from rdplearn._types import Arrays, arrays_under

if TYPE_CHECKING:
    from rdplearn._training.boosting import Boosting


def piece_name(boosting: Boosting) -> str:
    """The name under which the member is saved."""
    return f"member_{boosting.member.number:05}"


def save_member(boosting: Boosting, folder: FitFolder) -> None:
    """Keep the member as it is after a round."""
    folder.save(piece_name(boosting), Piece(boosting.member.history, state_of(boosting)))


def state_of(boosting: Boosting) -> Arrays:
    """The member after a round, as arrays."""
    arrays: Arrays = {
        "n_rounds_done": np.array([boosting.n_rounds_done]),
        "kept": boosting.kept,
        "spread": np.array([boosting.member.spread]),
    }
    for number, trained in enumerate(boosting.member.rounds):
        of_round: Arrays = {
            "kept_before": boosting.kept_before[number],
            "logs": boosting.logs[number],
            "sizes": boosting.sizes[number],
            "typical": np.array([trained.typical]),
            **saved_phi(trained.phi),
        }
        if trained.references is not None:
            of_round["references"] = trained.references
        arrays |= {f"round_{number}.{name}": array for name, array in of_round.items()}
    return arrays


def go_on_from(boosting: Boosting, folder: FitFolder) -> None:
    """Take up what was saved of this member."""
    piece = folder.load(piece_name(boosting))
    if piece is None:
        return
    check_piece(boosting, piece, partial(folder.require, piece_name(boosting)))
    boosting.member.history, boosting.member.spread = piece.records, float(piece.arrays["spread"][0])
    boosting.n_rounds_done, boosting.kept = int(piece.arrays["n_rounds_done"][0]), piece.arrays["kept"]
    boosting.watch.advance(boosting.member.number, boosting.n_rounds_done * boosting.settings.training.n_steps)
    n_saved = sum(name.endswith(".typical") for name in piece.arrays)
    for number in range(n_saved):
        saved = arrays_under(f"round_{number}.", piece.arrays)
        boosting.kept_before.append(saved["kept_before"])
        boosting.logs.append(saved["logs"])
        boosting.sizes.append(saved["sizes"])
        seed = boosting.seeds[boosting.n_rounds_done - n_saved + number]
        boosting.member.rounds.append(drawn_again(boosting, seed, saved))


def check_piece(boosting: Boosting, piece: Piece, require: Callable[[bool, str], None]) -> None:
    """See that what was saved can be this member after some of its rounds."""
    arrays, settings = piece.arrays, boosting.settings
    for name, kind in (("n_rounds_done", "i"), ("kept", "i"), ("spread", "f")):
        require(name in arrays and arrays[name].dtype.kind == kind and arrays[name].ndim == 1, f"its {name!r}")
    require(len(arrays["spread"]) == len(arrays["n_rounds_done"]) == 1, "its 'n_rounds_done'")
    n_done = int(arrays["n_rounds_done"][0])
    require(0 < n_done <= settings.n_rounds, "its 'n_rounds_done'")
    numbers = range(min(n_done, settings.n_rounds_kept))
    of_round = [arrays_under(f"round_{number}.", arrays) for number in numbers]
    require(sum(map(len, of_round)) == len(arrays) - 3, "the names of its arrays")
    like = saved_phi(draw_phi(boosting.rows, settings.n_components, settings.torch, np.random.default_rng(0)))
    for each in of_round:
        require({"kept_before", "logs", "sizes", "typical", *like} <= set(each), "the names of its arrays")
        require(each["logs"].shape == boosting.draws.shape and each["typical"].shape == (1,), "its scores")
        require(each["sizes"].shape in ((0,), (settings.n_components,)), "its 'sizes'")
        for name, array in like.items():
            require((each[name].shape, each[name].dtype) == (array.shape, array.dtype), f"its array {name!r}")
        if settings.training.novelty_weight == 0:
            shape = (settings.n_references, settings.n_components)
            require("references" in each and each["references"].shape == shape, "its 'references'")
    for kept in (arrays["kept"], *(each["kept_before"] for each in of_round)):
        fits = kept.dtype == boosting.draws.dtype and 0 < len(kept) <= len(boosting.draws)
        require(fits and kept.min() >= 0 and kept.max() < boosting.rows.shape[0], "the rows that it kept")


def drawn_again(boosting: Boosting, seed: np.random.SeedSequence, saved: Arrays) -> Round:
    """A round as it was: its mapping drawn again, φ from what was saved."""
    settings, rng = boosting.settings, np.random.default_rng(seed)
    mapping = boosting.random_mapping.draw(boosting.rows, saved["kept_before"], settings.n_components, rng)
    phi = draw_phi(boosting.rows, settings.n_components, settings.torch, rng)
    if saved["sizes"].size:
        mapping = divided_mapping(mapping, saved["sizes"])
    return Round(
        phi=take_phi(phi, saved),
        mapping=mapping,
        references=saved.get("references"),
        typical=float(saved["typical"][0]),
        n_subsamples=settings.subsamples[0],
        neighbour=settings.neighbour,
    )
