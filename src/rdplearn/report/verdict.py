"""Whether to trust a report: one line and a few sentences, for a reader who wants nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rdplearn._explain.reliability import SHAKY, STEADY

FEWEST_JUDGED = 20  # rows
CLUSTERS = {
    "clear": ("good", "The clusters are clear"),
    "some": ("partly", "Some of the clusters are clear"),
    "shaky": ("poor", "Do not rely on these clusters"),
    "none": ("poor", "There are no clusters"),
    "unknown": ("unknown", "The clusters cannot be judged"),
}


def verdict_on_ranking(stability: Mapping[str, Any] | None, n_rows: int) -> dict[str, str]:
    """How far to trust a ranking, from what `assess` knows of its stability.

    Examples
    --------
    >>> verdict_on_ranking({"figure": 0.41, "n_top": 50}, 5000)["title"]
    'Do not rely on this ranking yet'
    >>> verdict_on_ranking({"figure": 1.0, "n_top": 1}, 2)["title"]
    'The ranking cannot be judged'
    """
    if 1 < n_rows < FEWEST_JUDGED:
        why = f"the table has {n_rows} rows, and with so few all rankings look alike"
        return _verdict("unknown", "The ranking cannot be judged", f"How steady it is cannot be said: {why}.")
    if stability is None:
        why = "the table has one row" if n_rows < 2 else "the model has a single member, and nothing to compare it with"
        return _verdict("unknown", "The ranking cannot be judged", f"How steady it is cannot be said: {why}.")
    figure, n_top = stability["figure"], stability["n_top"]
    share = f"{100 * figure:.0f}%"
    much = "nearly all" if share == "100%" else f"about {share}"
    same = f"{much} of the {n_top:,} most unusual rows would be the same"
    said = f"If the model were fitted again, {same}."
    if figure >= STEADY:
        return _verdict("good", "The ranking can be trusted", said)
    if figure >= SHAKY:
        advice = "Start with the rows at the very top. The order of the others is partly chance."
        return _verdict("partly", "Trust the rows at the very top", f"{said} {advice}")
    advice = (
        "Which rows are at the top is mostly chance. Look at the rows before you act on them. Fit again with more "
        "members, or without columns that say nothing, such as names and notes."
    )
    return _verdict("poor", "Do not rely on this ranking yet", f"{said} {advice}")


def verdict_on_clusters(trust: Mapping[str, Any]) -> dict[str, str]:
    """Whether there are clusters, from what `assess` says of them."""
    level, title = CLUSTERS[trust["level"]]
    return _verdict(level, title, trust["words"])


def _verdict(level: str, title: str, words: str) -> dict[str, str]:
    return {"level": level, "title": title, "words": words}
