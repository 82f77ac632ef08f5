"""How far a result moves with the processor: the same training by other kernels of the same library.

OpenBLAS can be told to use the kernels of another processor, and Numba to compile for one that has nothing special:
both add the same numbers in another order. A fit by each, in a process of its own, is compared with that by this
machine's own kernels: scores, and AUC. Longer trainings show how a difference in the last bit grows. "Curvature" is
that of the loss on these rows, "settles below" the most that the rate and the momentum can bear.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from experiments import datasets
from experiments.baselines.rdp import DETECTION_PROTOCOL
from experiments.machine import ONE_THREAD
from experiments.theory.tables_of_rows import small_table

TITLE = "How far results move with the processor"
KERNELS = {
    "this machine's": {},
    "Sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "Nehalem, generic code": {"OPENBLAS_CORETYPE": "Nehalem", "NUMBA_CPU_NAME": "generic"},
}
STEPS = (10, 100, 1_000, 6_000)


def settings(quick: bool) -> list[dict[str, Any]]:
    """RND, one round, few members: each length of training by all kernels."""
    common = {"n_members": 5, "seed": 0}
    if quick:
        return [{"data": "sklearn/breast_cancer", "n_steps": 100, **common}]
    data, steps = ["lung", "secom", "bank", "ad", "r8_anomaly"], STEPS
    as_the_paper = [{"data": name, "n_steps": n_steps, **common} for name in data for n_steps in steps]
    return as_the_paper + [{"data": name, "n_steps": steps[-2], "learning_rate": 0.01, **common} for name in data]


def measure(setting: dict[str, Any]) -> dict[str, Any]:
    """Give AUC-ROC by each kernel, and the largest relative difference of scores from this machine's own."""
    answers = {name: _fit_with(setting, variables) for name, variables in KERNELS.items()}
    own = np.array(answers["this machine's"]["scores"])
    rows, _ = small_table(setting["data"], 4_000, 0)
    rate = setting.get("learning_rate", DETECTION_PROTOCOL["learning_rate"])
    return {
        "sharpness": sharpness(rows, DETECTION_PROTOCOL["n_components"]),
        "stable_below": stable_below(rate),
        "auc_roc": {name: answer["auc_roc"] for name, answer in answers.items()},
        "largest_difference": {
            name: float(np.max(np.abs(np.array(answer["scores"]) - own) / np.abs(own)))
            for name, answer in answers.items()
        },
    }


def sharpness(rows: np.ndarray, n_components: int) -> float:
    """Give the largest curvature of the novelty loss where φ is linear: 2/M times that of the rows' second moments."""
    rows = np.hstack([rows, np.ones((len(rows), 1))])  # the bias
    products = rows @ rows.T if len(rows) < rows.shape[1] else rows.T @ rows
    return float(2 / n_components * np.linalg.eigvalsh(products / len(rows))[-1])


def stable_below(rate: float) -> float:
    """Give the curvature from which on gradient descent with this rate r and the preset's momentum β cannot settle.

    That is 2 (1 + β) / r: beyond it a step overshoots, what two trainings differ by grows from step to step, and
    clipping alone keeps the weights in bounds.
    """
    return 2 * (1 + DETECTION_PROTOCOL["momentum"]) / rate


def _fit_with(setting: dict[str, Any], variables: dict[str, str]) -> dict[str, Any]:
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1"), **variables}
    command = [sys.executable, "-m", "experiments.theory.rounding", json.dumps(setting)]
    answer = subprocess.run(command, env=environment, cwd=datasets.REPOSITORY, stdout=subprocess.PIPE, check=True)
    return json.loads(answer.stdout)


def fit(setting: dict[str, Any]) -> dict[str, Any]:
    """Fit RND with the kernels that this process was started with; score the first 2,000 rows."""
    from experiments import methods
    from experiments.evaluation import _shortened
    from experiments.metrics import detection_metrics

    loaded = datasets.load(setting["data"])
    rows, labels = _shortened(loaded.rows, loaded.labels, 2_000)
    options = {name: setting[name] for name in ("n_steps", "n_members", "learning_rate") if name in setting}
    model = methods.make("RND", seed=setting["seed"], **methods.config_for("RND", setting["data"], options))
    scores = model.fit(rows).score(rows)
    return {"scores": scores.tolist(), **detection_metrics(labels, scores)}


def draw(records: Iterable[dict[str, Any]], path: Path) -> None:
    """Draw the largest difference of scores over the length of training."""
    from experiments.plots import new_figure, save_figure

    records = sorted(records, key=lambda record: record["setting"]["n_steps"])
    figure, axes = new_figure(6, 4)
    for name in dict.fromkeys(record["setting"]["data"] for record in records):
        mine = [r for r in records if r["setting"]["data"] == name and "learning_rate" not in r["setting"]]
        worst = [max(record["measured"]["largest_difference"].values()) for record in mine]
        axes.plot(
            [record["setting"]["n_steps"] for record in mine], np.maximum(worst, 1e-9), "o-", label=datasets.title(name)
        )
    axes.set(xscale="log", yscale="log", xlabel="steps", ylabel="largest difference of scores, relative")
    axes.legend(fontsize=8)
    save_figure(figure, path)


def as_markdown(records: Iterable[dict[str, Any]]) -> str:
    """Print AUC-ROC by each kernel, how far scores move, and whether the steps are short enough to settle."""
    head = ["set", "steps", "rate", *KERNELS, "scores move by", "curvature", "settles below"]
    rows = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    records = sorted(
        records, key=lambda r: (r["setting"]["data"], "learning_rate" in r["setting"], r["setting"]["n_steps"])
    )
    # curvature is of the rows alone, and was not measured in each line
    curvatures = {r["setting"]["data"]: r["measured"]["sharpness"] for r in records if "sharpness" in r["measured"]}
    for record in records:
        setting, measured = record["setting"], record["measured"]
        auc = [f"{measured['auc_roc'][name]:.4f}" for name in KERNELS]
        rate = setting.get("learning_rate", DETECTION_PROTOCOL["learning_rate"])
        moves = f"{most:.0e}" if (most := max(measured["largest_difference"].values())) else "0"
        curvature = f"{curvatures[setting['data']]:.2g}" if setting["data"] in curvatures else ""
        cells = [datasets.title(setting["data"]), f"{setting['n_steps']:,}", f"{rate:g}", *auc, moves, curvature,
                 f"{stable_below(rate):.0f}"]  # fmt: skip
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def _place(record: dict[str, Any]) -> tuple[str, bool, int]:
    """Give the place of a line in the table: by set, the paper's rate first, short trainings first."""
    setting = record["setting"]
    return setting["data"], "learning_rate" in setting, setting["n_steps"]


if __name__ == "__main__":
    print(json.dumps(fit(json.loads(sys.argv[1]))))
