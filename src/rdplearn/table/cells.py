"""What the cells of a column say: texts read as numbers and truth values.

A cell is *missing* when it is null, NaN, empty, or one of the markers of `TextRules`. `clean_cells` brings a
column of any Arrow type to one of a few, with blanks stripped and missing cells null; the readers below it
take such *clean* arrays, whole, and give NaN for cells that are missing or do not say such a thing.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rdplearn.errors import TableError
from rdplearn.table.wording import as_option, shown

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_MARKERS = ("", "NA", "NaN", "nan", "NAN", "null", "NULL", "None", "\\N")
TRUE_WORDS = ("true", "yes", "t", "y")
FALSE_WORDS = ("false", "no", "f", "n")
# In a column that reads as numbers, dates or truth values, these mean that there is none.
USUAL_MARKERS = (
    *("n/a", "#n/a", "n.a.", "na", "?", "??", "-", "--", "---", ".", "..", "*", "unknown", "none", "nil", "missing"),
    *("#ref!", "#value!", "#div/0!", "#num!", "#name?", "not available", "not known", "(blank)", "<na>", "nat"),
)
PLAIN_NUMBER = r"^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI][nN][fF](?:inity)?)$"


@dataclass(frozen=True)
class TextRules:
    r"""How texts are to be read.

    Parameters
    ----------
    missing : sequence of str
        Markers of missing values, besides the usual ``""``, ``NA``, ``NaN``, ``null``, ``NULL``, ``None`` and ``\N``.
        In columns of numbers, as data frames and Parquet have them, -999 is the number, however it is written.
    decimal : str or None
        The decimal mark, ``"."`` or ``","``; None lets each column decide.
    thousands : str or None
        The mark between groups of three digits, such as ``","``, ``"."``, ``"'"`` or ``" "``; none by
        default.
    day_first : bool or None
        Whether 01/02/2024 is the first of February; None lets the column's other dates decide.
    date_format : str or None
        How dates are written, such as ``"%d.%m.%y %H:%M"``; dates that are written otherwise are read as usual, with
        day and month in the same order.
    plain_numbers : bool
        Whether "$2,700", "35.5%", "12 kg" and "3h 20m" stay texts.
    strict : bool
        Whether a cell that does not fit its column is an error. If not, it counts as missing and is marked.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_numbers(pa.array(["1.234,5", "-7"]), TextRules(decimal=",", thousands=".")).tolist()
    [1234.5, -7.0]
    """

    missing: tuple[str, ...] = ()
    decimal: str | None = None
    thousands: str | None = None
    day_first: bool | None = None
    date_format: str | None = None
    plain_numbers: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.missing, str):
            raise TableError(f"The 'missing' option must be a list of texts. Got {self.missing!r}; put it in a list.")
        object.__setattr__(self, "missing", tuple(str(marker).strip() for marker in self.missing))
        if self.decimal not in (None, ".", ","):
            raise TableError(f"The 'decimal' option must be '.' or ','. Got {self.decimal!r} instead.")
        if self.thousands is not None and (len(self.thousands) != 1 or self.thousands in f"{self.mark}+-0123456789eE"):
            remedy = "; pass the decimal mark ',' with it" if (self.thousands, self.decimal) == (".", None) else ""
            raise TableError(
                f"The 'thousands' option must be one character, no digit and not the decimal mark. "
                f"Got {self.thousands!r} instead{remedy}."
            )
        if self.date_format is not None and not _is_date_format(self.date_format):
            raise TableError(
                "The 'date_format' option must hold the parts of a date, such as '%d.%m.%Y %H:%M'. "
                f"Got {self.date_format!r:.60} instead."
            )

    @property
    def mark(self) -> str:
        """The decimal mark of plain numbers."""
        return self.decimal or "."

    @property
    def first_is_day(self) -> bool | None:
        """Whether 01/02/2024 is the first of February, as `day_first` or else `date_format` says; None if neither."""
        if self.day_first is not None or self.date_format is None:
            return self.day_first
        day, month = (self.date_format.find(part) for part in ("%d", "%m"))
        return day < month if min(day, month) >= 0 else None

    @property
    def missing_numbers(self) -> list[float]:
        """The markers of missing values that are numbers, for columns of numbers that no one wrote as text."""
        return [float(marker) for marker in self.missing if re.match(PLAIN_NUMBER, marker)]

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "missing": list(self.missing)}


def _is_date_format(text: str) -> bool:
    try:
        moment = datetime(2024, 11, 23)
        return datetime.strptime(moment.strftime(text), text).date() in (moment.date(), moment.date().replace(day=1))
    except (ValueError, TypeError):
        return False


def is_text(array: pa.Array) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(array.type) or types.is_large_string(array.type))


def clean_cells(array: pa.Array, rules: TextRules, column: str, table: str) -> pa.Array:
    """Bring a column to string, double, bool, timestamp, time64, null, or a dictionary of strings.

    Missing cells become null. Dictionaries stay dictionaries: whoever made one declared the column to be a
    category.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    kind = array.type
    try:
        if types.is_dictionary(kind):
            decoded = array.cast(kind.value_type)
            return words_of(clean_cells(decoded, rules, column, table)).dictionary_encode()
        if types.is_boolean(kind) or types.is_null(kind):
            return array
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            floats = pc.cast(array, pa.float64(), safe=False)
            marked = pc.is_nan(floats)
            if markers := rules.missing_numbers:
                marked = pc.or_(marked, pc.is_in(floats, value_set=pa.array(markers, floats.type)))
            return pc.if_else(marked, pa.scalar(None, floats.type), floats)
        if types.is_timestamp(kind) or types.is_date(kind):
            zone = kind.tz if types.is_timestamp(kind) else None
            return pc.cast(array, pa.timestamp("us", zone), safe=False)
        if types.is_time(kind):
            return pc.cast(array, pa.time64("us"), safe=False)
        if types.is_duration(kind):
            return in_seconds(array)
        if not types.is_nested(kind):
            return clean_texts(pc.cast(array, pa.string()), rules)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    raise TableError(
        f"Column {shown(column)} of {table} holds {str(kind)[:60]} values, which are not numbers, "
        f"texts or dates. Pass --ignore {as_option(column)}."
    )


