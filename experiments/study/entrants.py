"""Who takes part: peers as users find them, the default, and the default with one thing changed.

What to compare is decided here, before a result is seen; the page shows all of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from rdplearn.defaults import NARROW, TALL, DetectorChoices

DEFAULT = "RDP default"
FOREST = "IsolationForest"
# Variants are of the members with the novelty loss; those that predict distances came later, beside whichever they are.
NOVELTY_ALONE = {"distance_weight": 0.0}


@dataclass(frozen=True)
class Entrant:
    """A method with options, on how many seeds. `question` groups variants that answer the same one."""

    label: str
    method: str
    options: dict[str, Any] = field(default_factory=dict)
    n_seeds: int = 1
    question: str = ""


def as_lines_have_them(parameters: dict[str, Any]) -> dict[str, Any]:
    """Give parameters as they come back from a line: JSON has lists and no tuples."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}


def parameters(chosen: DetectorChoices) -> dict[str, Any]:
    """What the rule chooses as parameters; how many members predict distances is none of these."""
    return {name: value for name, value in asdict(chosen).items() if name != "distance_members"}


# The cheapest first: those that take long come last, and may be on fewer sets when the page is written.
PEERS = (
    Entrant(FOREST, "iForest", {}, 3),
    *(
        Entrant(name, name)
        for name in (
            *("HBOS", "PCA", "COPOD", "ECOD", "LODA", "CBLOF", "kNN", "INNE", "LOF", "EIF", "OCSVM", "MCD"),
            "DeepSVDD",
        )
    ),
    Entrant("AE", "AE of PyOD"),
)


def _variants(question: str, **options_of_label: dict[str, Any]) -> tuple[Entrant, ...]:
    return tuple(
        Entrant(label.replace("_", " "), DEFAULT, options, 2, question) for label, options in options_of_label.items()
    )


def _sweep(question: str, parameter: str, values: tuple[Any, ...], n_seeds: int = 1) -> tuple[Entrant, ...]:
    return tuple(Entrant(f"{parameter}={v}", DEFAULT, {parameter: v}, n_seeds, question) for v in values)


_TRIAL_C = {
    "n_members": 4, "views": ["robust", "rank", "robust+rank+surprise", "robust"],
    "mapping": ["few", "few", "leaky", "leaky"], "score_rounds": 2, "dropout": 0.1, "shrinkage": 0.0,
    "n_components": 50, "batch_size": 192, "learning_rate": 1.0, "even_residuals": False, "max_samples": 4_096,
}  # fmt: skip
_PAPER_IN_SHORT = {
    "n_members": 3, "n_components": 50, "views": "minmax", "mapping": "leaky", "distance_weight": 1.0, "n_rounds": 8,
    "filter_fraction": 0.05, "score_rounds": 1, "n_steps": 1_500, "batch_size": 192, "learning_rate": 0.1,
    "dropout": 0.1, "shrinkage": 0.0, "start_scale": 1.0, "even_residuals": False, "max_samples": 10_000,
    "bootstrap": True,
    "combination": "mean",
}  # fmt: skip

AS_IF_TALL = Entrant("members of tall tables", DEFAULT, as_lines_have_them(parameters(TALL)), 2, "shape")

CANDIDATES = (
    Entrant(DEFAULT, DEFAULT, {}, 5),
    Entrant("members with the novelty loss alone", DEFAULT, {}, 5, "distances"),
    *_variants(
        "members",
        trial_C=_TRIAL_C,
        robust_alone={"views": "robust"},
        rank_alone={"views": "rank"},
        without_surprise={"views": ["robust", "rank", "robust", "robust+rank", "rank"]},
        min_max_alone={"views": "minmax"},
        only_few={"mapping": "few"},
        only_leaky={"mapping": "leaky"},
        two_of_five_with_few={"mapping": ["few", "few", "leaky", "leaky", "leaky"]},
    ),
    AS_IF_TALL,
    *_variants("residuals", uneven_residuals={"even_residuals": False}),
    *_variants("combination", mean_of_scores={"combination": "mean"}),
    *_variants(
        "training",
        dropout_for_shrinkage={"dropout": 0.1, "shrinkage": 0.0},
        start_at_full_size={"start_scale": 1.0},
    ),
)

DISTANCES = (
    *(
        Entrant(
            f"L_rdp {inner} x {weight:g}{', no boosting' if rounds == 1 else ''}",
            DEFAULT,
            {"distance_weight": weight, "inner_product": inner, "n_rounds": rounds},
            1,
            "distances",
        )
        for rounds in (4, 1)
        for inner, weight in (("l1", 1.0), ("l1", 1_000.0), ("plain", 1e-4), ("plain", 1e-3), ("plain", 1e-2))
    ),
    Entrant("no L_rdp, no boosting", DEFAULT, {"n_rounds": 1}, 1, "distances"),
    Entrant("L_rdp alone", DEFAULT, {"distance_weight": 1.0, "novelty_weight": 0.0}, 1, "distances"),
)

CURVES = (
    *_sweep("members", "n_members", (1, 2, 5)),
    *_sweep("steps", "n_steps", (30, 120, 240)),
    *_sweep("learning rate", "learning_rate", (1.0, 4.0)),
    *_sweep("components", "n_components", (32, 128)),
    *_sweep("rounds", "n_rounds", (1, 2, 3, 6)),
    *_sweep("rounds in the score", "score_rounds", (1, 2, 4)),
    *_sweep("share dropped", "filter_fraction", (0.0, 0.05, 0.2)),
    *_sweep("rows a member draws", "max_samples", (256, 2_048)),
    *_sweep("rows in a step", "batch_size", (24, 96)),
    *_sweep("shrinkage", "shrinkage", (0.0, 0.2)),
    *_sweep("members", "n_members", (20, 40), n_seeds=2),
)

PAPER = (Entrant("paper, 3 members, 1,500 steps", DEFAULT, _PAPER_IN_SHORT, 1),)

FULL_SIZE = (Entrant(DEFAULT, DEFAULT, {}, 3),)

# On narrow tables these are the default's own runs.
AS_IF_NARROW = (
    Entrant(
        "members of narrow tables",
        DEFAULT,
        as_lines_have_them(parameters(NARROW)),
        2,
    ),
)


@dataclass(frozen=True)
class Group:
    """Entrants that run together; `whole` on large sets with all their rows, otherwise on all sets in short."""

    entrants: tuple[Entrant, ...]
    whole: bool = False


GROUPS = {
    "peers": Group(PEERS),
    "candidates": Group(CANDIDATES),
    "full_size": Group(FULL_SIZE, whole=True),
    "as_if_narrow": Group(AS_IF_NARROW, whole=True),
    "distances": Group(DISTANCES),
    "curves": Group(CURVES),
    "paper": Group(PAPER),
}


def in_short() -> list[Entrant]:
    """All that run on every set."""
    return [entrant for group in GROUPS.values() if not group.whole for entrant in group.entrants]
