"""`rdplearn demo`: the main job, start to finish, on a table that comes with scikit-learn.

The table holds 30 measurements of cell nuclei from breast tumours. All 357 benign ones are kept and every tenth
malignant one: 379 rows, 22 of them of another kind. The detector sees the measurements alone; the diagnosis is looked
at afterwards.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import Jobs, Seed, TopCount

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from rdplearn._types import Doubles

    Flags = npt.NDArray[np.bool_]

SHOWN_COLUMNS = ("mean radius", "mean concavity", "worst area")


def demo(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the scores, as CSV.")] = Path(
        "demo_scores.csv"
    ),
    n_top: TopCount = 10,
    seed: Seed = 0,
    n_jobs: Jobs = -1,
    talk: TalkOptions,
) -> None:
    """Find tumours that are unlike the rest, in data that comes with scikit-learn.

    Example: rdplearn demo --top 5 -o scores.csv
    """
    if str(output) == "-":
        raise typer.BadParameter("must name a file: the demo prints what it has found.", param_hint="--output")
    from rdplearn.cli.checks import check_paths

    check_paths({}, None, str(output))
    facts = find_tumours(output, n_top=n_top, seed=seed, n_jobs=n_jobs, verbose=talk.shows_progress)
    talk.tell(facts, print_tumours)


def find_tumours(output: Path, *, n_top: int, seed: int, n_jobs: int, verbose: bool) -> dict[str, Any]:
    """Fit, score, write the scores to `output` and return what was found, as plain values."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    from rdplearn._files.atomic import checked_target
    from rdplearn.detector import RDPDetector

    checked_target(output)  # before the work, not after it
    names, table, malignant = tumours()
    detector = RDPDetector(n_jobs=n_jobs, random_state=seed, verbose=verbose).fit(table)
    scores = -detector.score_samples(table)
    reported = detector.predict(table) == -1
    write_scores(output, scores, reported, malignant)
    return {
        "n_rows": len(table),
        "n_columns": len(names),
        "n_anomalous": int(reported.sum()),
        "n_malignant": int(malignant.sum()),
        "n_malignant_reported": int((reported & malignant).sum()),
        "auc_roc": float(roc_auc_score(malignant, scores)),
        "auc_pr": float(average_precision_score(malignant, scores)),
        "top": top_rows(names, table, scores, malignant, n_top),
        "output": str(output),
    }


def print_tumours(facts: Mapping[str, Any]) -> None:
    lines = ["rank   row    score   " + "   ".join(f"{name:>14}" for name in SHOWN_COLUMNS) + "   diagnosis"]
    for rank, row in enumerate(facts["top"], start=1):
        values = "   ".join(f"{row[name]:14.2f}" for name in SHOWN_COLUMNS)
        lines.append(f"{rank:4d} {row['row']:5d}  {row['anomaly_score']:7.3f}   {values}   {row['diagnosis']}")
    told = [
        f"{facts['n_rows']} tumours, {facts['n_columns']} measurements each; the detector saw no diagnosis.",
        "",
        *lines,
        "",
        f"Reported as anomalous: {facts['n_anomalous']} rows, {facts['n_malignant_reported']} of them malignant "
        f"(of {facts['n_malignant']} in the table).",
        f"Agreement with the diagnosis: AUC-ROC {facts['auc_roc']:.3f}, AUC-PR {facts['auc_pr']:.3f}.",
        f"Scores of all rows: {facts['output']}",
    ]
    typer.echo("\n".join(told))


def tumours() -> tuple[list[str], Doubles, Flags]:
    """Names of the measurements, the table, and which rows are malignant."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    malignant = bunch.target == 0
    kept = ~malignant
    kept[malignant.nonzero()[0][::10]] = True
    return list(bunch.feature_names), bunch.data[kept], malignant[kept]


def top_rows(
    names: list[str],
    table: Doubles,
    scores: Doubles,
    malignant: Flags,
    n_top: int,
) -> list[dict[str, Any]]:
    """The rows with the highest scores, counted from 1."""
    return [
        {
            "row": int(row) + 1,
            "anomaly_score": float(scores[row]),
            **{name: float(table[row, names.index(name)]) for name in SHOWN_COLUMNS},
            "diagnosis": "malignant" if malignant[row] else "benign",
        }
        for row in (-scores).argsort(kind="stable")[:n_top]
    ]


def write_scores(
    path: Path,
    scores: Doubles,
    reported: Flags,
    malignant: Flags,
) -> None:
    """Write a CSV file, whole or not at all."""
    from rdplearn._files.atomic import written_whole

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "anomaly_score", "anomalous", "malignant"])
    for row, (score, alarm, label) in enumerate(zip(scores, reported, malignant, strict=True), start=1):
        writer.writerow([row, f"{score:.6g}", int(alarm), int(label)])
    with written_whole(path) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")
