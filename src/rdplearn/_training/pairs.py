"""Learning features as the paper does: one partner a row, and a decoder if rows are to be reconstructed.

The steps are those of the detector's engines without the novelty loss, or, with the reconstruction loss, those of
`plain_reconstruction.py` and its compiled twin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp

from rdplearn._model.decoder import Decoder, sample_size, zero_decoder
from rdplearn._model.representation import Representation, TrainingSettings
from rdplearn._training.checkpoint import SavedTraining
from rdplearn._training.drawn_phi import draw_phi
from rdplearn._training.engines.plain_reconstruction import PlainReconstruction
from rdplearn._training.loop import (
    SECONDS_WORTH_COMPILING,
    EngineName,
    Steps,
    choose_engine,
    filling_of,
    flops_per_step,
    run_stretches,
    start,
    steps_at_a_time,
    values_a_row,
)
from rdplearn._training.row_space import RowSpace, row_space, span_flops
from rdplearn._training.task import Phi, Problem
from rdplearn._training.torch_options import NOTHING_WANTED, TorchSettings
from rdplearn._types import Floats, Rows
from rdplearn.callbacks import Records


@dataclass
class Coder:
    """φ, and the decoder that goes with it if rows are reconstructed."""

    phi: Phi
    decoder: Decoder | None


def train_on_pairs(
    rows: Rows,
    targets: Floats,
    n_components: int,
    settings: TrainingSettings,
    engine: EngineName,
    rng: np.random.Generator,
    after_stretch: Callable[[Records], bool | None],
    *,
    wanted: TorchSettings = NOTHING_WANTED,
    record_every: int | None = None,
    saved: SavedTraining | None = None,
) -> tuple[Coder, Records]:
    """Draw and train a representation, and its decoder if the reconstruction loss is on. Returns both and the losses.

    rows : (n_rows, n_columns), prepared; targets : (n_rows, n_targets), η of the rows
    wanted : what PyTorch is asked for; the other arguments are those of `rdplearn._training.loop.train` and `run_stretches`
    """
    drawn = draw_coder(rows, n_components, settings, rng, wanted)
    seed = int(rng.integers(2**63))
    rotates = rotation_pays(rows, n_components, settings) and not wanted.sees_columns
    span = row_space(rows) if rotates else None
    coder = drawn if span is None else enter(span, drawn)
    inner_rows = rows if span is None else span.rows
    steps = set_to_work(engine, inner_rows, targets, coder, settings, rows.shape[1], seed, wanted)
    stretch = steps_at_a_time(flops_of_step(inner_rows, n_components, settings), settings.n_steps, record_every)
    losses = ("distance",) if coder.decoder is None else ("distance", "reconstruction")
    all_rows = np.arange(rows.shape[0])
    records = run_stretches(steps, all_rows, settings.n_steps, stretch, losses, after_stretch, saved)
    return (coder if span is None else leave(span, drawn, coder)), records


def draw_coder(
    rows: Rows,
    n_components: int,
    settings: TrainingSettings,
    rng: np.random.Generator,
    wanted: TorchSettings = NOTHING_WANTED,
) -> Coder:
    """Draw φ, with a decoder if it is wanted."""
    phi = draw_phi(rows, n_components, wanted, rng)
    has_decoder = settings.reconstruction_weight > 0
    return Coder(phi, zero_decoder(rows.shape[1], n_components) if has_decoder else None)


def set_to_work(
    engine: EngineName,
    rows: Rows,
    targets: Floats,
    coder: Coder,
    settings: TrainingSettings,
    n_columns: int,
    seed: int,
    wanted: TorchSettings = NOTHING_WANTED,
) -> Steps:
    """Set an engine to work. n_columns : of the table, which `rows` may have fewer of after a rotation."""
    problem = Problem(rows, targets, np.arange(rows.shape[0]), coder.phi, seed, coder.decoder, n_columns)
    if engine == "torch" or coder.decoder is None:
        return start(engine, problem, settings, wanted)
    if engine == "numpy":
        return PlainReconstruction(rows, targets, coder.phi, coder.decoder, settings, n_columns, seed)
    from rdplearn._training.engines.fused_reconstruction import (
        FusedReconstruction,  # here, because importing Numba takes seconds
    )

    return FusedReconstruction(rows, targets, coder.phi, coder.decoder, settings, n_columns, seed)


# tables with more columns than rows: see `row_space.py`. The decoder starts from zero and never leaves the span.


def rotation_pays(rows: Rows, n_components: int, settings: TrainingSettings) -> bool:
    """Tell whether finding the span takes less work than it saves."""
    if sp.issparse(rows):
        return False
    saved_per_step = 1.0 - rows.shape[0] / rows.shape[1]
    return settings.n_steps * saved_per_step * flops_of_step(rows, n_components, settings) > span_flops(rows)


def enter(span: RowSpace, drawn: Coder) -> Coder:
    """Give the coordinates of all weights within the span."""
    phi = Representation(span.enter(drawn.phi.weights), drawn.phi.bias, drawn.phi.deeper)
    return Coder(phi, None if drawn.decoder is None else zero_decoder(*phi.weights.shape))


def leave(span: RowSpace, drawn: Coder, trained: Coder) -> Coder:
    """Give the weights in the table's own columns, from their start there and their trained coordinates."""
    phi = Representation(span.leave(drawn.phi.weights, trained.phi.weights), trained.phi.bias, trained.phi.deeper)
    if trained.decoder is None:
        return Coder(phi, None)
    return Coder(phi, Decoder(span.basis @ trained.decoder.weights, span.basis @ trained.decoder.bias))


# how much work there is


def flops_of_step(rows: Rows, n_components: int, settings: TrainingSettings) -> float:
    """Operations of one step."""
    flops = flops_per_step(values_a_row(rows), n_components, settings.batch_size)
    if settings.reconstruction_weight > 0:
        flops += 6.0 * settings.batch_size * n_components * min(rows.shape[1], sample_size(rows) + values_a_row(rows))
    return flops


def choose_pair_engine(
    engine: Literal["auto", "numba", "numpy", "torch"], rows: Rows, n_components: int, settings: TrainingSettings
) -> EngineName:
    """Take the plain formulas where they would finish before a compiler has even started."""
    if engine != "auto" or settings.reconstruction_weight == 0:
        return choose_engine(engine, settings.n_steps, filling_of(rows), n_components, settings.batch_size)
    seconds = 1e-3 + flops_of_step(rows, n_components, settings) / 5e9
    if sp.issparse(rows):  # the plain formulas decode a batch's columns for all its rows, and move all of both matrices
        n_used = min(rows.shape[1], settings.batch_size * values_a_row(rows))
        seconds += 6.0 * settings.batch_size * n_components * n_used / 5e9 + 1e-8 * rows.shape[1] * n_components
    return "numpy" if settings.n_steps * seconds < SECONDS_WORTH_COMPILING else "numba"
