"""The report: what it costs beside scoring the table and drawing the map, and how much the page weighs."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measuring import best_times
from rdplearn import RDPDetector, TableModel, write_report
from rdplearn.report import place_on_map
from rdplearn.report.gathering import N_ORDINARY, N_TOP

N_ROWS = 100_000
N_NUMBERS, N_CATEGORIES, N_DATES = 24, 4, 2


def mixed_table() -> pa.Table:
    rng = np.random.default_rng(0)
    common = rng.normal(size=(N_ROWS, 4)) @ rng.normal(size=(4, N_NUMBERS))
    numbers = common + rng.normal(size=common.shape)
    columns: dict[str, object] = {f"number {place}": numbers[:, place] for place in range(N_NUMBERS)}
    words = np.array([f"value {place}" for place in range(8)])
    columns |= {f"category {place}": rng.choice(words, N_ROWS) for place in range(N_CATEGORIES)}
    days = rng.integers(19_000, 19_700, size=(N_ROWS, N_DATES)).astype("datetime64[D]")
    columns |= {f"date {place}": days[:, place] for place in range(N_DATES)}
    return pa.table(columns)


def report() -> list[dict[str, object]]:
    """100,000 x 30 in a Parquet file, default detector, one thread, seconds of the processor."""
    with tempfile.TemporaryDirectory() as name:
        path, page = Path(name) / "table.parquet", Path(name) / "report.html"
        table = mixed_table()
        pq.write_table(table, path)
        model = TableModel(RDPDetector(random_state=0, n_jobs=1)).fit(path)
        drawn = model.encoder.transform(table.slice(0, N_TOP + N_ORDINARY))
        seconds = best_times(
            {
                "scoring": lambda: model.score_samples(path),
                "map": lambda: place_on_map(model.estimator, drawn),
                "report": lambda: write_report(model, path, page),
            },
            n_turns=3,
            clock=time.process_time,
        )
        n_bytes = page.stat().st_size
    ratio = seconds["report"] / (seconds["scoring"] + seconds["map"])
    return [
        {
            "rows": N_ROWS,
            "columns": table.num_columns,
            **seconds,
            "report / (scoring + map)": ratio,
            "at most": 2.0,
            "page MB": n_bytes / 1e6,
            "at most MB": 8.0,
        }
    ]


ALL = {"report": report}
