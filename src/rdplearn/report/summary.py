"""What a report has found, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rdplearn._explain.sentences import sentence, verb_of
from rdplearn.table.typical import number_text, value_words
from rdplearn.table.wording import counted


def summarise_detection(found: Mapping[str, Any]) -> list[str]:
    """The findings of a detector in a few sentences, the most important first; how far to trust them stands apart."""
    table, scores = found["table"], found["scores"]
    told = [f"{_size(table)} {_reported(scores['n_reported'], table['n_rows'])}"]
    if found["kinds"]:
        told.append(_kinds(found))
    first = found["rows"][0]
    raising = [column for column in first["reasons"]["columns"] if column["contribution"] > 0]
    if raising and scores["n_reported"] > 0:
        names = (raising[0]["column"], *raising[0]["shared_with"])
        reason = sentence(*(column for column in raising if column["column"] in names))
        told.append(f"The most unusual row is row {first['row']:,}: {reason}.")
    drivers = found["drivers"]
    if drivers and scores["n_reported"] > 0:
        told.append(f"Over {explained_alarms(found)}, {_shares(drivers)}.")
    return told


def explained_alarms(found: Mapping[str, Any]) -> str:
    """The reported rows that were explained: all of them, or the highest of very many."""
    n_reported, n_explained = found["scores"]["n_reported"], found["n_alarms_explained"]
    if n_explained < n_reported:
        return f"the {n_explained:,} highest of the {n_reported:,} reported rows"
    return "the reported row" if n_reported == 1 else f"all {n_reported:,} reported rows"


def _kinds(found: Mapping[str, Any]) -> str:
    kinds, alarms = found["kinds"], explained_alarms(found)
    first = f"{kinds[0]['kind']} ({counted(kinds[0]['n_rows'], 'row')})"
    if len(kinds) == 1:
        return f"There is one kind of anomaly: {first}."
    start = f"{alarms[0].upper()}{alarms[1:]} are of {len(kinds):,} kinds"
    return f"{start}, one row each." if kinds[0]["n_rows"] == 1 else f"{start}. The largest is {first}."


def summarise_clusters(found: Mapping[str, Any]) -> list[str]:
    """The clusters of a table in a few sentences."""
    filled = [cluster for cluster in found["clusters"] if cluster["n_rows"] > 0]
    largest = max(filled, key=lambda cluster: cluster["n_rows"])
    smallest = min(filled, key=lambda cluster: cluster["n_rows"])
    is_cut = found["trust"]["level"] == "none"
    parts = f"{'were cut' if is_cut else 'fall'} into {counted(len(filled), 'part' if is_cut else 'cluster')}"
    told = [
        f"{_size(found['table'])} They {parts}, from "
        f"{counted(smallest['n_rows'], 'row')} to {counted(largest['n_rows'], 'row')}."
    ]
    distinct = [cluster for cluster in filled if cluster["typical"]]
    if len(filled) > 1 and distinct:
        cluster = max(distinct, key=lambda cluster: cluster["typical"][0]["distance"])
        column = cluster["typical"][0]
        told.append(
            f"The cluster that stands out most is cluster {cluster['cluster']}: {value_words(column['column'])} is "
            f"typically {column['typical']}, over all rows {column['overall']}."
        )
    return told


def _size(table: Mapping[str, Any]) -> str:
    name = value_words(table["name"])
    rows, columns = counted(table["n_rows"], "row"), counted(table["n_columns"], "column")
    return f"{name[0].upper() if name == 'the table' else name[0]}{name[1:]} has {rows} and {columns}."


def _reported(n_reported: int, n_rows: int) -> str:
    if n_reported == 0:
        return "No row is unusual enough to be reported."
    are = "is" if n_reported == 1 else "are"
    return f"{counted(n_reported, 'row')} ({percent(n_reported / n_rows)}) {are} unusual enough to be reported."


def _shares(drivers: Sequence[Mapping[str, Any]]) -> str:
    named = [f"{value_words(driver['column'])} for {percent(driver['share'])}" for driver in drivers[:3]]
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return f"{listed} of what sets them apart".replace(" for ", f" {verb_of([dict(drivers[0])])} for ", 1)


def percent(share: float) -> str:
    """A share for people.

    Examples
    --------
    >>> percent(0.614), percent(0.0032), percent(0.00004), percent(0.0)
    ('61%', '0.32%', 'under 0.01%', '0%')
    """
    if 0 < share < 1e-4:
        return "under 0.01%"
    return f"{number_text(float(f'{share * 100:.2g}'))}%"
