"""The words around the charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rdplearn.report.summary import counted, explained_alarms, percent


def of(found: Mapping[str, Any]) -> dict[str, str]:
    """Headings and sentences of the page that depend on what was found."""
    if found["kind"] == "changes":
        return {"headline": headline(found), "about_training": ABOUT_TRAINING}
    words = {"headline": headline(found), "about_map": about_map(found)}
    if found["kind"] == "clusters":
        return words | {"about_training": ABOUT_FEATURES}
    words["about_training"] = ABOUT_TRAINING
    return words | {
        "about_rows": about_rows(found),
        "about_kinds": about_kinds(found),
        "about_drivers": about_drivers(found),
        "about_alarms": about_alarms(found),
    }


ABOUT_TRAINING = (
    "How far the learned numbers are from the random ones they predict, mean over members. Each round starts anew on "
    "the rows that the last one found most ordinary. Curves that fall and level off are as they should be."
)


ABOUT_FEATURES = (
    "How far the learned numbers are from what they predict. A curve that falls and levels off is as it should be."
)


def headline(found: Mapping[str, Any]) -> str:
    """What the page is about, in a line."""
    n_rows = found["table"]["n_rows"]
    if found["kind"] == "changes":
        return "A refit is due" if found["changes"]["due"] else "No refit is due"
    if found["kind"] == "clusters":
        is_cut = found["trust"]["level"] == "none"
        parts = counted(len(found["clusters"]), "part" if is_cut else "cluster")
        return f"{counted(n_rows, 'row')}{', cut into' if is_cut else ' in'} {parts}"
    n_reported = found["scores"]["n_reported"]
    if n_reported == 0:
        return f"No unusual row among {n_rows:,}" if n_rows > 1 else "The one row is nothing unusual"
    return f"{n_reported:,} unusual {'row' if n_reported == 1 else 'rows'} among {n_rows:,}"


def about_map(found: Mapping[str, Any]) -> str:
    """What is drawn on the map, and what one can do there."""
    n_rows, n_drawn = found["table"]["n_rows"], len(found["rows"])
    shown = "All rows are drawn" if n_drawn >= n_rows else _sampled(found, n_drawn, n_rows)
    return (
        f"{shown}; those that the model finds alike lie close together. Draw a box around some of them to see them "
        "in the list of rows; a double click clears it."
    )


def _sampled(found: Mapping[str, Any], n_drawn: int, n_rows: int) -> str:
    if found["kind"] == "clusters":
        return f"Drawn is a random sample of {n_drawn:,} of the {n_rows:,} rows"
    n_top = found["n_explained"]
    return (
        f"Of {n_rows:,} rows, {n_drawn:,} are drawn: the {n_top:,} with the highest scores and a random sample of the "
        "others"
    )


def about_rows(found: Mapping[str, Any]) -> str:
    """Which rows are listed."""
    n_rows, n_listed = found["table"]["n_rows"], found["n_explained"]
    if n_listed >= n_rows:
        return "All rows are listed."
    return f"Listed are the {counted(n_listed, 'row')} with the highest scores, of {n_rows:,}."


def about_kinds(found: Mapping[str, Any]) -> str:
    """Of which rows the kinds are."""
    return (
        f"Rows with the same main reason are one kind. These are the kinds of {explained_alarms(found)}; the length of "
        "a bar is the number of rows."
    )


def about_drivers(found: Mapping[str, Any]) -> str:
    """Of which rows the columns are ranked."""
    rows = explained_alarms(found) if found["scores"]["n_reported"] else f"the {found['n_explained']:,} rows above"
    return f"What raises the scores of {rows}, shared out by column. A full bar would be all of it."


def about_alarms(found: Mapping[str, Any]) -> str:
    """How to read the table of alarms, and what it rests on."""
    n_judged, n_rows = found["trust"]["n_judged"], found["table"]["n_rows"]
    judged = "" if n_judged >= n_rows else f" Judged by a random sample of {n_judged:,} rows."
    return (
        "By chance: so many rows would be above the line if none were unusual. Beside the number of rows: where it "
        f"lies with 90% certainty.{judged}"
    )


def rounded(number: float) -> str:
    """A number of rows that are expected."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def leads(n_rows: int) -> str:
    """In how many rows a column is the main reason."""
    return f"main reason in {counted(n_rows, 'row')}" if n_rows else ""


def becomes(column: Mapping[str, Any]) -> str:
    """What a column of the table becomes: the names of its numbers, or how many they are."""
    names, note = column["becomes"], column["note"]
    if not names:
        return note or f"left out: {column['kind']}"
    told = ", ".join(names) if len(names) <= 2 else f"{len(names)} components"
    return f"{told} ({note})" if note else told


FILTERS = {
    "becomes": becomes,
    "counted": counted,
    "leads": leads,
    "percent": percent,
    "rounded": rounded,
}
