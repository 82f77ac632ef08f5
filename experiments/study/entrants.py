"""Who takes part: peers as users find them, and the default as it was when each trial was run.

What to compare is decided here, before a result is seen; the page shows all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DEFAULT = "RDP default"
FOREST, NEIGHBOURS = "IsolationForest", "kNN"
BESIDE = "IsolationForest beside it"  # run with a state of the default, for times of the same machine

# States of the default that were run on all development sets, each with what it was. Every one that was looked at
# stays in this list: the page corrects for the choice among them.
TRIED = {
    "2026-11-18-morning": "members with the novelty loss and 8 that predict distances; three kinds of tables",
    "2026-11-18-smooth": "one smooth rule, 32 components, 2 or 3 rounds; 4 members that keep distances",
    "2026-11-18-orthogonal": "components at right angles, 12 members of 3 rounds, distances to up to 512 rows",
    "2026-11-18-made-up": "the voice pays that is worse at telling made-up rows",
    "2026-11-18-references": "distances that tell made-up rows better are taken to more rows, at most 1,024",
    "2026-11-19-gaps": "distances that alone see gaps pay less; 64 components in small tables, 10 members; "
    "in wide tables distances are learned in the leading directions",
}
BEFORE = "2026-11-18-references"  # what trials are compared with
CHOSEN = "2026-11-19-gaps"  # what `RDPDetector()` is now


@dataclass(frozen=True)
class Entrant:
    """A method with options, on how many seeds. `trial` names the state of the default that it is, or is beside."""

    label: str
    method: str
    options: dict[str, Any] = field(default_factory=dict)
    n_seeds: int = 1
    trial: str | None = None


def trial_of(name: str, n_seeds: int = 1) -> Entrant:
    """`RDPDetector()` as it was, or is, under this name."""
    return Entrant(name, DEFAULT, {}, n_seeds, name)


def forest_beside(name: str) -> Entrant:
    """IsolationForest, run together with a state of the default."""
    return Entrant(BESIDE, "iForest", {}, 1, name)


# The cheapest first: those that take long come last, and may be on fewer sets when the page is written.
PEERS = (
    Entrant(FOREST, "iForest", {}, 3),
    *(Entrant(name, name) for name in ("HBOS", "PCA", "COPOD", "ECOD", "LODA", "CBLOF")),
    Entrant(NEIGHBOURS, "kNN"),
    *(Entrant(name, name) for name in ("INNE", "LOF", "EIF", "OCSVM", "MCD", "DeepSVDD")),
    Entrant("AE", "AE of PyOD"),
)
