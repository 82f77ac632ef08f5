"""Twenty-two ways in which the world changes: each takes a table and gives the table after it, or None where it cannot.

The encoder of the model says what the columns are. Which column is changed is drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.stats import ks_2samp

from rdplearn.table import TableEncoder
from rdplearn.table.cells import MISSING_MARKERS
from rdplearn.table.encodings import Number

Rng = np.random.Generator


@dataclass(frozen=True)
class Scene:
    """A table before the change, the kinds of its columns, and where chance comes from."""

    frame: pd.DataFrame
    kinds: dict[str, str]
    rng: Rng

    @classmethod
    def of(cls, rows: pa.Table, encoder: TableEncoder, rng: Rng) -> Scene:
        plain = {column.source: getattr(column.encoding, "decimal", None) is None for column in encoder.columns_}
        kinds = {
            column.source: column.kind
            for column in encoder.columns_
            if not isinstance(column.encoding, Number) or plain[column.source]
        }
        return cls(rows.to_pandas().replace(list(MISSING_MARKERS), None), kinds, rng)

    def numbers(self, name: str) -> pd.Series:
        return pd.to_numeric(self.frame[name], errors="coerce")

    def a_number(self) -> str | None:
        """A column of numbers that differ: its middle half spans something."""
        fit = [name for name in self.of_kind("number") if self._span(name) > 0]
        return str(self.rng.choice(fit)) if fit else None

    def a_category(self, *, least: float = 0.15, largest: float = 0.95) -> str | None:
        """A column of categories whose most frequent value is in such a share of the rows."""
        fit = []
        for name in self.of_kind("category"):
            shares = self.frame[name].value_counts(normalize=True)
            if len(shares) > 1 and least <= shares.iloc[0] <= largest and self.frame[name].notna().mean() > 0.8:
                fit.append(name)
        return str(self.rng.choice(fit)) if fit else None

    def one_of(self, kind: str) -> str | None:
        fit = [name for name in self.of_kind(kind) if self.frame[name].notna().mean() > 0.5]
        return str(self.rng.choice(fit)) if fit else None

    def some_rows(self, share: float) -> np.ndarray:
        return self.rng.random(len(self.frame)) < share

    def with_column(self, name: str, values: object) -> pd.DataFrame:
        return self.frame.assign(**{name: values})

    def of_kind(self, kind: str) -> list[str]:
        return [name for name, of_column in self.kinds.items() if of_column == kind]

    def _span(self, name: str) -> float:
        low, high = self.numbers(name).quantile([0.25, 0.75])
        return float(high - low)


Drift = Callable[[Scene], pd.DataFrame | None]
DRIFTS: dict[str, Drift] = {}


def drift(words: str) -> Callable[[Drift], Drift]:
    def keep(function: Drift) -> Drift:
        DRIFTS[words] = function
        return function

    return keep


def on_number(words: str, change: Callable[[Scene, pd.Series], pd.Series]) -> None:
    """A change of the values of one column of numbers."""

    def changed(scene: Scene) -> pd.DataFrame | None:
        name = scene.a_number()
        if name is None:
            return None
        before = scene.numbers(name)
        after = change(scene, before)
        n_missing = int(after.isna().sum() - before.isna().sum())
        n_moved = int((after != before).sum() - before.isna().sum())
        # a column of few values may be as it was: then nothing was planted
        return scene.with_column(name, after) if max(n_moved, n_missing) >= 0.12 * len(before) else None

    DRIFTS[words] = changed


def _half_a_span(scene: Scene, values: pd.Series) -> pd.Series:
    low, high = values.quantile([0.25, 0.75])
    return values + (high - low) / 2


on_number("a number higher by half the span of its middle half", _half_a_span)
on_number("a number half as large again", lambda scene, values: values * 1.5)
on_number("a number in other units, 1,000 times as large", lambda scene, values: values * 1000)
on_number(
    "a number spread twice as far around its median",
    lambda scene, values: values.median() + 2 * (values - values.median()),
)
on_number("a sensor that sticks at its median in 30 % of the rows", lambda s, v: v.mask(s.some_rows(0.3), v.median()))
on_number("a number cut at its 70 % point", lambda scene, values: values.clip(upper=values.quantile(0.7)))
on_number("a number missing in 15 % more of the rows", lambda s, v: v.mask(s.some_rows(0.15)))


@drift("words among the numbers of a column, in 10 % of the rows")
def words_among_numbers(scene: Scene) -> pd.DataFrame | None:
    name = scene.a_number()
    if name is None:
        return None
    texts = scene.numbers(name).map(lambda value: "" if pd.isna(value) else repr(float(value)))
    return scene.with_column(name, texts.mask(scene.some_rows(0.1), "error 7"))


@drift("a column gone")
def column_gone(scene: Scene) -> pd.DataFrame | None:
    name = scene.a_number() or scene.a_category()
    return None if name is None else scene.frame.drop(columns=name)


@drift("two columns of numbers swapped")
def swapped(scene: Scene) -> pd.DataFrame | None:
    one = scene.a_number()
    if one is None:
        return None
    unlike = [name for name in scene.of_kind("number") if _distance(scene.numbers(one), scene.numbers(name)) >= 0.2]
    if not unlike:
        return None
    other = str(scene.rng.choice(unlike))
    return scene.frame.assign(**{one: scene.frame[other], other: scene.frame[one]})


def _distance(one: pd.Series, other: pd.Series) -> float:
    """How unlike the values of two columns are: the largest distance of their distributions."""
    found, others = one.dropna(), other.dropna()
    return float(ks_2samp(found, others).statistic) if len(found) and len(others) else 0.0


@drift("half of the most frequent value of a category become the second")
def shares_change(scene: Scene) -> pd.DataFrame | None:
    name = scene.a_category(least=0.3)
    if name is None:
        return None
    first, second = scene.frame[name].value_counts().index[:2]
    return scene.with_column(name, scene.frame[name].mask((scene.frame[name] == first) & scene.some_rows(0.5), second))


@drift("a new value of a category, in 10 % of the rows")
def new_category(scene: Scene) -> pd.DataFrame | None:
    name = scene.a_category()
    return None if name is None else scene.with_column(name, scene.frame[name].mask(scene.some_rows(0.1), "brand new"))


@drift("only the most frequent value of a category is left")
def one_category(scene: Scene) -> pd.DataFrame | None:
    name = scene.a_category(largest=0.85)
    if name is None:
        return None
    first = scene.frame[name].value_counts().index[0]
    return scene.with_column(name, scene.frame[name].where(scene.frame[name].isna(), first))


@drift("a category written in capitals")
def capitals(scene: Scene) -> pd.DataFrame | None:
    name = scene.a_category()
    if name is None:
        return None
    texts = scene.frame[name].astype("string")
    return scene.with_column(name, texts.str.upper()) if (texts.str.upper() != texts).mean() > 0.2 else None


@drift("a category missing in 15 % more of the rows")
def category_missing(scene: Scene) -> pd.DataFrame | None:
    name = scene.a_category()
    return None if name is None else scene.with_column(name, scene.frame[name].mask(scene.some_rows(0.15)))


@drift("a yes and no turned over")
def turned_over(scene: Scene) -> pd.DataFrame | None:
    name = scene.one_of("boolean")
    if name is None:
        return None
    values = scene.frame[name].dropna().unique()
    shares = scene.frame[name].value_counts(normalize=True)
    if len(values) != 2 or abs(shares.iloc[0] - 0.5) < 0.1:
        return None
    return scene.with_column(name, scene.frame[name].map({values[0]: values[1], values[1]: values[0]}))


@drift("dates that go on, by the span of their middle half")
def later(scene: Scene) -> pd.DataFrame | None:
    name = scene.one_of("date")
    if name is None:
        return None
    moments = pd.to_datetime(scene.frame[name], errors="coerce", format="mixed")
    low, high = moments.quantile([0.25, 0.75])
    return scene.with_column(name, moments + (high - low).ceil("D")) if moments.notna().mean() > 0.5 else None


@drift("only the latest 40 % of the dates")
def latest(scene: Scene) -> pd.DataFrame | None:
    name = scene.one_of("date")
    if name is None:
        return None
    moments = pd.to_datetime(scene.frame[name], errors="coerce", format="mixed")
    kept = scene.frame[moments >= moments.quantile(0.6)]
    return kept if 50 <= len(kept) <= 0.7 * len(scene.frame) else None


@drift("texts cut to half their letters")
def shorter(scene: Scene) -> pd.DataFrame | None:
    name = scene.one_of("text")
    if name is None:
        return None
    cut = scene.frame[name].map(lambda text: text[: max(1, len(text) // 2)] if isinstance(text, str) else text)
    return scene.with_column(name, cut)


@drift("only the rows with one value of a category")
def one_group(scene: Scene) -> pd.DataFrame | None:
    name = scene.a_category(largest=0.8)
    if name is None:
        return None
    kept = scene.frame[scene.frame[name] == scene.frame[name].value_counts().index[0]]
    return kept if len(kept) >= 50 else None


@drift("only the upper half of a number")
def upper_half(scene: Scene) -> pd.DataFrame | None:
    name = scene.a_number()
    if name is None:
        return None
    values = scene.numbers(name)
    kept = scene.frame[values >= values.median()]
    return kept if len(kept) <= 0.7 * len(scene.frame) else None


@drift("all columns shuffled, each on its own: every column alone is as before")
def shuffled(scene: Scene) -> pd.DataFrame | None:
    frame = scene.frame.copy()
    for name in frame.columns:
        frame[name] = frame[name].to_numpy()[scene.rng.permutation(len(frame))]
    return frame