def clean_texts(texts: pa.Array, rules: TextRules) -> pa.Array:
    """Strip blanks from texts and make missing markers null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(texts)
    markers = pa.array(sorted({*MISSING_MARKERS, *rules.missing}), trimmed.type)
    marked = pc.is_in(trimmed, value_set=markers)
    if not pc.any(marked).as_py():
        return trimmed
    return pc.if_else(marked, pa.scalar(None, trimmed.type), trimmed)


def usual_markers(array: pa.Array) -> NDArray[np.bool_]:
    """Which cells of a clean array are usual markers of missing values, such as "?" and "n/a".

    Examples
    --------
    >>> import pyarrow as pa
    >>> usual_markers(pa.array(["N/A", "12", None])).tolist()
    [True, False, False]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(array):
        return np.zeros(len(array), dtype=bool)
    marked: NDArray[np.bool_] = np.asarray(
        pc.is_in(pc.utf8_lower(array), value_set=pa.array(USUAL_MARKERS, array.type)), dtype=bool
    )
    return marked


def in_seconds(array: Any) -> Any:
    """Durations as the numbers that they are read as."""
    import pyarrow as pa
    import pyarrow.compute as pc

    microseconds = pc.cast(array, pa.duration("us"), safe=False).cast(pa.int64())
    return pc.divide(microseconds.cast(pa.float64()), 1e6)


def words_of(array: pa.Array) -> pa.Array:
    """Write a clean array as text; whole numbers without a point, so that 1.0 and 1 are one category."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if is_text(array):
        return array
    if types.is_floating(array.type):
        words = pa.array(number_words(as_floats(array.drop_null())), pa.string())
        if array.null_count == 0:
            return words
        return pc.replace_with_mask(pa.nulls(len(array), words.type), array.is_valid(), words)
    return array.cast(pa.string())


def number_words(values: NDArray[np.float64]) -> list[str]:
    return [f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value) for value in values.tolist()]


def as_floats(array: pa.Array) -> NDArray[np.float64]:
    """Arrow numbers or truth values as float64, nulls as NaN."""
    import pyarrow as pa

    floats: NDArray[np.float64] = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return floats


def read_numbers(array: pa.Array, rules: TextRules) -> NDArray[np.float64]:
    """Read a clean array as numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_numbers(pa.array(["12", "1e3", None, "twelve"]), TextRules()).tolist()
    [12.0, 1000.0, nan, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_floating(array.type) or types.is_boolean(array.type) or types.is_null(array.type):
        return as_floats(array)
    if types.is_temporal(array.type):
        return np.full(len(array), np.nan)
    texts = words_of(array)
    if rules.thousands is not None:
        mark, decimal = f"\\x{{{ord(rules.thousands):x}}}", f"\\{rules.mark}"
        grouped = pc.match_substring_regex(texts, rf"^[+-]?\d{{1,3}}({mark}\d{{3}})+({decimal}\d*)?$")
        texts = pc.if_else(grouped, pc.replace_substring(texts, rules.thousands, ""), texts)
    if rules.decimal == ",":
        # A point is no decimal mark here: 1.5 must not quietly become a number beside 1,5.
        texts = pc.if_else(pc.match_substring(texts, "."), "no number", pc.replace_substring(texts, ",", "."))
    numbers = cast_if_all_can(texts, pa.float64())
    if numbers is not None and not pc.any(pc.is_nan(numbers)).as_py():
        return as_floats(numbers)
    numeric = pc.match_substring_regex(texts, PLAIN_NUMBER)
    return as_floats(pc.cast(pc.if_else(numeric, texts, pa.scalar(None, texts.type)), pa.float64()))


def read_booleans(array: pa.Array, rules: TextRules) -> NDArray[np.float64]:
    """Read a clean array as truth values, 1 or 0.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_booleans(pa.array(["yes", "FALSE", None, "perhaps"]), TextRules()).tolist()
    [1.0, 0.0, nan, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if is_text(array) or types.is_dictionary(array.type):
        lowered = pc.utf8_lower(words_of(array))
        true = pc.is_in(lowered, value_set=pa.array([*TRUE_WORDS, "1", "1.0"], lowered.type))
        false = pc.is_in(lowered, value_set=pa.array([*FALSE_WORDS, "0", "0.0"], lowered.type))
        return np.where(np.asarray(true), 1.0, np.where(np.asarray(false), 0.0, np.nan))
    values = read_numbers(array, rules)
    return np.where((values == 0) | (values == 1), values, np.nan)


def cast_if_all_can(texts: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Cast texts, or give None if one cannot be. Failing is slow in Arrow, so a few are tried first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.cast(texts[:32], kind)
        return pc.cast(texts, kind)
    except pa.ArrowInvalid:
        return None
