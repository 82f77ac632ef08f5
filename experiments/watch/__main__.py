"""Fit on a half, watch eight sixteenths as they are and a quarter after each drift; a line a fit, then the page."""

from __future__ import annotations

import argparse
import hashlib
import platform
import time
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa

import rdplearn
from experiments.datasets import REPOSITORY
from experiments.machine import describe_machine
from experiments.results import RESULTS, append, read_file
from experiments.watch.drifts import DRIFTS, Scene
from experiments.watch.sources import names, split

LINES = RESULTS / "watch" / "lines.jsonl"
PAGE, MARK, END = REPOSITORY / "docs" / "watch.md", "<!-- watch -->", "<!-- end -->"
N_SEEDS = 1
SEEDS_OF_MADE_UP = 2


def measure(source: str, seed: int) -> dict[str, Any]:
    """One fit: its verdicts on tables of the same source, and on the first four of them, joined, after each drift."""
    started, cpu = time.strftime("%Y-%m-%d %H:%M"), time.process_time()
    pieces = split(source, seed)
    model = rdplearn.TableModel(rdplearn.RDPDetector(random_state=seed)).fit(pieces.fit)
    rdplearn.remember_scores(model, pieces.fit)
    same = [_verdict(model, part) for part in pieces.parts]
    drifts = {}
    for number, (words, plant) in enumerate(DRIFTS.items()):
        scene = Scene.of(pa.concat_tables(pieces.parts[:4]), model.encoder, np.random.default_rng([seed, number]))
        changed = plant(scene)
        if changed is not None:
            drifts[words] = _verdict(model, pa.Table.from_pandas(changed, preserve_index=False))
    return {
        "source": source,
        "seed": seed,
        "n_rows": pieces.fit.num_rows,
        "n_columns": pieces.fit.num_columns,
        "data": pieces.checksum,
        "same": same,
        "drifts": drifts,
        "code": code_version(),
        "seconds": round(time.process_time() - cpu, 1),
        "started": started,
        "versions": {"rdplearn": rdplearn.__version__, "python": platform.python_version(), "numpy": np.__version__},
        "machine": describe_machine(),
    }


def code_version() -> str:
    """What the verdicts hang on: a checksum of the code that makes them, and of the drifts."""
    folder = REPOSITORY / "src" / "rdplearn"
    files = [
        *sorted((folder / "_watch").glob("*.py")),
        folder / "table" / "profiles.py",
        folder / "table" / "memory.py",
    ]
    files += sorted((REPOSITORY / "experiments" / "watch").glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def _verdict(model: rdplearn.TableModel, table: pa.Table) -> dict[str, Any]:
    found = rdplearn.watch(model, table)
    reasons = [[change.matter, change.column, round(change.effect, 4)] for change in found.reasons()[:3]]
    return {"due": found.due, "n_rows": found.n_rows, "reasons": reasons}


def main() -> None:
    """Do the runs that no line records yet, then write the table into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most-seconds", type=float, default=1800.0, help="processor seconds of this run, at most")
    parser.add_argument("--page-only", action="store_true", help="write the page from the lines that there are")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore", rdplearn.RDPWarning)
    for seed in range(0 if wanted.page_only else max(N_SEEDS, SEEDS_OF_MADE_UP)):
        for source in names():
            is_planned = seed < (SEEDS_OF_MADE_UP if source.startswith("made up/") else N_SEEDS)
            if is_planned and (source, seed) not in recorded() and time.process_time() < wanted.most_seconds:
                line = measure(source, seed)
                append(LINES, line)
                false, missed = (
                    sum(v["due"] for v in line["same"]),
                    [w for w, v in line["drifts"].items() if not v["due"]],
                )
                print(source, seed, f"{line['seconds']} s", f"{false} false", "missed:", missed, flush=True)
    if PAGE.exists():
        PAGE.write_text(with_figures(PAGE.read_text(), list(read_file(LINES))))


def recorded() -> set[tuple[str, int]]:
    """The runs that have a line; another process may have added some."""
    return {(line["source"], line["seed"]) for line in (read_file(LINES) if LINES.exists() else [])}


def with_figures(page: str, lines: list[dict[str, Any]]) -> str:
    """The page with the figures between its two marks."""
    before, _, rest = page.partition(MARK)
    told = [sentence_of_false_alarms(lines), "", "| planted | tables | found |", "|---|---|---|"]
    for words, verdicts in by_drift(lines).items():
        found = sum(verdict["due"] for verdict in verdicts)
        told.append(f"| {words} | {len(verdicts)} | {found / len(verdicts):.0%} |")
    every = [verdict for verdicts in by_drift(lines).values() for verdict in verdicts]
    told.append(f"| **all** | {len(every)} | {sum(verdict['due'] for verdict in every) / len(every):.0%} |")
    return f"{before}{MARK}\n" + "\n".join(told) + f"\n{END}{rest.partition(END)[2]}"


def sentence_of_false_alarms(lines: list[dict[str, Any]]) -> str:
    """How often tables of the same source were called changed."""
    verdicts = [verdict for line in lines for verdict in line["same"]]
    false, n_sources = sum(verdict["due"] for verdict in verdicts), len({line["source"] for line in lines})
    share = false / len(verdicts)
    return (
        f"Of {len(verdicts)} tables from the same source as the fit's ({n_sources} sources, {len(lines)} fits), "
        f"{false} ({share:.1%}) were called changed."
    )


def by_drift(lines: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The verdicts on each drift, in the order of the list of drifts."""
    gathered: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        for words, verdict in line["drifts"].items():
            gathered[words].append(verdict)
    return {words: gathered[words] for words in DRIFTS if words in gathered}


if __name__ == "__main__":
    main()
