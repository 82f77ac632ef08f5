"""RND (Burda et al. 2018) for tables: our engine with the distance loss off and without boosting.

The paper's column "RDP without L_rdp" equals its column "RND" on all 14 sets, so its RND has no boosting.
"""

from __future__ import annotations

from typing import Any

from experiments.baselines.rdp import RDP


class RND(RDP):
    """The novelty loss alone, one round."""

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        super().__init__(seed=seed, **{**options, "distance_weight": 0.0, "n_rounds": 1})
