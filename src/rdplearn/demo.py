"""The main job, start to finish, on a table that comes with scikit-learn.

The table holds 30 measurements of cell nuclei from breast tumours. All 357 benign ones are kept and every tenth
malignant one: 379 rows, 22 of them of another kind. The detector sees the measurements alone; the diagnosis is looked
at afterwards.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import average_precision_score, roc_auc_score

from rdplearn.detector import RDPDetector
from rdplearn.whole_files import checked_target, written_whole

SHOWN_COLUMNS = ("mean radius", "mean concavity", "worst area")


def run(output: Path, *, n_top: int, seed: int, n_jobs: int, verbose: bool = True) -> str:
    """Fit, score, write the scores to `output` and return what there is to read."""
    checked_target(output)  # before the work, not after it
    names, table, malignant = tumours()
    detector = RDPDetector(n_jobs=n_jobs, random_state=seed, verbose=verbose).fit(table)
    scores = -detector.score_samples(table)
    reported = detector.predict(table) == -1
    write_scores(output, scores, reported, malignant)
    return "\n".join(
        [
            f"{len(table)} tumours, {len(names)} measurements each; the detector saw no diagnosis.",
            "",
            top_rows(names, table, scores, malignant, n_top),
            "",
            f"Reported as anomalous: {reported.sum()} rows, {np.sum(reported & malignant)} of them malignant "
            f"(of {malignant.sum()} in the table).",
            f"Agreement with the diagnosis: AUC-ROC {roc_auc_score(malignant, scores):.3f}, "
            f"AUC-PR {average_precision_score(malignant, scores):.3f}.",
            f"Scores of all rows: {output}",
        ]
    )


def tumours() -> tuple[list[str], npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Names of the measurements, the table, and which rows are malignant."""
    bunch = load_breast_cancer()
    malignant = bunch.target == 0
    rows = np.sort(np.concatenate([np.flatnonzero(~malignant), np.flatnonzero(malignant)[::10]]))
    return list(bunch.feature_names), bunch.data[rows], malignant[rows]


def top_rows(
    names: list[str],
    table: npt.NDArray[np.float64],
    scores: npt.NDArray[np.float64],
    malignant: npt.NDArray[np.bool_],
    n_top: int,
) -> str:
    """A table of the rows with the highest scores."""
    shown = [names.index(name) for name in SHOWN_COLUMNS]
    lines = ["rank   row   score   " + "   ".join(f"{name:>14}" for name in SHOWN_COLUMNS) + "   diagnosis"]
    for rank, row in enumerate(np.argsort(-scores, kind="stable")[:n_top], start=1):
        values = "   ".join(f"{table[row, column]:14.2f}" for column in shown)
        diagnosis = "malignant" if malignant[row] else "benign"
        lines.append(f"{rank:4d} {row:5d}  {scores[row]:6.4f}   {values}   {diagnosis}")
    return "\n".join(lines)


def write_scores(
    path: Path,
    scores: npt.NDArray[np.float64],
    reported: npt.NDArray[np.bool_],
    malignant: npt.NDArray[np.bool_],
) -> None:
    """Write a CSV file, whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "score", "anomalous", "malignant"])
    for row, (score, alarm, label) in enumerate(zip(scores, reported, malignant, strict=True)):
        writer.writerow([row, f"{score:.6g}", int(alarm), int(label)])
    with written_whole(path) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")
