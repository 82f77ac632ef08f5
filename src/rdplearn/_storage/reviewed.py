"""What a model file holds of a `Reviewed`: its detector, the answers with the rows they are about, the muting rules.

The functions are those of `detector.py`: `describe`, `layout`, `rebuild`, `is_sound`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from rdplearn._feedback.answers import ANSWERS
from rdplearn._feedback.muting import MutingRule
from rdplearn._feedback.reviewed import LEARNINGS, Reviewed
from rdplearn._files.checked_values import as_mapping, make
from rdplearn._storage import detector as stored_detector
from rdplearn._storage.container import Layout
from rdplearn._types import Arrays, arrays_under
from rdplearn.errors import ModelFileError

OWNER = "Its description of the answers"
OF_DETECTOR = "detector."  # its arrays' names begin with this


@dataclass(frozen=True)
class StoredReviewed:
    """The part of the header that describes answers.

    detector : the description of the detector
    answers, names : one for each answered row; a name may be missing
    n_entries : numbers that the answered rows store, those that are not zero
    is_sparse : whether the rows are
    rules : muting rules
    learning : how answers move scores, one of `LEARNINGS`; 1 in files of earlier versions, which do not say
    """

    n_columns: int
    detector: dict[str, Any]
    answers: list[str]
    names: list[str | None]
    n_entries: int
    is_sparse: bool
    rules: list[dict[str, Any]]
    learning: int


@dataclass(frozen=True)
class StoredRule:
    """A muting rule."""

    name: str
    reason: str
    words: dict[str, Any]
    places: list[int]
    values: list[float]


def describe(reviewed: Reviewed) -> tuple[dict[str, Any], Arrays]:
    """Take a reviewed detector apart into a header of plain values and arrays."""
    description, arrays = stored_detector.describe(reviewed.detector)
    told, answers, names = reviewed.answers()
    rows = sp.csr_array(told, dtype=np.float64)
    header = StoredReviewed(
        n_columns=int(reviewed.n_features_in_),
        detector=description,
        answers=answers,
        names=names,
        n_entries=int(rows.nnz),
        is_sparse=sp.issparse(told),
        rules=[asdict(rule) | {"words": dict(rule.words)} for rule in reviewed.rules_],
        learning=reviewed.learning_,
    )
    return asdict(header), {
        "answered.values": rows.data,
        "answered.columns": rows.indices.astype(np.int64),
        "answered.ends": rows.indptr.astype(np.int64),
        **{f"{OF_DETECTOR}{name}": array for name, array in arrays.items()},
    }


def layout(description: Any, n_arrays: int) -> Layout:
    """The types and shapes of the arrays that a reviewed detector of this description has."""
    stored = _read(description)
    of_detector = stored_detector.layout(stored.detector, n_arrays)
    return {
        "answered.values": ("F64", (stored.n_entries,)),
        "answered.columns": ("I64", (stored.n_entries,)),
        "answered.ends": ("I64", (len(stored.answers) + 1,)),
        **{f"{OF_DETECTOR}{name}": wanted for name, wanted in of_detector.items()},
    }


def rebuild(description: Any, arrays: Arrays) -> Reviewed:
    """Put a reviewed detector together from its description and its arrays, which fit its `layout`."""
    stored = _read(description)
    reviewed = Reviewed(stored_detector.rebuild(stored.detector, arrays_under(OF_DETECTOR, arrays)))
    reviewed.learning_ = stored.learning
    for rule in stored.rules:
        reviewed.add_rule(_rebuild_rule(rule, stored.n_columns))
    if stored.answers:
        columns, ends = arrays["answered.columns"], arrays["answered.ends"]
        in_range = stored.n_entries == 0 or 0 <= columns.min() <= columns.max() < stored.n_columns
        if not in_range or ends[0] != 0 or ends[-1] != stored.n_entries or np.any(np.diff(ends) < 0):
            raise ModelFileError("Its answered rows must store numbers in columns that there are, row after row.")
        shape = (len(stored.answers), stored.n_columns)
        rows = sp.csr_array((arrays["answered.values"], columns, ends), shape=shape)
        reviewed.answers_.add(rows if stored.is_sparse else rows.toarray(), stored.answers, stored.names)
    return reviewed


def is_sound(reviewed: Reviewed) -> bool:
    """Whether its detector is, and typical rows get scores that are numbers with the answers too."""
    scores = reviewed.score_samples(reviewed.detector.typical_rows_.rows)
    return stored_detector.is_sound(reviewed.detector) and bool(np.isfinite(scores).all())


def _read(description: Any) -> StoredReviewed:
    values = {"learning": 1, **as_mapping(description, "a description of the answers", "It")}
    stored = make(StoredReviewed, values, OWNER)
    sensible = {
        "learning": stored.learning in LEARNINGS,
        "answers": set(stored.answers) <= set(ANSWERS),
        "names": len(stored.names) == len(stored.answers),
        "n_columns": stored.n_columns > 0 and stored.detector.get("n_columns") == stored.n_columns,
    }
    for name, is_sensible in sensible.items():
        if not is_sensible:
            raise ModelFileError(f"{OWNER} has an impossible {name!r}: {getattr(stored, name)!r:.60}.")
    return stored


def _rebuild_rule(values: dict[str, Any], n_columns: int) -> MutingRule:
    rule = make(StoredRule, values, OWNER)
    words = {str(column): str(value) for column, value in rule.words.items()}
    if len(rule.places) != len(rule.values) or max(rule.places, default=0) >= n_columns:
        raise ModelFileError(f"{OWNER} has an impossible muting rule, {rule.name!r:.60}.")
    return MutingRule(rule.name, rule.reason, words, tuple(rule.places), tuple(float(v) for v in rule.values))
