"""Learning features: one φ for the whole table, from all pairs of a batch or, as in the paper, one partner a row.

With a decoder, rows are reconstructed as well. A table with more columns than rows is trained on in the span of its
rows, where that saves work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from rdplearn._model.decoder import zero_decoder
from rdplearn._training.checkpoint import SavedTraining
from rdplearn._training.engines.engine import start_engine
from rdplearn._training.flops import filling_of, step_flops, stretch_length
from rdplearn._training.loop import diverged, train
from rdplearn._training.phi import saved_phi
from rdplearn._training.progress import Watch
from rdplearn._training.row_space import entered, left, row_space, worth_rotating
from rdplearn._training.settings import EngineName, PreparedRows, TrainingSettings, TrainingTask
from rdplearn._training.torch_options import NOTHING_WANTED, TorchOptions
from rdplearn.callbacks import Records, record_every, wants_to_stop


@dataclass(frozen=True)
class FeatureTraining:
    """How features are learned, apart from what they are.

    saved : where to go on from, and to save to
    """

    settings: TrainingSettings
    engine: EngineName
    torch: TorchOptions = NOTHING_WANTED
    callbacks: Sequence[Any] = ()
    saved: SavedTraining | None = None


def train_features(
    task: TrainingTask, how: FeatureTraining, watch: Watch, *, rotatable: bool = True
) -> tuple[TrainingTask, Records]:
    """Train φ of the task, with a decoder if the reconstruction loss is on. Returns the trained task and the losses.

    rotatable : whether what is wanted of rows stays the same when they are rotated
    """
    settings, n_components = how.settings, task.phi.n_components
    if settings.reconstruction_weight > 0:
        task.decoder = zero_decoder(task.n_columns, n_components)
    rotates = rotatable and not how.torch.sees_columns and rotation_pays(task, settings)
    span = row_space(task.rows) if rotates else None
    inner = task if span is None else entered(task, span)
    engine = start_engine(how.engine, [inner], settings, how.torch)
    stretch = stretch_length(inner.rows, n_components, settings, record_every(how.callbacks))

    def report(records: Records) -> bool:
        watch.advance(0, int(records[-1]["step"]) - watch.steps_of_member[0])
        return wants_to_stop(how.callbacks, records)

    (records,) = train(engine, settings, stretch, [report], how.saved)
    trained = task if span is None else left(span, task, inner)
    if not all(np.isfinite(array).all() for array in saved_phi(trained.phi).values()):
        raise diverged("its weights are no longer numbers", settings.learning_rate)
    return trained, records


def rotation_pays(task: TrainingTask, settings: TrainingSettings) -> bool:
    """Tell whether finding the span of the rows takes less work than it saves."""
    rows, n_components = task.rows, task.phi.n_components
    if sp.issparse(rows) or isinstance(rows, PreparedRows):
        return False
    n_rows, n_columns = rows.shape
    if settings.pairs == "all":
        saved = 4.0 * settings.n_steps * settings.batch_size * n_components * (n_columns - n_rows)
    else:
        saved = settings.n_steps * (1.0 - n_rows / n_columns) * step_flops(filling_of(rows), n_components, settings)
    return worth_rotating(rows, saved)
