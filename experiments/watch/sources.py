"""Where tables come from: the mixed tables of RDPLEARN_DATA, and made-up ones; a half to fit on, and parts."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from rdplearn.table import open_table

Rng = np.random.Generator
N_MADE_UP, N_PARTS = 4_000, 8


@dataclass(frozen=True)
class Split:
    """Rows to fit on, tables of other rows from the same source, and the checksum of the source."""

    fit: pa.Table
    parts: list[pa.Table]
    checksum: str


def names() -> list[str]:
    """All sources; those of RDPLEARN_DATA only where it is."""
    folder = mixed_folder()
    real = sorted(f"mixed/{path.stem}" for path in folder.glob("*.csv")) if folder is not None else []
    return [*real, *(f"made up/{name}" for name in MADE_UP)]


def mixed_folder() -> Path | None:
    """The folder of mixed tables, if there is one."""
    folder = Path(os.environ.get("RDPLEARN_DATA", "")) / "mixed"
    return folder if os.environ.get("RDPLEARN_DATA") and folder.is_dir() else None


def split(source: str, seed: int) -> Split:
    """Half of the rows to fit on and a sixteenth for each part, drawn at random."""
    rng = np.random.default_rng([seed, 25])
    if source.startswith("made up/"):
        frame = MADE_UP[source.removeprefix("made up/")](N_MADE_UP, rng)
        table, checksum = pa.Table.from_pandas(frame, preserve_index=False), "made up"
    else:
        table, checksum = _read(source.removeprefix("mixed/"))
    order = rng.permutation(table.num_rows)
    to_fit, others = order[: len(order) // 2], np.array_split(order[len(order) // 2 :], N_PARTS)
    return Split(_taken(table, to_fit), [_taken(table, places) for places in others], checksum)


def _taken(table: pa.Table, places: np.ndarray) -> pa.Table:
    return table.take(pa.array(np.sort(places)))


@functools.lru_cache(maxsize=2)
def _read(stem: str) -> tuple[pa.Table, str]:
    folder = mixed_folder()
    if folder is None:
        raise FileNotFoundError("The mixed tables are in the folder that RDPLEARN_DATA names. Set it first.")
    path = folder / f"{stem}.csv"
    table = pa.Table.from_batches(list(open_table(str(path)).batches()))
    return table, hashlib.sha256(path.read_bytes()).hexdigest()


def orders(n: int, rng: Rng) -> pd.DataFrame:
    """Amounts, countries, weekdays by day, notes; amounts hang on the country."""
    country = rng.choice(["Norway", "Italy", "France", "Chad"], n, p=[0.5, 0.3, 0.19, 0.01])
    level = pd.Series(country).map({"Norway": 4.0, "Italy": 3.5, "France": 3.0, "Chad": 5.0}).to_numpy()
    seconds = rng.integers(0, 120, n) * 86_400 + rng.integers(7, 20, n) * 3600
    words = np.array(["please", "ring", "twice", "leave", "at", "the", "door", "thank", "you", "kindly"])
    return pd.DataFrame(
        {
            "amount": np.exp(rng.normal(level, 0.5)).round(2),
            "items": rng.poisson(3, n) + 1,
            "country": country,
            "paid": rng.random(n) < 0.8,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(seconds, unit="s"),
            "note": [" ".join(rng.choice(words, rng.integers(5, 14))) for _ in range(n)],
            "discount": np.where(rng.random(n) < 0.7, np.nan, rng.random(n).round(2)),
        }
    )


def sensors(n: int, rng: Rng) -> pd.DataFrame:
    """Twelve numbers that hang on three causes, and a machine."""
    causes = rng.normal(size=(n, 3)) @ np.random.default_rng(5).normal(size=(3, 12))
    frame = pd.DataFrame(causes + 0.2 * rng.normal(size=(n, 12)), columns=[f"sensor {k}" for k in range(12)])
    return frame.assign(machine=rng.choice(list("ABCDE"), n))


def many(n: int, rng: Rng) -> pd.DataFrame:
    """Sixty columns of numbers that grow with the size of a row, each on its own scale; a third are mostly zero."""
    scales = np.random.default_rng(5).lognormal(size=60)
    values = rng.lognormal(size=(n, 60)) * rng.lognormal(size=(n, 1)) * scales
    values[:, :20] *= rng.random((n, 20)) < 0.15
    return pd.DataFrame(values, columns=[f"x{k}" for k in range(60)])


def people(n: int, rng: Rng) -> pd.DataFrame:
    """Categories of many and of few values, some of them rare; income hangs on age and job."""
    job, age = rng.integers(25, size=n), rng.integers(18, 90, n)
    cities = np.array([f"city {k}" for k in range(300)])
    shares = 1 / np.arange(1, 301)
    return pd.DataFrame(
        {
            "city": rng.choice(cities, n, p=shares / shares.sum()),
            "job": [f"job {number}" for number in job],
            "age": age,
            "smoker": rng.choice(["yes", "no"], n, p=[0.2, 0.8]),
            "income": np.exp(rng.normal(9 + age / 60 + job / 25, 0.2)).round(),
            "since": pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), unit="D"),
        }
    )


MADE_UP: dict[str, Callable[[int, Rng], pd.DataFrame]] = {
    "orders": orders,
    "sensors": sensors,
    "many columns": many,
    "people": people,
}
