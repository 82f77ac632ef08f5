"""A column of labels, for comparison with results that were made without it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rdplearn.errors import TableError
from rdplearn.table import TextRules
from rdplearn.table.cells import FALSE_WORDS, TRUE_WORDS, clean_cells, words_of
from rdplearn.table.wording import shown

MOST_CLASSES = 10_000


def label_words(cells: pa.Array, label: str, table: str) -> pa.Array:
    """Labels as texts, null where they are missing."""
    return words_of(clean_cells(cells, TextRules(), label, table)).cast(pa.string())


def read_labels(
    cells: pa.Array, label: str, table: str, first_row: int = 1
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which rows are labelled anomalous, and which are labelled at all.

    Examples
    --------
    >>> labels, known = read_labels(pa.array(["0", "yes", ""]), "fraud", "'sales.csv'")
    >>> labels.tolist(), known.tolist()
    ([False, True, False], [True, True, False])
    """
    words = pc.utf8_lower(label_words(cells, label, table))
    known = np.asarray(words.is_valid())
    anomalous = np.asarray(pc.is_in(words, value_set=pa.array([*TRUE_WORDS, "1", "1.0"])))
    normal = np.asarray(pc.is_in(words, value_set=pa.array([*FALSE_WORDS, "0", "0.0"])))
    wrong = np.flatnonzero(known & ~anomalous & ~normal)
    if len(wrong):
        raise TableError(
            f"Column {shown(label)} of {table} must hold 1 for anomalies and 0 for the rest (or yes and no, true and "
            f"false). Got {shown(words[int(wrong[0])].as_py())} in row {first_row + int(wrong[0])}."
        )
    return anomalous, known


class ClassCodes:
    """Numbers the classes of a column, in the order in which they are met.

    Examples
    --------
    >>> classes = ClassCodes("species", "'iris.csv'")
    >>> codes, known = classes.read(pa.record_batch({"species": ["rose", None, "iris", "rose"]}))
    >>> codes[known].tolist(), known.tolist()
    ([0, 1, 0], [True, False, True, True])
    """

    def __init__(self, label: str, table: str) -> None:
        self.label, self.table = label, table
        self._code_of: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._code_of)

    def read(self, rows: pa.RecordBatch) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """The class of each row, and which rows have one."""
        words = label_words(rows.column(self.label), self.label, self.table).dictionary_encode()
        known = np.asarray(words.is_valid())
        codes = [self._code_of.setdefault(word, len(self._code_of)) for word in words.dictionary.to_pylist()]
        if len(self._code_of) > MOST_CLASSES:
            raise TableError(
                f"Column {shown(self.label)} of {self.table} has more than {MOST_CLASSES:,} different values. Pass a "
                "column of classes."
            )
        places = words.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return np.array(codes or [0], dtype=np.int32)[places], known

    def require_two(self) -> None:
        """Raise an error unless there are two classes to tell apart."""
        if len(self) < 2:
            raise TableError(
                f"Column {shown(self.label)} of {self.table} must have at least two classes to compare with. Got "
                f"{len(self)}."
            )
