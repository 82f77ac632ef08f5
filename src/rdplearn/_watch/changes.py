"""What has changed in a column, or in the scores: each thing that was compared, its size, and its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rdplearn._watch.evidence import (
    Evidence,
    above_promise,
    change_of_share,
    corrected,
    distance_of_counts,
    rise_of_ranks,
    rise_of_share,
)
from rdplearn.table.memory import ScoreMemory
from rdplearn.table.profiles import HOURS, LETTERS, VALUES, WEEKDAYS, ColumnProfile, Histogram
from rdplearn.table.typical import number_text, value_words

ALARMS, SCORES, MISSING, UNREAD, NEW, GONE = "alarms", "scores", "missing", "unread", "new", "gone"
# The share of rows that a change must touch to matter, whatever its significance.
LEAST = {VALUES: 0.1, HOURS: 0.1, WEEKDAYS: 0.1, LETTERS: 0.1, SCORES: 0.15, MISSING: 0.05, UNREAD: 0.02, NEW: 0.02}
LEAST_MORE_ALARMS, LEAST_RISE_OF_ALARMS = 0.005, 0.5  # of all rows, and of the rate that was expected
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Change:
    """One thing that was compared.

    column : None for alarms and scores
    matter : what was compared, such as "values" or "missing"
    effect : as a share of the rows; `least` is the smallest that matters
    p_value : how often chance alone would do this, corrected for all that was compared
    places, at_fit, now : where values were counted, in words, and the share of the rows in each; empty if nowhere
    """

    column: str | None
    matter: str
    effect: float
    least: float
    p_value: float
    words: str
    places: list[str] = field(default_factory=list)
    at_fit: list[float] = field(default_factory=list)
    now: list[float] = field(default_factory=list)

    def matters(self, level: float) -> bool:
        """Whether it is large, and no chance."""
        return self.effect >= self.least and self.p_value <= level


def with_correction(changes: Sequence[Change]) -> list[Change]:
    """The same changes with the p-values of all of them corrected for their number."""
    values = corrected([change.p_value for change in changes]) if changes else []
    return [replace(change, p_value=value) for change, value in zip(changes, values, strict=True)]


def column_changes(known: ColumnProfile, new: ColumnProfile) -> Iterator[Change]:
    """Compare what is remembered of a column with what was counted of later rows."""

    def change(matter: str, evidence: Evidence, words: str) -> Change:
        return Change(known.column, matter, evidence.effect, LEAST[matter], evidence.p_value, words)

    if known.kind == "unreadable" or known.n_rows == 0 or new.n_rows == 0:
        return
    now, then = new.n_missing / new.n_rows, known.n_missing / known.n_rows
    if known.n_missing or new.n_missing:
        evidence = change_of_share(known.n_missing, known.n_rows, new.n_missing, new.n_rows)
        yield change(MISSING, evidence, f"is missing in {_percent(now)} of the rows, {_percent(then)} at fit")
    if new.n_unread:
        evidence = rise_of_share(known.n_unread, known.n_rows, new.n_unread, new.n_rows)
        yield change(UNREAD, evidence, _unread_words(known, new))
    for before, after in zip(known.histograms, new.histograms, strict=True):
        evidence, words = distance_of_counts(before.counts, after.counts), _moved_words(known.kind, before, after)
        yield replace(change(before.what, evidence, words), **_places(known.kind, before, after))
        if before.n_new is not None and after.n_new:
            evidence = rise_of_share(before.n_new, before.total, after.n_new, after.total)
            yield change(NEW, evidence, _new_words(before, after, new.examples.get("new", "")))


def gone_column(name: str, is_used: bool) -> Change:
    """A column that is not there any more; one that the model has no use for is no loss."""
    return Change(name, GONE, 1.0 if is_used else 0.0, 0.5, 0.0, "is not there any more")


def score_changes(known: ScoreMemory, counted: Histogram, n_beyond: int, promised: float | None) -> Iterator[Change]:
    """Compare how rows score, and how many are reported, with what is remembered and what was promised."""
    n_rows = counted.total
    if n_rows == 0:
        return
    evidence = rise_of_ranks(known.histogram.counts, counted.counts)
    higher = _percent((1 + evidence.effect) / 2)
    words = f"a new row scores higher than one at fit in {higher} of the cases; 50% or less would be no change"
    change = Change(None, SCORES, evidence.effect, LEAST[SCORES], evidence.p_value, words)
    yield replace(change, **_places("number", known.histogram, counted))
    expected = known.n_beyond / known.n_rows
    evidence = rise_of_share(known.n_beyond, known.n_rows, n_beyond, n_rows)
    p_value = evidence.p_value
    told = f"{_percent(expected)} were expected"
    if promised is not None:
        p_value = max(p_value, above_promise(promised, n_beyond, n_rows))
        told += f", {_percent(promised)} were promised"
    least = max(LEAST_MORE_ALARMS, LEAST_RISE_OF_ALARMS * expected)
    words = f"{_percent(n_beyond / n_rows)} of the rows are reported; {told}"
    yield Change(None, ALARMS, evidence.effect, least, p_value, words)


def _unread_words(known: ColumnProfile, new: ColumnProfile) -> str:
    example = f", such as {value_words(new.examples['unread'])!r}" if "unread" in new.examples else ""
    now, then = _percent(new.n_unread / new.n_rows), _percent(known.n_unread / known.n_rows)
    return f"has cells that cannot be read as {known.kind} in {now} of the rows{example}; {then} at fit"


def _new_words(before: Histogram, after: Histogram, example: str) -> str:
    share = _percent((after.n_new or 0) / max(after.total, 1))
    if before.words:
        such = f", such as {value_words(example)!r}" if example else ""
        return f"has values that were not there at fit in {share} of the rows{such}"
    low, high = (number_text(float(end or 0.0)) for end in (before.low, before.high))
    return f"lies outside {low} to {high}, the range at fit, in {share} of the rows"


def _moved_words(kind: str, before: Histogram, after: Histogram) -> str:
    if after.total == 0:
        return "has no value left that can be compared"
    if before.words or before.what == WEEKDAYS or kind == "boolean":
        shares = _places(kind, before, after)
        most = int(np.argmax(np.abs(np.subtract(shares["now"], shares["at_fit"]))))
        now, then = _percent(shares["now"][most]), _percent(shares["at_fit"][most])
        return f"is {shares['places'][most]} in {now} of the rows, {then} at fit"
    then, now = (_middle(kind, counts, before) for counts in (before, after))
    name = {VALUES: "", HOURS: "has hours that ", LETTERS: "has a number of letters that "}[before.what]
    verb = "are" if before.what == HOURS else "is"
    return f"{name}{verb} {now} in the middle half of the rows, {then} at fit"


def _places(kind: str, before: Histogram, after: Histogram) -> dict[str, Any]:
    """The names of the places, and the share of the rows that each has, at fit and now."""
    at_fit, now = ((np.array(counts.counts) / max(counts.total, 1)).tolist() for counts in (before, after))
    return {"places": _names(kind, before), "at_fit": at_fit, "now": now}


def _names(kind: str, places: Histogram) -> list[str]:
    if places.words:
        return [*(value_words(word) for word in places.words), "other values"]
    if places.what == WEEKDAYS:
        return [DAYS[int(np.clip(edge, 0, 6))] for edge in [*places.edges, 6]]
    if kind == "boolean":
        return ["no", "yes"] if places.edges else ["yes" if places.high else "no"]
    ends = [_shown(kind, places.what, edge) for edge in places.edges]
    return [*(f"to {end}" for end in ends), f"above {ends[-1]}" if ends else "all"]


def _middle(kind: str, counts: Histogram, places: Histogram) -> str:
    """Where the middle half lies: the counts tell it up to the places."""
    known = replace(counts, edges=places.edges)
    low, high = (_shown(kind, counts.what, known.quantile(share)) for share in (0.25, 0.75))
    return low if low == high else f"{low} to {high}"


def _shown(kind: str, what: str, value: float) -> str:
    if what == VALUES and kind in ("date", "time"):
        moment = np.datetime64(0, "s") + np.timedelta64(round(value), "s")
        return str(moment)[:10] if kind == "date" else str(moment)[11:16]
    return f"{value:.0f}" if kind == "year" and what == VALUES else number_text(float(f"{value:.3g}"))


def _percent(share: float) -> str:
    """A share for people: 12%, 0.4%."""
    return "0%" if share == 0 else "under 0.01%" if share < 1e-4 else f"{float(f'{share * 100:.2g}'):g}%"
