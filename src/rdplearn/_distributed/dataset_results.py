"""A model applied to a Parquet dataset on a cluster: a task for each part, results written where it is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from rdplearn._distributed.client import Tasks
from rdplearn._distributed.fitting import on_one_thread
from rdplearn._distributed.parquet_parts import Dataset, Part, stamp_of
from rdplearn._distributed.result_folder import (
    Apply,
    FinishedPart,
    ResultFolder,
    apply_to_part,
    check_names,
    finished_earlier,
    result_name,
)
from rdplearn._results.resumable import added_up
from rdplearn.errors import no_rows, warn_user
from rdplearn.table_model import TableModel


def write_results(
    dataset: Dataset,
    model: TableModel,
    apply: Apply,
    tasks: Tasks,
    folder: ResultFolder | None,
    *,
    name: str,
    carried: Sequence[str],
    watchers: Sequence[Any],
    identity_of: Callable[[str], Any],
    count: Callable[[int], None],
) -> tuple[int, list[int], bool]:
    """Apply a model to all parts that are not done yet.

    Parameters
    ----------
    folder : where results go, if anywhere
    name : of the tasks, such as "rdp-score-part"
    watchers : take in, at the end, what copies of them have seen of each part
    identity_of : what tells a file from its later or other versions
    count : is told of rows as they are done

    Returns
    -------
    rows, tally, and whether an earlier run had done some
    """
    if dataset.n_rows == 0:
        raise no_rows(dataset.name)
    if folder is not None:
        check_names(dataset.parts)
    refuse_changed(dataset.parts)  # since they were counted, and perhaps a model was fitted on them
    identities = [identity_of(part.path) for part in dataset.parts]
    made_of = [part_made_of(folder, part, identity) for part, identity in zip(dataset.parts, identities, strict=True)]
    filled = [place for place, part in enumerate(dataset.parts) if part.n_rows]
    done = earlier_parts(dataset.parts, made_of, tasks, folder)
    for earlier in done.values():
        count(earlier.n_rows)
    was_begun = bool(done)
    shared = tasks.shared("rdp-model", on_one_thread(model))
    left = [place for place in filled if place not in done]
    todo = [
        tasks.named(
            f"{name}-{place}",
            apply_to_part,
            dataset.parts[place],
            shared,
            apply,
            folder.path_of(dataset.parts[place]) if folder else None,
            made_of[place],
            carried,
            deepcopy(watchers),
        )
        for place in left
    ]
    if folder is not None:
        folder.make_folders(dataset.parts)
    told: set[str] = set()
    for number, finished in tasks.as_done(tasks.start(todo)):
        place = left[number]
        refuse_changed([dataset.parts[place]])
        if identity_of(dataset.parts[place].path) != identities[place]:
            raise dataset.parts[place].changed()
        done[place] = finished
        if folder is not None:
            folder.note(dataset.parts[place], finished)
        count(finished.n_rows)
        for message in finished.told:
            if message not in told:
                warn_user(message)
            told.add(message)
    refuse_changed([part for part in dataset.parts if not part.n_rows])  # they may have got rows
    if folder is not None:
        folder.complete(dataset.parts, made_of)
    tally: list[int] = []
    for place in filled:  # in the order of the rows, so that of equal rows the first comes first
        tally = added_up(tally, done[place].tally)
        for watcher, copy in zip(watchers, done[place].watchers, strict=bool(done[place].watchers)):
            watcher.merge(copy)
    return sum(done[place].n_rows for place in filled), tally, was_begun


def earlier_parts(
    parts: Sequence[Part], made_of: Sequence[Mapping[str, Any]], tasks: Tasks, folder: ResultFolder | None
) -> dict[int, FinishedPart]:
    """The parts, by their places, that an earlier run has finished; workers read them to see that they are whole."""
    checksums = folder.checksums() if folder is not None else {}
    places = [place for place, part in enumerate(parts) if part.n_rows and result_name(part) in checksums]
    if folder is None or not places:
        return {}
    checks = [
        tasks.named(
            f"rdp-check-part-{place}",
            finished_earlier,
            parts[place],
            folder.path_of(parts[place]),
            checksums[result_name(parts[place])],
            made_of[place],
        )
        for place in places
    ]
    found = zip(places, tasks.results(tasks.start(checks)), strict=True)
    return {place: earlier for place, earlier in found if earlier is not None}


def refuse_changed(parts: Sequence[Part]) -> None:
    """See that files are still those whose rows were counted."""
    for part in parts:
        if stamp_of(part.path) != part.stamp:
            raise part.changed()


def part_made_of(folder: ResultFolder | None, part: Part, identity: Any) -> Mapping[str, Any]:
    """What decides the content of one part, as a footer says it."""
    everything = {"all": folder.made_of if folder else None, "part": identity}
    rows = {"first row": part.first_row, "rows": part.n_rows}
    plain: Mapping[str, Any] = json.loads(json.dumps(everything | rows))
    return plain
