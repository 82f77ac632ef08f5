"""What one pass over a table finds out about its columns: enough to decide how to encode each, and no more.

`summarise` reads batches; `TableSummary.merge` joins the summaries of parts. The summary of a table is the same
whichever way it was cut into parts, as long as the parts are merged in the order of their rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rdplearn.errors import TableError
from rdplearn.table.cells import (
    FALSE_WORDS,
    SECONDS_PER_DAY,
    TRUE_WORDS,
    TextRules,
    clean_texts,
    has_ambiguous_dates,
    is_text,
    plain_array,
    read_numbers,
    read_times,
    read_times_of_day,
    words_of,
)
from rdplearn.table.hashing import hash_texts
from rdplearn.table.sketches import DistinctSample, Spread

if TYPE_CHECKING:
    import pyarrow as pa

CELLS_OF_MEMORY = 2**22
LARGEST_CAPACITY = 4096
SMALLEST_CAPACITY = 256
LONGEST_KEPT_TEXT = 256


@dataclass(frozen=True)
class Stray:
    """Cells that do not fit a reading of their column: how many, and the first of them (rows count from 1)."""

    n_rows: int = 0
    first_row: int = 0
    first_text: str = ""

    def then(self, later: Stray, rows_before: int) -> Stray:
        """Join with the strays of rows that come `rows_before` rows later."""
        if later.n_rows == 0:
            return self
        if self.n_rows == 0:
            return Stray(later.n_rows, later.first_row + rows_before, later.first_text)
        return Stray(self.n_rows + later.n_rows, self.first_row, self.first_text)

    @classmethod
    def find(cls, array: pa.Array, stray: NDArray[np.bool_]) -> Stray:
        n_rows = int(stray.sum())
        if n_rows == 0:
            return cls()
        first = int(np.argmax(stray))
        return cls(n_rows, first + 1, str(array[first].as_py()).strip())


@dataclass
class ColumnSummary:
    """All that is remembered of one column.

    `form` is how the cells arrived: "text" (to be read), "category" (declared one by its data frame), "number",
    "boolean", "moment", "time of day"; None while only empty cells were seen.
    """

    name: str
    capacity: int
    form: str | None = None
    n_rows: int = 0
    n_missing: int = 0
    n_booleans: int = 0
    n_times_of_day: int = 0
    n_with_clock: int = 0
    texts: DistinctSample = field(init=False)
    numbers: Spread = field(init=False)
    moments: dict[bool, Spread] = field(init=False)  # keyed by day_first
    not_numbers: Stray = Stray()
    not_moments: dict[bool, Stray] = field(default_factory=lambda: {False: Stray(), True: Stray()})
    infinities: Stray = Stray()

    def __post_init__(self) -> None:
        self.texts = DistinctSample(self.capacity)
        self.numbers = Spread(self.capacity)
        self.moments = {False: Spread(self.capacity), True: Spread(self.capacity)}

    @property
    def n_present(self) -> int:
        return self.n_rows - self.n_missing

    @property
    def n_distinct(self) -> int:
        if self.form in ("text", "category"):
            return self.texts.n_distinct
        spread = self.moments[False] if self.form == "moment" else self.numbers
        return spread.sample.n_distinct + (spread.n_infinite > 0)

    def add(self, array: pa.Array, rules: TextRules, table: str) -> None:
        """Take in the next rows of the column."""
        self.merge(
            _summarise_cells(self.name, self.capacity, plain_array(array, self.name, table), rules), table
        )

    def merge(self, later: ColumnSummary, table: str) -> None:
        """Take in the summary of the rows that follow."""
        if self.form is not None and later.form is not None and self.form != later.form:
            raise TableError(
                f"Column {self.name!r} of {table} arrives as {self.form} up to row {self.n_rows} and as {later.form} "
                f"after it. Give it one type, or pass --ignore {self.name}."
            )
        self.form = self.form or later.form
        self.not_numbers = self.not_numbers.then(later.not_numbers, self.n_rows)
        self.infinities = self.infinities.then(later.infinities, self.n_rows)
        for day_first in (False, True):
            self.not_moments[day_first] = self.not_moments[day_first].then(
                later.not_moments[day_first], self.n_rows
            )
            self.moments[day_first].merge(later.moments[day_first])
        self.n_rows += later.n_rows
        self.n_missing += later.n_missing
        self.n_booleans += later.n_booleans
        self.n_times_of_day += later.n_times_of_day
        self.n_with_clock += later.n_with_clock
        self.texts.merge(later.texts)
        self.numbers.merge(later.numbers)


@dataclass
class TableSummary:
    """The summaries of all columns, in the order in which the table has them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"age": ["31", "", "57"], "city": ["Oslo", "Rome", "Rome"]}).to_batches()[0]
    >>> whole = summarise([rows])
    >>> joined = summarise([rows[:2]]).merge(summarise([rows[2:]]))
    >>> joined.columns["age"].numbers.maximum, joined.columns["age"].n_missing
    (57.0, 1)
    """

    rules: TextRules = field(default_factory=TextRules)
    name: str = "the table"
    n_rows: int = 0
    columns: dict[str, ColumnSummary] = field(default_factory=dict)

    def add(self, batch: pa.RecordBatch, ignore: frozenset[str] = frozenset()) -> None:
        """Take in the next rows of the table."""
        names = [name for name in batch.schema.names if name not in ignore]
        if not self.columns:
            # Fewer values are kept per column of a very wide table, so that memory stays bounded.
            capacity = int(
                np.clip(CELLS_OF_MEMORY // max(len(names), 1), SMALLEST_CAPACITY, LARGEST_CAPACITY)
            )
            self.columns = {name: ColumnSummary(name, capacity) for name in names}
        self._require_same_columns(names)
        for name in names:
            self.columns[name].add(batch.column(name), self.rules, self.name)
        self.n_rows += batch.num_rows

    def merge(self, later: TableSummary) -> TableSummary:
        """The summary of this table's rows followed by those of another; neither operand changes."""
        if not self.columns or not later.columns:
            return deepcopy(self if self.columns else later)
        merged = deepcopy(self)
        merged._require_same_columns(list(later.columns))
        for name, column in merged.columns.items():
            column.merge(later.columns[name], self.name)
        merged.n_rows += later.n_rows
        return merged

    def _require_same_columns(self, names: list[str]) -> None:
        differing = sorted(set(names) ^ set(self.columns))
        if differing:
            raise TableError(
                f"Column {differing[0]!r} is in some parts of {self.name} and not in others. "
                f"Give all parts the same columns, or pass --ignore {differing[0]}."
            )


