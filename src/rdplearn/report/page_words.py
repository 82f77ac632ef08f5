"""The words around the charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rdplearn.report.summary import explained_alarms, percent
from rdplearn.table.wording import counted


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
    "How far the network is from the random components that it predicts, as a mean over members. Each round starts "
    "again on the rows that the last one found most ordinary. Good curves fall and then level off."
)


ABOUT_FEATURES = "How far the network is from what it predicts. A good curve falls and then levels off."


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
        return f"No unusual row among {n_rows:,}" if n_rows > 1 else "The only row is not unusual"
    return f"{n_reported:,} unusual {'row' if n_reported == 1 else 'rows'} among {n_rows:,}"


def about_map(found: Mapping[str, Any]) -> str:
    """What is drawn on the map, and what one can do there."""
    n_rows, n_drawn = found["table"]["n_rows"], len(found["rows"])
    shown = "All rows are drawn" if n_drawn >= n_rows else _sampled(found, n_drawn, n_rows)
    return (
        f"{shown}. Rows that the model finds alike are close together. Draw a box around rows to see them in the list; "
        "a double click clears it."
    )


def _sampled(found: Mapping[str, Any], n_drawn: int, n_rows: int) -> str:
    if found["kind"] == "clusters":
        return f"A random sample of {n_drawn:,} of the {n_rows:,} rows is drawn"
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
    return f"The list has the {counted(n_listed, 'row')} with the highest scores, of {n_rows:,}."


def about_kinds(found: Mapping[str, Any]) -> str:
    """Of which rows the kinds are."""
    return (
        f"Rows with the same main reason are one kind. These are the kinds of {explained_alarms(found)}; the length of "
        "a bar is the number of rows."
    )


def about_drivers(found: Mapping[str, Any]) -> str:
    """Of which rows the columns are ranked."""
    rows = explained_alarms(found) if found["scores"]["n_reported"] else f"the {found['n_explained']:,} rows above"
    return f"How much each column raises the scores of {rows}. A full bar would be all of it."


def about_alarms(found: Mapping[str, Any]) -> str:
    """How to read the table of alarms, and what it rests on."""
    n_judged, n_rows = found["trust"]["n_judged"], found["table"]["n_rows"]
    judged = "" if n_judged >= n_rows else f" Judged by a random sample of {n_judged:,} rows."
    return (
        "By chance: how many rows would be above the line if none were unusual. Next to the number of rows is the "
        f"range that holds it with 90% certainty.{judged}"
    )


def rounded(number: float) -> str:
    """A number of rows that are expected."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def leads(n_rows: int) -> str:
    """In how many rows a column is the main reason."""
    return f"main reason in {counted(n_rows, 'row')}" if n_rows else ""


def becomes(column: Mapping[str, Any]) -> str:
    """What a column of the table becomes: the names of its components, or how many there are."""
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
