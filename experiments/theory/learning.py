"""Is L_rdp learned at all? Its value over steps, with the auxiliary loss and without, in both presets of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from experiments import datasets
from experiments.theory.tables_of_rows import small_table

TITLE = "The distance prediction loss L_rdp over training, with and without the auxiliary loss"
N_RECORDS = 30


def settings(quick: bool) -> list[dict[str, Any]]:
    """Detector and features, each with the auxiliary loss (1) and without it (0)."""
    data = {"detection": ["sklearn/breast_cancer"], "clustering": ["sklearn/digits"]}
    if not quick:
        data = {"detection": ["bank", "lung"], "clustering": ["sklearn/digits", "olivetti"]}
    n_steps = {"detection": 200 if quick else 6_000, "clustering": 200 if quick else 3_000}
    return [
        {"task": task, "data": name, "auxiliary": auxiliary, "n_steps": n_steps[task], "seed": 0}
        for task in data
        for name in data[task]
        for auxiliary in (1.0, 0.0)
    ]


def measure(setting: dict[str, Any]) -> dict[str, Any]:
    """Give the steps and the losses at them, of one member's first round or of the features."""
    from rdplearn import RDPDetector, RDPTransformer, RecordEvery

    rows, _ = small_table(setting["data"], 5_000, 0)
    common = {
        "n_steps": setting["n_steps"], "random_state": setting["seed"], "n_jobs": 1,
        "callbacks": [RecordEvery(max(1, setting["n_steps"] // N_RECORDS))],
    }  # fmt: skip
    if setting["task"] == "detection":
        model = RDPDetector.paper(n_members=1, n_rounds=1, novelty_weight=setting["auxiliary"], **common)
    else:
        model = RDPTransformer.paper(n_components=256, reconstruction_weight=setting["auxiliary"], **common)
    history = model.fit(rows).history_
    losses = [name for name in history[0] if name.endswith("_loss")]
    return {
        "step": [int(record["step"]) for record in history],
        **{name: [float(record[name]) for record in history] for name in losses if history[0][name] is not None},
    }


def learned(record: dict[str, Any]) -> float:
    """Give the loss at the end as a share of the loss at the start."""
    losses = record["measured"]["distance_loss"]
    return losses[-1] / losses[0]


def draw(records: Iterable[dict[str, Any]], path: Path) -> None:
    """Draw L_rdp over steps, as a share of its first record, one panel a set."""
    from experiments.plots import new_figures, save_figure

    records = list(records)
    names = list(dict.fromkeys((record["setting"]["task"], record["setting"]["data"]) for record in records))
    figure, panels = new_figures(1, len(names), 3.6 * len(names), 3.6)
    for axes, (task, data) in zip(panels if len(names) > 1 else [panels], names, strict=True):
        for record in records:
            if (record["setting"]["task"], record["setting"]["data"]) == (task, data):
                losses = record["measured"]["distance_loss"]
                label = "with L_aux" if record["setting"]["auxiliary"] else "L_rdp alone"
                axes.plot(record["measured"]["step"], [loss / losses[0] for loss in losses], label=label)
        axes.set(xlabel="steps", yscale="log", title=f"{task}: {datasets.title(data)}")
        axes.legend(fontsize=8)
    (panels if len(names) == 1 else panels[0]).set_ylabel("L_rdp, share of its start")
    save_figure(figure, path)