def summarise(
    batches: Iterable[pa.RecordBatch],
    rules: TextRules | None = None,
    *,
    ignore: Iterable[str] = (),
    name: str = "the table",
) -> TableSummary:
    """Read a table once, in batches, and remember what decides its encoding."""
    summary = TableSummary(rules or TextRules(), name)
    left_out = frozenset(ignore)
    for batch in batches:
        summary.add(batch, left_out)
    return summary


def _summarise_cells(name: str, capacity: int, array: pa.Array, rules: TextRules) -> ColumnSummary:
    """Summarise one batch of a column on its own."""
    import pyarrow.types as types

    part = ColumnSummary(name, capacity, n_rows=len(array))
    if types.is_dictionary(array.type):
        _summarise_texts(part, clean_texts(words_of(array), rules))
        part.form = "category"
    elif is_text(array):
        texts = clean_texts(array, rules)
        distinct, counts = _summarise_texts(part, texts)
        _summarise_readings(part, texts, distinct, counts, rules)
        part.form = "text"
    elif types.is_timestamp(array.type):
        seconds = read_times(array, rules, day_first=False)
        part.n_missing = int(np.isnan(seconds).sum())
        seconds = seconds[~np.isnan(seconds)]
        part.n_with_clock = int((seconds % SECONDS_PER_DAY != 0).sum())
        part.moments[False].add(seconds, np.ones(len(seconds), dtype=np.int64))
        part.form = "moment"
    else:
        time_of_day = types.is_time(array.type)
        values = read_times_of_day(array, rules) if time_of_day else read_numbers(array, rules)
        missing = np.isnan(values)
        part.n_missing = int(missing.sum())
        part.infinities = Stray.find(array, np.isinf(values))
        part.numbers.add(values[~missing], np.ones(len(values) - part.n_missing, dtype=np.int64))
        part.form = "time of day" if time_of_day else "boolean" if types.is_boolean(array.type) else "number"
    if part.n_present == 0:
        part.form = None
    return part


def _summarise_texts(part: ColumnSummary, texts: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """Count the distinct texts; give them back with their counts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    part.n_missing = texts.null_count
    tally = pc.value_counts(pc.drop_null(texts))
    distinct, counts = tally.field(0), tally.field(1).to_numpy()
    hashes = hash_texts(distinct)
    smallest = np.sort(np.argsort(hashes, kind="stable")[: part.capacity + 1])
    kept = pc.utf8_slice_codeunits(distinct.take(pa.array(smallest)), 0, LONGEST_KEPT_TEXT)
    part.texts.add(np.array(kept.to_pylist(), dtype=object), hashes[smallest], counts[smallest])
    return distinct, counts


def _summarise_readings(
    part: ColumnSummary, texts: pa.Array, distinct: pa.Array, counts: NDArray[np.int64], rules: TextRules
) -> None:
    """Count how many texts can be read as numbers, truth values, moments and times of day."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def strays(readable: NDArray[np.bool_]) -> Stray:
        if readable.all():
            return Stray()
        misfits = pc.filter(distinct, pa.array(~readable))
        return Stray.find(texts, np.asarray(pc.is_in(texts, value_set=misfits)))

    values = read_numbers(distinct, rules)
    numeric = ~np.isnan(values)
    part.numbers.add(values[numeric], counts[numeric])
    part.not_numbers = strays(numeric)
    part.infinities = strays(~np.isinf(values))
    words = pa.array([*TRUE_WORDS, *FALSE_WORDS], distinct.type)
    part.n_booleans = int(counts[np.asarray(pc.is_in(pc.utf8_lower(distinct), value_set=words))].sum())
    if numeric.all():
        part.not_moments = dict.fromkeys((False, True), Stray.find(texts, np.asarray(texts.is_valid())))
        return
    part.n_times_of_day = int(counts[~np.isnan(read_times_of_day(distinct, rules))].sum())
    readings = {False: read_times(distinct, rules, day_first=False)}
    readings[True] = (
        read_times(distinct, rules, day_first=True) if has_ambiguous_dates(distinct) else readings[False]
    )
    for day_first, seconds in readings.items():
        dated = ~np.isnan(seconds)
        part.moments[day_first].add(seconds[dated], counts[dated])
        part.not_moments[day_first] = strays(dated)
    dated_either_way = np.where(np.isnan(readings[False]), readings[True], readings[False])
    with_clock = np.nan_to_num(dated_either_way % SECONDS_PER_DAY) != 0
    part.n_with_clock = int(counts[with_clock].sum())
