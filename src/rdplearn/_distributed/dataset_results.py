"""A model applied to a Parquet dataset on a cluster: a task for each part, results written where it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from rdplearn._distributed.client import Tasks
from rdplearn._distributed.fitting import on_one_thread
from rdplearn._distributed.parquet_parts import Dataset
from rdplearn._distributed.result_folder import Apply, FinishedPart, ResultFolder, apply_to_part
from rdplearn._results.resumable import added_up
from rdplearn.errors import TableError, warn_user
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
        raise TableError(f"There are no rows in {dataset.name}. Pass a table with at least one row.")
    filled = [part for part in dataset.parts if part.n_rows]
    made_of = [part_made_of(folder, identity_of(part.path), part.first_row) for part in filled]
    done: dict[int, FinishedPart] = {}
    for place, part in enumerate(filled):
        earlier = folder.finished(part, made_of[place]) if folder else None
        if earlier is not None:
            done[place] = earlier
            count(earlier.n_rows)
    was_begun = bool(done)
    shared = tasks.shared("rdp-model", on_one_thread(model))
    left = [place for place in range(len(filled)) if place not in done]
    todo = [
        tasks.named(
            f"{name}-{place}",
            apply_to_part,
            filled[place],
            shared,
            apply,
            folder.path_of(filled[place]) if folder else None,
            made_of[place],
            carried,
            deepcopy(watchers),
        )
        for place in left
    ]
    told: set[str] = set()
    for number, finished in tasks.as_done(tasks.start(todo)):
        done[left[number]] = finished
        count(finished.n_rows)
        for message in finished.told:
            if message not in told:
                warn_user(message)
            told.add(message)
    if folder is not None:
        folder.write_empty([part for part in dataset.parts if not part.n_rows], like=filled[0])
    tally: list[int] = []
    for place in range(len(filled)):  # in the order of the rows, so that of equal rows the first comes first
        tally = added_up(tally, done[place].tally)
        for watcher, copy in zip(watchers, done[place].watchers, strict=bool(done[place].watchers)):
            watcher.merge(copy)
    return dataset.n_rows, tally, was_begun


def part_made_of(folder: ResultFolder | None, identity: Any, first_row: int) -> Mapping[str, Any]:
    """What decides the content of one part."""
    return {"all": folder.made_of if folder else None, "part": identity, "first row": first_row}
