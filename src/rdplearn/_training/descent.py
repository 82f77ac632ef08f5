r"""What every engine has in common: which batches a task asks for, and the pace of learning from all pairs.

With one partner a row, a step goes down the clipped gradient, as in the paper. With *all* pairs of a batch,

.. math:: L = \frac{1}{B (B - 1)} \sum_{i \ne j} \left( \phi_i \cdot \phi_j - T_{ij} \right)^2 ,

a step is divided by the running root mean square of the norm of the *whole* gradient, so that the learning rate has no
unit and no loss is too small to learn from; its length falls to zero along half a cosine. One scale for all weights,
not one each as in Adam: there, columns seen once would learn as fast as the others. W starts small, so that directions
that nothing asks for stay small instead of keeping their random start.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rdplearn._training.random_stream import AllPairs, OnePartner
from rdplearn._training.settings import TrainingSettings, TrainingTask
from rdplearn._types import Doubles

NORM_MEMORY = 0.99  # of the running mean of the squared gradient norm


def batches_of(tasks: list[TrainingTask], settings: TrainingSettings) -> OnePartner | AllPairs:
    """The batches of tasks whose rows stand one after the other."""
    n_rows, kept, seeds = zip(*((task.rows.shape[0], task.kept, task.seed) for task in tasks), strict=True)
    if settings.pairs == "all":
        return AllPairs(list(n_rows), settings.batch_size, list(seeds))
    return OnePartner(list(n_rows), list(kept), list(seeds), settings.batch_size)


class ScaledRate:
    """How far each member goes along its gradient: steps whose length does not depend on the scale of the loss."""

    def __init__(self, n_members: int, n_components: int, settings: TrainingSettings) -> None:
        self.n_steps, self.momentum = settings.n_steps, settings.momentum
        self.mean_square = np.zeros(n_members)
        self.step_length = settings.learning_rate * float(np.sqrt(n_components))

    def __call__(self, number: int, squared_norms: npt.NDArray[np.floating]) -> Doubles:
        """Of step `number`, counted from 0, with gradients of these norms; 0 where there never was a gradient."""
        self.mean_square[:] = NORM_MEMORY * self.mean_square + (1 - NORM_MEMORY) * squared_norms
        # both running means start at zero; the divisions make up for that in the first steps
        typical = np.sqrt(self.mean_square / (1 - NORM_MEMORY ** (number + 1)))
        decay = 0.5 * (1 + np.cos(np.pi * number / self.n_steps))
        length = decay * self.step_length * (1 - self.momentum) / (1 - self.momentum ** (number + 1))
        # no gradient: no pair was predicted wrongly yet, as in a table of equal rows
        return np.divide(length, typical, out=np.zeros_like(typical), where=typical > 0)
