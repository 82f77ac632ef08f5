"""How the cells of a column are spread, in a few counts: what a model remembers of the table that it was fitted on.

A profile is learned from rows once, and later rows are counted in the same places. Cells are read as the encoder reads
them, so that a column which says the same in another dress has the same profile. Every profile is small: at most so
many places, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rdplearn._files.checked_values import as_mapping, make
from rdplearn.errors import ModelFileError, TableError
from rdplearn.table.cells import TextRules, as_floats, clean_cells, read_numbers, usual_markers, words_of
from rdplearn.table.encoded_column import EncodedColumn
from rdplearn.table.encodings import Boolean, Category, Date, LeftOut, Number, Text, Time, turns
from rdplearn.table.summary import LONGEST_KEPT_TEXT

if TYPE_CHECKING:
    import pyarrow as pa

OWNER = "Its memory of the table"
VALUES, HOURS, WEEKDAYS, LETTERS = "values", "hours", "weekdays", "letters"
MOST_PLACES, FEWEST_PLACES, PLACES_IN_ALL = 20, 4, 2**14
FEWEST_OF_A_WORD, LEAST_OF_A_WORD = 10, 0.01  # a rarer word may have come so often by luck, and is one of the others
ENDS = 2  # of the next rows, so many in n + 1 lie beyond the lowest and the highest of n


@dataclass(frozen=True)
class Histogram:
    """One thing that is counted of a column, such as its values, or the weekdays of its dates.

    edges : of numbers, ascending; place i counts those above edge i - 1 and up to edge i, the last what is above all
    words : of words; each has a place, and the last place counts all others
    low, high : of numbers
    n_new : of the rows that were learned from, as many as would have been new by chance (`ENDS` numbers beyond the
        range, or words that occur once); of later rows, as many as are new; None where that cannot be told
    """

    what: str
    edges: list[float]
    words: list[str]
    counts: list[int]
    low: float | None
    high: float | None
    n_new: int | None

    @property
    def total(self) -> int:
        return sum(self.counts)

    def quantile(self, share: float) -> float:
        """The upper end of the place in which the number lies that this share of the numbers is below.

        Examples
        --------
        >>> Histogram("values", [1.0, 2.0], [], [5, 5, 10], 0.0, 4.0, None).quantile(0.25)
        1.0
        """
        place = int(np.searchsorted(np.cumsum(self.counts), share * self.total))
        return float([*self.edges, self.high or 0.0][place])

    def fade(self, share: float) -> Histogram:
        """The same with fewer rows."""
        n_new = None if self.n_new is None else max(round(share * self.n_new), min(self.n_new, 1))
        return replace(self, counts=[round(share * count) for count in self.counts], n_new=n_new)

    def join(self, later: Histogram) -> Histogram:
        """The counts of both, which are in the same places."""
        if not self.total or not later.total:
            return self if self.total else replace(later, n_new=self.n_new)
        counts = [one + other for one, other in zip(self.counts, later.counts, strict=True)]
        lows, highs = (
            [end for end in ends if end is not None] for ends in ((self.low, later.low), (self.high, later.high))
        )
        return replace(self, counts=counts, low=min(lows, default=None), high=max(highs, default=None))


@dataclass(frozen=True)
class ColumnProfile:
    """What is remembered of one column, or counted in the same places of later rows.

    n_unread : cells that cannot be read as what the column is, such as a word among numbers
    examples : of later rows, a cell that could not be read ("unread") and a new word ("new")
    """

    column: str
    kind: str
    n_rows: int
    n_missing: int
    n_unread: int
    histograms: list[Histogram]
    examples: Mapping[str, str]

    def fade(self, share: float) -> ColumnProfile:
        """The same with fewer rows."""
        n_rows, n_missing, n_unread = (int(share * count) for count in (self.n_rows, self.n_missing, self.n_unread))
        histograms = [histogram.fade(share) for histogram in self.histograms]
        return replace(self, n_rows=n_rows, n_missing=n_missing, n_unread=n_unread, histograms=histograms)

    def join(self, later: ColumnProfile) -> ColumnProfile:
        """The counts of both, of which the later ones are in the places of these."""
        pairs = zip(self.histograms, later.histograms, strict=True)
        return replace(
            self,
            n_rows=self.n_rows + later.n_rows,
            n_missing=self.n_missing + later.n_missing,
            n_unread=self.n_unread + later.n_unread,
            histograms=[one.join(other) for one, other in pairs],
        )

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "examples"}

    @classmethod
    def from_dict(cls, state: Any) -> ColumnProfile:
        """Rebuild a profile; raises `ModelFileError` for what `to_dict` does not write."""
        values = dict(as_mapping(state, "a column", OWNER))
        listed = values.pop("histograms", None)
        histograms = [histogram_from_dict(histogram) for histogram in (listed if isinstance(listed, list) else [])]
        made: ColumnProfile = make(cls, values, OWNER, histograms=histograms, examples={})
        if made.n_missing + made.n_unread > made.n_rows:
            raise ModelFileError(f"{OWNER} has an impossible 'n_missing': {made.n_missing}.")
        return made


def histogram_from_dict(state: Any) -> Histogram:
    """Rebuild what is counted; raises `ModelFileError` for what cannot be."""
    histogram = make(Histogram, as_mapping(state, "counts", OWNER), OWNER)
    n_places = 1 + len(histogram.words if histogram.words else histogram.edges)
    has_range = histogram.low is not None and histogram.high is not None
    is_empty = histogram.low is None and histogram.high is None and (bool(histogram.words) or not histogram.total)
    if len(histogram.counts) != n_places or sorted(histogram.edges) != histogram.edges or not (has_range or is_empty):
        raise ModelFileError(f"{OWNER} has impossible 'counts': {histogram.counts!r:.60}.")
    return histogram


def places_for(n_columns: int) -> int:
    """How many places each column of a table gets: fewer if there are very many, so that a memory stays small."""
    return int(np.clip(PLACES_IN_ALL // max(n_columns, 1), FEWEST_PLACES, MOST_PLACES))


def learn_profile(column: EncodedColumn, cells: pa.Array, rules: TextRules, n_places: int) -> ColumnProfile:
    """Remember how the cells of a column are spread.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rdplearn.table import TableEncoder
    >>> ages = pa.table({"age": [31.0, 57.0, None, 44.0]})
    >>> encoder = TableEncoder().fit(ages)
    >>> profile = learn_profile(encoder.columns_[0], ages["age"].combine_chunks(), encoder.rules_, 2)
    >>> profile.n_missing, profile.histograms[0].edges, profile.histograms[0].counts
    (1, [44.0], [2, 1])
    """
    read = _Cells(column, cells, rules)
    histograms = [learn_numbers(what, values, n_places) for what, values in read.numbers()]
    if read.words is not None:
        histograms = [_learn_words(column, read.words, n_places)]
    return ColumnProfile(column.source, column.kind, len(cells), read.n_missing, read.n_unread, histograms, {})


def count_again(profile: ColumnProfile, column: EncodedColumn, cells: pa.Array, rules: TextRules) -> ColumnProfile:
    """Count later cells of the column in the places of its profile."""
    read = _Cells(column, cells, rules)
    numbers, examples = dict(read.numbers()), dict(read.examples)
    histograms = []
    for known in profile.histograms:
        if known.words and read.words is not None:
            counted, example = _count_words(known, column, read.words)
            examples |= {"new": example} if example else {}
        else:
            counted = count_numbers(known, numbers.get(known.what, np.empty(0)))
        histograms.append(counted)
    return replace(
        profile,
        n_rows=len(cells),
        n_missing=read.n_missing,
        n_unread=read.n_unread,
        histograms=histograms,
        examples=examples,
    )


class _Cells:
    """The cells of a column as the encoder reads them: numbers, or words, and what is neither."""

    def __init__(self, column: EncodedColumn, cells: pa.Array, rules: TextRules) -> None:
        self.encoding = column.encoding
        self.words: pa.Array | None = None
        self.values = np.empty(0)
        self.letters: NDArray[np.float64] | None = None
        self.examples: dict[str, str] = {}
        self.n_missing, self.n_unread = 0, 0
        if column.kind == "unreadable":
            return
        try:
            array = clean_cells(cells, rules, column.source, "the table")
        except TableError:  # lists, bytes and the like
            self.n_unread = len(cells)
            return
        self.n_missing = array.null_count
        if isinstance(self.encoding, Number | Boolean | Date | Time):
            self._read_values(array, rules)
        elif isinstance(self.encoding, Category) or getattr(self.encoding, "constant", None) is not None:
            self.words = self._one_dress(words_of(array).drop_null(), rules)
        elif isinstance(self.encoding, Text) or column.kind == "text":
            import pyarrow.compute as pc

            self.letters = as_floats(pc.utf8_length(words_of(array).drop_null()))

    def _one_dress(self, words: pa.Array, rules: TextRules) -> pa.Array:
        """The words; of a constant that is a number, the same number in another dress is the constant."""
        import pyarrow as pa
        import pyarrow.compute as pc

        constant = getattr(self.encoding, "constant", None)
        value = np.nan if constant is None else read_numbers(pa.array([constant]), rules)[0]
        if np.isnan(value):
            return words
        return pc.if_else(pa.array(read_numbers(words, rules) == value), pa.scalar(constant, words.type), words)

    def _read_values(self, array: pa.Array, rules: TextRules) -> None:
        values = self.encoding.read(array, rules)  # type: ignore[union-attr]
        unread = np.isnan(values) & np.asarray(array.is_valid())
        if unread.any():
            words = words_of(array)
            marked = np.zeros(len(array), dtype=bool) if rules.strict else usual_markers(words) & unread
            self.n_missing += int(marked.sum())
            unread &= ~marked
            if unread.any():
                self.examples["unread"] = str(words[int(np.argmax(unread))].as_py())
        self.n_unread = int(unread.sum())
        self.n_missing += int(np.isinf(values).sum())
        self.values = values[np.isfinite(values)]

    def numbers(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """What is counted of the column, by name, if these are numbers."""
        if isinstance(self.encoding, Number | Boolean | Date | Time):
            yield VALUES, self.values
        if isinstance(self.encoding, Date):
            if "hour" in self.encoding.periods:
                yield HOURS, np.floor(turns(self.values, "hour") * 24)
            if "weekday" in self.encoding.periods:
                yield WEEKDAYS, np.round(turns(self.values, "weekday") * 7)
        if self.letters is not None:
            yield LETTERS, self.letters


def learn_numbers(what: str, values: NDArray[np.float64], n_places: int = MOST_PLACES) -> Histogram:
    """Remember how numbers are spread, those of a column or others, such as scores."""
    if len(values) == 0:
        return Histogram(what, [], [], [0], None, None, None)
    shares = np.arange(1, n_places) / n_places
    edges = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    edges = edges[edges < values.max()]
    counts = _counted(edges, values)
    n_new = ENDS if what == VALUES else None
    return Histogram(what, edges.tolist(), [], counts, float(values.min()), float(values.max()), n_new)


def count_numbers(known: Histogram, values: NDArray[np.float64]) -> Histogram:
    """Count later numbers in the same places."""
    counts = _counted(np.array(known.edges), values)
    low, high = (float(values.min()), float(values.max())) if len(values) else (None, None)
    n_new = None
    if known.n_new is not None and known.low is not None and known.high is not None:
        n_new = int(((values < known.low) | (values > known.high)).sum())
    return replace(known, counts=counts, low=low, high=high, n_new=n_new)


def _counted(edges: NDArray[np.float64], values: NDArray[np.float64]) -> list[int]:
    places = np.searchsorted(edges, values, side="left")
    counted: list[int] = np.bincount(places, minlength=len(edges) + 1).tolist()
    return counted


def _learn_words(column: EncodedColumn, words: pa.Array, n_places: int) -> Histogram:
    tally = _tally(words)
    known = [_constant(column)] if isinstance(column.encoding, LeftOut) else column.encoding.categories  # type: ignore[union-attr]
    frequent = sorted(known, key=lambda word: (-tally.get(word, 0), word))[: n_places - 1]
    fewest = max(FEWEST_OF_A_WORD, LEAST_OF_A_WORD * len(words))
    kept = [word for word in frequent if tally.get(word, 0) >= fewest] or frequent[:1]
    counts = [tally.get(word, 0) for word in kept]
    once = sum(count == 1 for count in tally.values())
    can_tell = not isinstance(column.encoding, Category) or column.encoding.all_known
    return Histogram(VALUES, [], kept, [*counts, len(words) - sum(counts)], None, None, once if can_tell else None)


def _count_words(known: Histogram, column: EncodedColumn, words: pa.Array) -> tuple[Histogram, str]:
    """The counts, and a word that is new."""
    tally = _tally(words)
    counts = [tally.get(word, 0) for word in known.words]
    encoding = column.encoding
    at_fit = {*encoding.categories, *encoding.rare} if isinstance(encoding, Category) else {_constant(column)}
    new = {word: count for word, count in tally.items() if word[:LONGEST_KEPT_TEXT] not in at_fit}
    n_new = None if known.n_new is None else sum(new.values())
    example = max(new, key=lambda word: (new[word], word)) if new and n_new is not None else ""
    return replace(known, counts=[*counts, len(words) - sum(counts)], n_new=n_new), example


def _constant(column: EncodedColumn) -> str:
    constant: str = column.encoding.constant  # type: ignore[union-attr, assignment]
    return constant


def _tally(words: pa.Array) -> dict[str, int]:
    import pyarrow.compute as pc

    counted = pc.value_counts(words)
    return dict(zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True))
