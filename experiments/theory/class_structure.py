"""Section 3.3: to predict random distances, φ is said to learn the classes, and to mend what is wrong in the distances.

How far inner products agree with classes: the chance that a pair of one class has a larger one than a pair of two
(rows brought to length 1, an area under the ROC curve over pairs), and K-means' NMI. Of the original space, of η's, and
of φ's over training on distances alone. Corrupted distances come from η(x) with as much noise beside it: a function
of the row that changes so fast that no two rows share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score, roc_auc_score

from experiments.theory.bounds import pairs
from experiments.theory.tables_of_rows import small_table

TITLE = "Learning classes by predicting random distances (section 3.3)"
STEPS = (1, 10, 30, 100, 300, 1_000, 3_000)
DATA = ("sklearn/digits", "sklearn/digit_profiles", "olivetti")
NOISES = (0.0, 1.0, 2.0)
N_NUMBERS, N_ROWS, N_PAIRS = 128, 1_000, 20_000


def settings(quick: bool) -> list[dict[str, Any]]:
    """Each set, noise and length of training; 0 steps stand for η itself, -1 for the original space."""
    data, steps, noises, seeds = (DATA[:1], (30, 300), (0.0, 2.0), 1) if quick else (DATA, STEPS, NOISES, 2)
    return [
        {"data": name, "noise": noise, "n_steps": n_steps, "seed": seed, "n_numbers": N_NUMBERS}
        for seed in range(seeds)
        for name in data
        for noise in noises
        for n_steps in (-1, 0, *steps)
        if n_steps >= 0 or noise == 0
    ]


def measure(setting: dict[str, Any]) -> dict[str, float]:
    """Give how far a space agrees with the classes."""
    from rdplearn import RDPTransformer

    rows, classes = small_table(setting["data"], N_ROWS, 0)
    mapping = noisy_mapping(rows, setting["n_numbers"], setting["noise"], setting["seed"])
    if setting["n_steps"] <= 0:
        space = mapping(rows) if setting["n_steps"] == 0 else rows
    else:
        transformer = RDPTransformer.paper(
            n_components=setting["n_numbers"], mapping=mapping, reconstruction_weight=0.0, views="unchanged",
            n_steps=setting["n_steps"], learning_rate=1.0, random_state=setting["seed"], n_jobs=1,
        )  # fmt: skip
        space = np.asarray(transformer.fit(rows).transform(rows), dtype=np.float64)
    return agreement(space, classes)


def agreement(space: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Compare inner products of rows of length 1 with classes, and clusters with classes."""
    unit = space / np.maximum(np.linalg.norm(space, axis=1, keepdims=True), 1e-12)
    first, second = pairs(len(space), N_PAIRS, np.random.default_rng(0))
    same = classes[first] == classes[second]
    found = [KMeans(len(np.unique(classes)), n_init=1, random_state=seed).fit(space).labels_ for seed in range(5)]
    return {
        "pair_auc": float(roc_auc_score(same, (unit[first] * unit[second]).sum(axis=1))),
        "nmi": float(np.mean([normalized_mutual_info_score(classes, one) for one in found])),
    }


def noisy_mapping(rows: np.ndarray, n_targets: int, noise: float, seed: int) -> Callable[[Any], np.ndarray]:
    """Make the paper's leaky η with noise beside it, of `noise` times its own spread, that belongs to a row alone."""
    random = np.random.default_rng([seed, 7])
    weights = random.normal(size=(rows.shape[1], n_targets)) * np.sqrt(2 / rows.shape[1])
    fast = random.normal(size=(rows.shape[1], n_targets)) * 1e4
    phase = random.uniform(0, 2 * np.pi, size=n_targets)

    def clean(some: np.ndarray) -> np.ndarray:
        before = some @ weights
        return np.maximum(before, 0.25 * before)

    spread = clean(rows).std()

    def mapping(some: Any) -> np.ndarray:
        some = np.asarray(some, dtype=np.float64)
        wrong = np.sqrt(2) * np.cos(some @ fast + phase)
        return (clean(some) + noise * spread * wrong).astype(np.float32)

    return mapping


def draw(records: Iterable[dict[str, Any]], path: Path) -> None:
    """Draw the agreement of pairs with classes over training, one panel a set."""
    from experiments.plots import new_figures, save_figure

    records = list(records)
    data = list(dict.fromkeys(record["setting"]["data"] for record in records))
    noises = sorted({record["setting"]["noise"] for record in records})
    figure, panels = new_figures(1, len(data), 4 * len(data), 4)
    for axes, name in zip(np.atleast_1d(panels), data, strict=True):
        for noise, colour in zip(noises, ("tab:blue", "tab:orange", "tab:red"), strict=False):
            over = means(records, name, noise)
            steps = [step for step in sorted(over) if step > 0]
            axes.plot(steps, [over[step] for step in steps], "o-", color=colour, label=f"φ, noise {noise:g}")
            axes.axhline(over[0], color=colour, linestyle=":", label=f"η, noise {noise:g}")
            if -1 in over:
                axes.axhline(over[-1], color="black", linestyle="--", label="original space")
        axes.set(xscale="log", xlabel="steps", title=name)
    np.atleast_1d(panels)[0].set_ylabel("pairs agree with classes (AUC)")
    np.atleast_1d(panels)[-1].legend(fontsize=7)
    save_figure(figure, path)


def means(records: Iterable[dict[str, Any]], data: str, noise: float, metric: str = "pair_auc") -> dict[int, float]:
    """Give the mean over seeds for each number of steps."""
    found: dict[int, list[float]] = {}
    for record in records:
        if (record["setting"]["data"], record["setting"]["noise"]) == (data, noise):
            found.setdefault(record["setting"]["n_steps"], []).append(record["measured"][metric])
    return {steps: float(np.mean(values)) for steps, values in found.items()}
