"""Another score of a fit that is done: a boosted detector keeps its rounds, and a line what each would have given.

No line is ever edited. What is read off a line becomes a line of its own, with the configuration that would have given
it, the commit that read it, and under `read_from` the fit that it was read off. Such a line has no times of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from experiments import results


def reread(records: Iterable[dict[str, Any]], score_rounds: int) -> Iterator[dict[str, Any]]:
    """Give a line by the mean of the last `score_rounds` rounds for every fit that has no line by them yet."""
    records = list(records)
    there = {results.key_of(record) for record in records}
    for record in records:
        if not _tells_rounds(record, score_rounds):
            continue
        again = _by_rounds(record, score_rounds)
        if results.key_of(again) not in there:
            there.add(results.key_of(again))
            yield again


def reread_file(path: Path, score_rounds: int, commit: str | None) -> int:
    """Append to a result file what can be read off its lines; count it."""
    records = list(results.read_file(path))
    made = list(reread(records, score_rounds))
    for record in made:
        results.append(path, {**record, "commit": commit})
    return len(made)


def _tells_rounds(record: dict[str, Any], score_rounds: int) -> bool:
    if record["status"] != "done" or "read_from" in record:
        return False
    told = record.get("spread", {}).get("last_rounds", {}).get("auc_roc", [])
    return len(told) >= score_rounds and record["config"].get("score_rounds") != score_rounds and len(told) > 1


def _by_rounds(record: dict[str, Any], score_rounds: int) -> dict[str, Any]:
    rounds = record["spread"]["last_rounds"]
    kept = ("task", "method", "data", "seed", "data_sha256", "n_rows", "n_anomalies", "status", "versions", "machine")
    return {
        **{name: record[name] for name in kept if name in record},
        "config": {**record["config"], "score_rounds": score_rounds},
        "metrics": {name: values[score_rounds - 1] for name, values in rounds.items()},
        "spread": {"last_rounds": rounds, "round": record["spread"]["round"]},
        "read_from": {
            "commit": record.get("commit"),
            "score_rounds": record["config"].get("score_rounds"),
            "digits": 5,
        },
    }
