"""What one pass over a table finds out about its columns: enough to decide how to encode each, and no more.

`summarise` reads batches; `TableSummary.merge` joins the summaries of parts. The summary of a table is the
same whichever way it was cut into parts, as long as the parts are merged in the order of their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rdplearn.errors import TableError
from rdplearn.table.cells import (
    FALSE_WORDS,
    TRUE_WORDS,
    TextRules,
    clean_cells,
    is_text,
    read_numbers,
    usual_markers,
    words_of,
)
from rdplearn.table.hashing import hash_texts
from rdplearn.table.moments import (
    SECONDS_PER_DAY,
    compact_dates,
    orders_of_dates,
    read_format,
    read_moments,
    read_times_of_day,
)
from rdplearn.table.sketches import DistinctSample, Spread
from rdplearn.table.wording import as_option, shown
from rdplearn.table.written_numbers import NO_DRESS, read_durations, read_written

if TYPE_CHECKING:
    import pyarrow as pa

CELLS_OF_MEMORY = 2**22
LARGEST_CAPACITY = 4096
SMALLEST_CAPACITY = 256
LONGEST_KEPT_TEXT = 256
MOST_DRESSES = 8


@dataclass(frozen=True)
class Stray:
    """Cells that do not fit a reading of their column: how many, and the first (rows count from 1)."""

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

    `form` is how the cells arrived: "text" (to be read), "category" (declared one by its data frame),
    "number", "boolean", "moment", "time of day"; None while only empty cells were seen.
    `trouble` says why the cells cannot be read at all, such as "holds list<int> values"; "" if they can.
    `n_in_format` and `not_in_format` : dates that are written as `TextRules.date_format` says, and that are not.
    `markers` are cells such as "?" that may mean missing; they are no strays.
    `n_written` and `not_written`, by decimal mark: cells that are numbers in any dress, and that are not.
    `dresses` : the cells that have each dress, which are strays if the column has another; None if there are too many
    for the column to be one of numbers.
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
    not_times_of_day: Stray = Stray()
    not_compact_dates: Stray = Stray()
    not_in_format: Stray = Stray()
    not_durations: Stray = Stray()
    infinities: Stray = Stray()
    trouble: str = ""
    n_compact_dates: int = 0
    n_in_format: int = 0
    n_durations: int = 0
    markers: dict[str, int] = field(default_factory=dict)
    n_written: dict[str, int] = field(default_factory=lambda: {".": 0, ",": 0})
    not_written: dict[str, Stray] = field(default_factory=lambda: {".": Stray(), ",": Stray()})
    dresses: dict[str, Stray] | None = field(default_factory=dict)

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
        """Take in the next rows of the column; without `strict`, cells of a strange type are trouble and no error."""
        if array.null_count == len(array) and not self.trouble:
            self.n_missing += len(array)  # at once: a table of many keys has many columns that are all but empty
            self.n_rows += len(array)
            return
        try:
            cells = clean_cells(array, rules, self.name, table)
        except TableError as fault:
            if rules.strict:
                raise
            self.trouble = str(fault).removeprefix(f"Column {shown(self.name)} of {table} ").split(". ")[0]
        if self.trouble:
            self.n_rows += len(array)
            return
        if cells.null_count < len(cells):
            self._require_form(form_of(cells), table)
            if self.form in ("text", "category"):
                self._add_texts(cells, rules)
            elif self.form == "moment":
                seconds = read_moments(cells.drop_null(), day_first=False)
                self.n_with_clock += int((seconds % SECONDS_PER_DAY != 0).sum())
                self.moments[False].add(seconds, np.ones(len(seconds), dtype=np.int64))
            else:
                read = read_times_of_day(cells) if self.form == "time of day" else read_numbers(cells, rules)
                values = read[~np.isnan(read)]
                self.infinities = self.infinities.then(Stray.find(cells, np.isinf(read)), self.n_rows)
                self.numbers.add(values, np.ones(len(values), dtype=np.int64))
                if self.form == "number":
                    self._count_compact_dates(values, np.ones(len(values), dtype=np.int64))
        self.n_missing += cells.null_count
        self.n_rows += len(cells)

    def merge(self, later: ColumnSummary, table: str) -> None:
        """Take in the summary of the rows that follow."""
        if later.form is not None:
            self._require_form(later.form, table)
        self.trouble = self.trouble or later.trouble
        self.markers = added(self.markers, later.markers)
        self.n_written = added(self.n_written, later.n_written)
        self.n_compact_dates += later.n_compact_dates
        self.n_in_format += later.n_in_format
        self.n_durations += later.n_durations
        before, after = self.dresses or {}, later.dresses
        self._add_dresses(
            None
            if after is None
            else {dress: before.get(dress, Stray()).then(cells, self.n_rows) for dress, cells in after.items()}
        )
        for mark, known in self.not_written.items():
            self.not_written[mark] = known.then(later.not_written[mark], self.n_rows)
        self.not_numbers = self.not_numbers.then(later.not_numbers, self.n_rows)
        self.not_times_of_day = self.not_times_of_day.then(later.not_times_of_day, self.n_rows)
        self.not_compact_dates = self.not_compact_dates.then(later.not_compact_dates, self.n_rows)
        self.not_in_format = self.not_in_format.then(later.not_in_format, self.n_rows)
        self.not_durations = self.not_durations.then(later.not_durations, self.n_rows)
        self.infinities = self.infinities.then(later.infinities, self.n_rows)
        for day_first in (False, True):
            self.not_moments[day_first] = self.not_moments[day_first].then(later.not_moments[day_first], self.n_rows)
            self.moments[day_first].merge(later.moments[day_first])
        self.n_rows += later.n_rows
        self.n_missing += later.n_missing
        self.n_booleans += later.n_booleans
        self.n_times_of_day += later.n_times_of_day
        self.n_with_clock += later.n_with_clock
        self.texts.merge(later.texts)
        self.numbers.merge(later.numbers)

    def _require_form(self, form: str, table: str) -> None:
        if self.form not in (None, form):
            raise TableError(
                f"Column {shown(self.name)} of {table} arrives as {self.form} up to row {self.n_rows:,} "
                f"and as {form} after it. Give it one type, or pass --ignore {as_option(self.name)}."
            )
        self.form = form

    def _add_texts(self, cells: pa.Array, rules: TextRules) -> None:
        """Count distinct texts, and how many of the cells can be read as something else."""
        import pyarrow.compute as pc

        texts = words_of(cells)
        tally = pc.value_counts(texts.drop_null())
        distinct, counts = tally.field(0), tally.field(1).to_numpy()
        self._sample_texts(distinct, counts)
        if self.form == "text":
            self._add_readings(texts, distinct, counts, rules)

    def _sample_texts(self, distinct: pa.Array, counts: NDArray[np.int64]) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        hashes = hash_texts(distinct)
        entering = np.flatnonzero(self.texts.may_enter(hashes))
        if len(entering) > self.capacity:
            # One more than fit in, so that the sample knows it has overflowed.
            entering = entering[np.argpartition(hashes[entering], self.capacity)[: self.capacity + 1]]
        kept = pc.utf8_slice_codeunits(distinct.take(pa.array(entering)), 0, LONGEST_KEPT_TEXT)
        self.texts.add(np.array(kept.to_pylist(), dtype=object), hashes[entering], counts[entering])

    def _add_readings(self, texts: pa.Array, distinct: pa.Array, counts: NDArray[np.int64], rules: TextRules) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        def strays(readable: NDArray[np.bool_], known: Stray) -> Stray:
            """Add to `known` the cells of this batch that cannot be read; usually they all can, or none."""
            if readable.all():
                return known
            if not readable.any():
                return known.then(Stray.find(texts, np.asarray(texts.is_valid())), self.n_rows)
            misfits = pc.filter(distinct, pa.array(~readable))
            return known.then(Stray.find(texts, np.asarray(pc.is_in(texts, value_set=misfits))), self.n_rows)

        values = read_numbers(distinct, rules)
        numeric = ~np.isnan(values)
        self.numbers.add(values[numeric], counts[numeric])
        is_compact = self._count_compact_dates(values, counts)
        if numeric.all():
            marked = np.zeros(len(distinct), dtype=bool)
        else:
            marked = np.zeros(len(distinct), dtype=bool) if rules.strict else usual_markers(distinct) & ~numeric
            words = pc.filter(distinct, pa.array(marked)).to_pylist()
            self.markers = added(self.markers, dict(zip(words, counts[marked].tolist(), strict=True)))
        self.not_numbers = strays(numeric | marked, self.not_numbers)
        self.not_compact_dates = strays(is_compact | marked, self.not_compact_dates)
        self._add_written(distinct, counts, numeric, marked, rules, strays)
        self.infinities = strays(~np.isinf(values), self.infinities)
        if numeric.all():
            no_dates = Stray.find(texts, np.asarray(texts.is_valid()))
            self.not_moments = {order: known.then(no_dates, self.n_rows) for order, known in self.not_moments.items()}
            self.not_times_of_day = self.not_times_of_day.then(no_dates, self.n_rows)
            self.not_durations = self.not_durations.then(no_dates, self.n_rows)
            return
        words = pa.array([*TRUE_WORDS, *FALSE_WORDS], distinct.type)
        self.n_booleans += int(counts[np.asarray(pc.is_in(pc.utf8_lower(distinct), value_set=words))].sum())
        readings = {order: read_moments(distinct, order, rules.date_format) for order in orders_of_dates(distinct)}
        for day_first in (False, True):
            seconds = readings.get(day_first, readings[False])
            dated = ~np.isnan(seconds)
            self.moments[day_first].add(seconds[dated], counts[dated])
            self.not_moments[day_first] = strays(dated | marked, self.not_moments[day_first])
        either_order = np.fmax.reduce(list(readings.values()))
        self.n_with_clock += int(counts[np.nan_to_num(either_order) % SECONDS_PER_DAY != 0].sum())
        if rules.date_format is not None:
            fitting = ~np.isnan(read_format(distinct, rules.date_format))
            self.n_in_format += int(counts[fitting].sum())
            self.not_in_format = strays(fitting | np.isnan(either_order), self.not_in_format)
        are_times = are_durations = np.zeros(len(distinct), dtype=bool)
        if np.isnan(either_order).any():
            are_times = ~np.isnan(read_times_of_day(distinct))
            are_durations = are_durations if rules.plain_numbers else ~np.isnan(read_durations(distinct))
        self.n_times_of_day += int(counts[are_times].sum())
        self.not_times_of_day = strays(are_times | marked, self.not_times_of_day)
        self.n_durations += int(counts[are_durations].sum())
        self.not_durations = strays(are_durations | marked, self.not_durations)

    def _add_written(
        self,
        distinct: pa.Array,
        counts: NDArray[np.int64],
        numeric: NDArray[np.bool_],
        marked: NDArray[np.bool_],
        rules: TextRules,
        strays: Callable[[NDArray[np.bool_], Stray], Stray],
    ) -> None:
        """Count the cells that are numbers in a dress: with the usual decimal mark, and with a comma unless told."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if rules.plain_numbers:
            return
        dressed = np.zeros(len(distinct), dtype=bool)
        for mark in [rules.mark] if rules.decimal or rules.thousands else [".", ","]:
            readable = numeric
            if mark != rules.mark and numeric.all():
                # the usual case, and faster: whole numbers read the same with a comma, and points are between groups
                readable = np.asarray(pc.match_substring_regex(distinct, r"^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)$"))
            elif not numeric.all():
                values, dresses = read_written(distinct, rules, mark)
                readable = ~np.isnan(values)
                new = readable & ~dressed
                self._add_dresses(self._dresses_of(pc.if_else(pa.array(new), dresses, None), strays))
                dressed |= new
            self.n_written[mark] += int(counts[readable].sum())
            self.not_written[mark] = strays(readable | marked, self.not_written[mark])

    def _dresses_of(
        self, dresses: pa.Array, strays: Callable[[NDArray[np.bool_], Stray], Stray]
    ) -> dict[str, Stray] | None:
        """The cells that have each of these dresses, with those of earlier rows."""
        import pyarrow.compute as pc

        names = [dress for dress in pc.unique(dresses.drop_null()).to_pylist() if dress not in NO_DRESS]
        if self.dresses is None or len(names) > MOST_DRESSES:
            return None
        others = {dress: ~np.asarray(pc.fill_null(pc.equal(dresses, dress), False)) for dress in names}
        return {dress: strays(other, self.dresses.get(dress, Stray())) for dress, other in others.items()}

    def _add_dresses(self, joined: dict[str, Stray] | None) -> None:
        if self.dresses is None or joined is None:
            self.dresses = None
            return
        self.dresses = dict(sorted({**self.dresses, **joined}.items()))
        if len(self.dresses) > MOST_DRESSES:
            self.dresses = None

    def _count_compact_dates(self, values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        is_compact = ~np.isnan(compact_dates(values))
        self.n_compact_dates += int(counts[is_compact].sum())
        return is_compact


def added(some: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    """The counts of both, by name."""
    return {name: some.get(name, 0) + more.get(name, 0) for name in sorted({*some, *more})}


def form_of(cells: pa.Array) -> str:
    """How clean cells arrived."""
    import pyarrow.types as types

    if types.is_dictionary(cells.type):
        return "category"
    if is_text(cells):
        return "text"
    if types.is_timestamp(cells.type):
        return "moment"
    if types.is_time(cells.type):
        return "time of day"
    return "boolean" if types.is_boolean(cells.type) else "number"


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
            capacity = int(np.clip(CELLS_OF_MEMORY // max(len(names), 1), SMALLEST_CAPACITY, LARGEST_CAPACITY))
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
                f"Column {shown(differing[0])} is in some parts of {self.name} and not in others. "
                f"Give all parts the same columns, or pass --ignore {as_option(differing[0])}."
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
