"""The table encoder: learns how the columns of a table become numbers, and turns tables into matrices."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rdplearn._to_dask import for_partitions
from rdplearn._types import TableColumns
from rdplearn.errors import TableError, no_rows, warn_user
from rdplearn.table.assembly import Matrix, assemble
from rdplearn.table.cells import TextRules
from rdplearn.table.column_types import Decision, decide_kind
from rdplearn.table.decimal_marks import decimal_mark_of
from rdplearn.table.encoded_column import EncodedColumn
from rdplearn.table.findings import Findings
from rdplearn.table.parameters import Parameters
from rdplearn.table.reading import open_table
from rdplearn.table.state import column_from_dict, column_to_dict, read_state
from rdplearn.table.summary import ColumnSummary, TableSummary, summarise
from rdplearn.table.sums import tell_sums
from rdplearn.table.typical import Typical
from rdplearn.table.wording import as_option, column_hint, shown

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT_VERSION = 2
LEFT_OUT_ALOUD = ("identifier", "text", "unreadable")
FULLEST_SPARSE = 0.2
NARROWEST_SPARSE = 32
OPTIONS = {"ignore": "--ignore", "kinds": "--kind", "weights": "--weight"}
MOST_READINGS_TOLD = 8
MOST_WEIGHT = 1000  # the other columns have no say then; training diverges with what is far more


class TableEncoder(Parameters):
    r"""Turn a table of numbers, categories, dates, texts and missing cells into a matrix of float32.

    The fit reads the table once, in batches, so memory does not grow with it. The result does not depend on how the
    rows are split into batches. `docs/tables.md` tells what becomes of each kind of column.

    Parameters
    ----------
    kinds : mapping from column name to kind, optional
        What columns hold, where they would be read wrongly: "number", "boolean", "category", "date", "time",
        "text", or "identifier" (left out).
    ignore : sequence of str
        Columns that are not used.
    weights : mapping from column name to number, optional
        How much columns count in a detector, 1 by default: ``{"amount": 3}``. 0 is the same as ignoring a column,
        1000 is the most.
    missing : sequence of str
        Markers of missing values, besides ``""``, ``NA``, ``NaN``, ``null``, ``NULL``, ``None`` and ``\N``: texts,
        or numbers such as -999.
    decimal : {".", ","}, optional
        The decimal mark of numbers in text. By default each column decides.
    thousands : str, optional
        The mark between groups of three digits.
    day_first : bool, optional
        Whether 01/02/2024 is the first of February. By default the column's other dates decide.
    date_format : str, optional
        How dates are written, such as ``"%d.%m.%y %H:%M"``; dates that are written otherwise are read as usual, with
        day and month in the same order.
    plain_numbers : bool, default=False
        Leave "$2,700", "35.5%", "(1,234)", "12 kg" and "3h 20m" texts. By default a column of them is one of numbers.
    strict : bool, default=False
        Stop at a cell that does not fit its column. By default it counts as missing and gets a mark, with a warning.
    max_categories : int, default=100
        How many of the most frequent values of a category get their own component.
    rare_share : float, default=0.001
        Values in a smaller share of the rows (or in one row only) are rare and share one component.
    text_columns : int, default=32
        Components for the letter triples of a text; 0 leaves texts out.
    sparse : {"auto", True, False}, default="auto"
        Whether the matrix is CSR; "auto" means when it has 32 columns or more, at most a fifth of them filled
        per row.

    Attributes
    ----------
    columns_ : list of EncodedColumn
    feature_names_ : list of str
        Names of the components: ``age``, ``age missing``, ``country=US``, ``when:hour_sin``.
    source_columns_ : list of str
        For each component, the column of the table that it came from.
    groups_ : dict from column of the table to the places of its components
    table_columns_ : TableColumns
        The same with weights, and which components only say that a cell is missing: what a detector asks for.
    n_rows_ : int
        Rows of the table that was fitted.
    sparse_ : bool

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [31.0, None, 57.0], "city": ["Oslo", "Rome", "Rome"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.feature_names_
    ['age', 'age missing', 'city=Rome', 'city=Oslo']
    >>> encoder.transform(table).tolist()
    [[31.0, 0.0, 0.0, 1.0], [31.0, 1.0, 1.0, 0.0], [57.0, 0.0, 1.0, 0.0]]
    """

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        ignore: Iterable[str] = (),
        weights: Mapping[str, float] | None = None,
        missing: Iterable[str] = (),
        decimal: str | None = None,
        thousands: str | None = None,
        day_first: bool | None = None,
        date_format: str | None = None,
        plain_numbers: bool = False,
        strict: bool = False,
        max_categories: int = 100,
        rare_share: float = 0.001,
        text_columns: int = 32,
        sparse: bool | Literal["auto"] = "auto",
    ) -> None:
        self.kinds = kinds
        self.ignore = ignore
        self.weights = weights
        self.missing = missing
        self.decimal = decimal
        self.thousands = thousands
        self.day_first = day_first
        self.date_format = date_format
        self.plain_numbers = plain_numbers
        self.strict = strict
        self.max_categories = max_categories
        self.rare_share = rare_share
        self.text_columns = text_columns
        self.sparse = sparse

    @for_partitions
    def fit(self, table: Any, y: object = None) -> TableEncoder:
        """Learn the encoding of a table: a path, ``"-"``, a data frame, an array, or an opened `Table`.

        `y` is ignored, and there because pipelines pass it.
        """
        return self.fit_summary(self.summarise(table))

    def summarise(self, table: Any) -> TableSummary:
        """Read a table, or a part of one, and remember what decides its encoding.

        Summaries of parts join with `TableSummary.merge`; `fit_summary` does the rest.
        """
        opened = open_table(table)
        _require_names("ignore", self._ignored(), opened.column_names, opened.name)
        return summarise(opened.batches(), self._rules(), ignore=self._ignored(), name=opened.name)

    def fit_summary(self, summary: TableSummary) -> TableEncoder:
        """Learn the encoding from the summary of all rows."""
        self._check_options()
        self._check_names(summary)
        self._learn_columns(summary)
        self._name_features(summary.name)
        self.sparse_ = self._sparse_pays(summary) if self.sparse == "auto" else bool(self.sparse)
        self._tell_left_out(summary)
        return self

    @for_partitions
    def transform(self, table: Any) -> Matrix:
        """Encode a whole table: float32 of shape (n_rows, n_matrix_columns), dense or CSR."""
        matrices = [matrix for _, matrix in self.encode_batches(table)]
        if len(matrices) == 1:
            return matrices[0]
        if not matrices:
            return self._empty_matrix()
        if self.sparse_:
            from scipy.sparse import vstack

            return vstack(matrices, format="csr")
        return np.concatenate(matrices)

    def fit_transform(self, table: Any, y: object = None) -> Matrix:
        """Learn the encoding of a table and encode it."""
        opened = open_table(table)
        return self.fit(opened).transform(opened)

    def encode_batches(self, table: Any, *, skip_rows: int = 0) -> Iterator[tuple[pa.RecordBatch, Matrix]]:
        """Encode a table of any size batch by batch; each batch comes with its matrix.

        The batches that make up the first `skip_rows` rows are read and skipped.

        Columns are found by name, in any order. A column that the matrix needs must be there. Columns that the fit
        did not have are skipped, with a warning. After the last batch, one warning says what else differs from the
        fit.
        """
        self._require_fit()
        opened = open_table(table)
        findings = Findings(opened.name)
        compared = False
        for batch in opened.batches():
            if not compared:
                self._tell_unknown(batch.schema.names, opened.name)
                compared = True
            if findings.rows_before < skip_rows:
                findings.rows_before += batch.num_rows
                continue
            yield batch, self.encode_batch(batch, findings)
            findings.rows_before += batch.num_rows
        findings.warn()

    def encode_batch(self, batch: pa.RecordBatch, findings: Findings) -> Matrix:
        """Encode rows that have all columns that the matrix needs; note in `findings` what differs from the fit."""
        present = set(batch.schema.names)
        pieces = [
            piece
            for column in self.columns_
            if column.source in present
            for piece in column.encode(batch.column(column.source), self.rules_, findings)
        ]
        return assemble(pieces, batch.num_rows, self.sparse_)

    def cell_values(self, batch: pa.RecordBatch) -> NDArray[np.object_]:
        """What the cells of the columns that are used say, for people: (n_rows, n_groups), as in `groups_`."""
        self._require_fit()
        by_source = {column.source: column for column in self.columns_}
        values = np.empty((batch.num_rows, len(self.groups_)), dtype=object)
        for place, source in enumerate(self.groups_):
            # one by one: NumPy would take a list of dates or texts for something else
            for row, value in enumerate(by_source[source].values(batch.column(source), self.rules_, "the table")):
                values[row, place] = value
        return values

    def typical_values(self) -> list[Typical]:
        """What is usual in each column that is used: (n_groups,), as in `groups_`."""
        self._require_fit()
        by_source = {column.source: column.typical for column in self.columns_}
        return [by_source[source] for source in self.groups_]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the components, as scikit-learn asks for them."""
        self._require_fit()
        return np.array(self.feature_names_, dtype=object)

    def describe(self) -> list[dict[str, Any]]:
        """What was done to each column, in the table's order, as plain values for JSON or a printed table.

        Examples
        --------
        >>> import pyarrow as pa
        >>> encoder = TableEncoder().fit(pa.table({"flag": [True, False, None]}))
        >>> encoder.describe()[0]["becomes"], encoder.describe()[0]["missing"]
        (['flag', 'flag missing'], 1)
        """
        self._require_fit()
        return [column.describe() for column in self.columns_]

    def to_dict(self) -> dict[str, Any]:
        """The fitted encoder as plain values for JSON; nothing in it is ever executed."""
        self._require_fit()
        return {
            "format": FORMAT_VERSION,
            "n_rows": self.n_rows_,
            "sparse": self.sparse_,
            "ignore": sorted(self._ignored()),
            "rules": self.rules_.to_dict(),
            "columns": [column_to_dict(column) for column in self.columns_],
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> TableEncoder:
        """Rebuild a fitted encoder; raises `ModelFileError` for anything that `to_dict` does not write.

        Examples
        --------
        >>> import json, pyarrow as pa
        >>> encoder = TableEncoder().fit(pa.table({"age": [31, 57]}))
        >>> again = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
        >>> again.transform(pa.table({"age": [40]})).tolist()
        [[40.0]]
        """
        checked = read_state(state, FORMAT_VERSION)
        rules: TextRules = checked["rules"]
        encoder = cls(ignore=checked["ignore"], sparse=checked["sparse"], **vars(rules))
        encoder.rules_ = rules
        encoder.n_rows_ = checked["n_rows"]
        encoder.sparse_ = checked["sparse"]
        encoder.columns_ = [column_from_dict(column) for column in checked["columns"]]
        encoder._name_features("the model")
        return encoder

    def look(self, table: Any) -> list[dict[str, Any]]:
        """What would become of each column, as `describe` tells it, whether or not any can be used."""
        self._check_options()
        summary = self.summarise(table)
        self._check_names(summary)
        self._learn_columns(summary)
        self._tell_left_out(summary)
        return self.describe()

    def _learn_columns(self, summary: TableSummary) -> None:
        self.rules_ = self._rules()
        self.n_rows_ = summary.n_rows
        usual_mark = decimal_mark_of(summary.columns.values(), self.rules_)
        decisions = {
            name: decide_kind(column, self.rules_, summary.name, (self.kinds or {}).get(name), usual_mark)
            for name, column in summary.columns.items()
        }
        _tell_readings({name: told.warning for name, told in decisions.items() if told.warning}, summary.name)
        self.columns_ = [self._learn_column(summary.columns[name], decision) for name, decision in decisions.items()]
        if any(column.kind == "number" for column in self.columns_):
            tell_sums(summary)
        if self.date_format is not None and not any(column.n_in_format for column in summary.columns.values()):
            warn_user(
                f"No cell of {summary.name} is written as --date-format says, {self.date_format!r}, so all dates were "
                "read as usual. Correct it, or leave it out."
            )

    def _rules(self) -> TextRules:
        return TextRules(**{field.name: getattr(self, field.name) for field in fields(TextRules)})

    def _ignored(self) -> frozenset[str]:
        if isinstance(self.ignore, str):
            raise TableError(
                f"The 'ignore' option must be a list of columns. Got {self.ignore!r}; pass [{self.ignore!r}]."
            )
        return frozenset(self.ignore)

    def _check_options(self) -> None:
        for option, lowest in (("max_categories", 1), ("text_columns", 0)):
            value = getattr(self, option)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < lowest:
                raise TableError(
                    f"The {option!r} parameter of TableEncoder must be an integer of at least {lowest}. "
                    f"Got {value!r} instead."
                )
        for option, example in (("kinds", "{'zip': 'category'}"), ("weights", "{'amount': 3}")):
            value = getattr(self, option)
            if value is not None and not isinstance(value, Mapping):
                raise TableError(
                    f"The {option!r} parameter of TableEncoder must be a mapping, such as {example}. "
                    f"Got {value!r:.60} instead."
                )
        if not 0 <= self.rare_share < 1:
            raise TableError(
                f"The 'rare_share' parameter of TableEncoder must be in [0, 1). Got {self.rare_share!r} instead."
            )
        for name, weight in (self.weights or {}).items():
            if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= weight <= MOST_WEIGHT:
                raise TableError(
                    f"The 'weights' parameter of TableEncoder must give columns numbers from 0 to {MOST_WEIGHT:,}. Got "
                    f"{weight!r} for {shown(name)}: pass 0 to ignore the column, 1 to leave it as it is, or more."
                )
        if self.sparse not in ("auto", True, False):
            raise TableError(
                f"The 'sparse' parameter of TableEncoder must be 'auto', True or False. Got {self.sparse!r} instead."
            )

    def _check_names(self, summary: TableSummary) -> None:
        if summary.n_rows == 0:
            raise no_rows(summary.name)
        _require_names("kinds", self.kinds or {}, summary.columns, summary.name)
        _require_names("weights", self.weights or {}, summary.columns, summary.name)

    def _learn_column(self, column: ColumnSummary, decision: Decision) -> EncodedColumn:
        return EncodedColumn.learn(
            column,
            decision,
            self.rules_,
            max_categories=self.max_categories,
            rare_share=self.rare_share,
            text_columns=self.text_columns,
        )

    def _name_features(self, table: str) -> None:
        names = [(name, column.source) for column in self.columns_ for name in column.names()]
        if names and not any((self.weights or {}).get(source, 1) for _, source in names):
            raise TableError(
                "The 'weights' parameter gives every column that is used 0. Give at least one a weight above 0."
            )
        if not names:
            reasons = "; ".join(f"{column.source!r} is {column.kind}" for column in self.columns_[:3])
            raise TableError(
                f"No column of {table} can be used{': ' + reasons if reasons else ''}. "
                "Say what they are with --kind, or --ignore less."
            )
        taken: dict[str, int] = {}
        self.feature_names_ = []
        for name, _ in names:
            taken[name] = taken.get(name, 0) + 1
            self.feature_names_.append(name if taken[name] == 1 else f"{name} ({taken[name]})")
        self.source_columns_ = [source for _, source in names]
        self.groups_: dict[str, list[int]] = {}
        for place, source in enumerate(self.source_columns_):
            self.groups_.setdefault(source, []).append(place)
        self.table_columns_ = TableColumns(
            names=list(self.groups_),
            group_of_column=np.repeat(np.arange(len(self.groups_)), [len(places) for places in self.groups_.values()]),
            is_mark=np.array([is_mark for column in self.columns_ for is_mark in column.marks()], dtype=bool),
            weights=np.array([float((self.weights or {}).get(source, 1.0)) for source in self.groups_]),
            is_rest=np.array([is_rest for column in self.columns_ for is_rest in column.rests()], dtype=bool),
        )

    def _sparse_pays(self, summary: TableSummary) -> bool:
        filled = sum(column.expected_entries(summary.columns[column.source]) for column in self.columns_)
        n_columns = len(self.feature_names_)
        return n_columns >= NARROWEST_SPARSE and filled <= FULLEST_SPARSE * n_columns

    def _tell_left_out(self, summary: TableSummary) -> None:
        left_out = [column for column in self.columns_ if column.kind in LEFT_OUT_ALOUD and column.is_left_out]
        told = self.kinds or {}
        surprising = [column for column in left_out if column.source not in told]
        if surprising:
            listed = ", ".join(
                f"{column.source!r} ({column.note.removeprefix('left out: ')})" for column in surprising[:5]
            )
            more = f" and {len(surprising) - 5} more" if len(surprising) > 5 else ""
            agreed = " ".join(f"--ignore {as_option(column.source)}" for column in surprising[:5])
            usable = [column.source for column in surprising if column.kind != "unreadable"]
            which = "it" if len(surprising) == 1 else as_option(usable[0]) if usable else ""
            instead = f", or --kind {as_option(usable[0] + '=category')} to use {which}" if usable else ""
            warn_user(f"Left out of {summary.name}: {listed}{more}. Pass {agreed} to agree{instead}.")

    def _tell_unknown(self, names: list[str], table: str) -> None:
        new = self.unknown_columns(names, table)
        if new:
            listed = ", ".join(map(repr, new[:5])) + (f" and {len(new) - 5} more" if len(new) > 5 else "")
            warn_user(f"New in {table} and not used: {listed}.")

    def unknown_columns(self, names: Sequence[str], table: str) -> list[str]:
        """Which of a table's columns the fit did not have; an error if one is missing that the matrix needs."""
        present, known = set(names), {column.source for column in self.columns_} | self._ignored()
        absent = [column.source for column in self.columns_ if column.names() and column.source not in present]
        new = [name for name in names if name not in known]
        if absent:
            near = difflib.get_close_matches(absent[0], new, n=1)
            hint = f" Is it {near[0]!r} now?" if near else ""
            more, are, them = (f" and {len(absent) - 1} more", "are", "them") if len(absent) > 1 else ("", "is", "it")
            raise TableError(
                f"Column {absent[0]!r}{more} of the fit {are} missing from {table}.{hint} Add {them}, or fit again."
            )
        return new

    def _empty_matrix(self) -> Matrix:
        empty = np.zeros((0, len(self.feature_names_)), dtype=np.float32)
        if not self.sparse_:
            return empty
        from scipy.sparse import csr_array

        return csr_array(empty)

    def _require_fit(self) -> None:
        if not hasattr(self, "columns_"):
            raise TableError("This TableEncoder is not fitted. Call fit with a table first.")


def _tell_readings(warnings: Mapping[str, str], table: str) -> None:
    """Say how columns are read that are not plain; of very many the first, and which the others are."""
    n_told = len(warnings) if len(warnings) <= MOST_READINGS_TOLD else MOST_READINGS_TOLD // 2
    for warning in list(warnings.values())[:n_told]:
        warn_user(warning)
    if others := list(warnings)[n_told:]:
        listed = ", ".join(shown(name) for name in others[:MOST_READINGS_TOLD])
        more = f" and {len(others) - MOST_READINGS_TOLD:,} more" if len(others) > MOST_READINGS_TOLD else ""
        warn_user(
            f"So it is, in one way or another, with {len(others):,} more columns of {table}: {listed}{more}. Run "
            "rdplearn inspect, or TableEncoder.look, to see how each is read."
        )


def _require_names(option: str, named: Iterable[str], present: Collection[str], table: str) -> None:
    for name in sorted(set(named) - set(present)):
        raise TableError(
            f"The {option!r} parameter ({OPTIONS[option]}) names column {shown(name)}, which {table} does not have."
            f"{column_hint(name, present)}"
        )
