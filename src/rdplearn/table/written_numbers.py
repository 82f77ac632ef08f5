"""Numbers as people write them: "$2,700", "€ 1.200,50", "35.5%", "(1,234)", "12,50-", "12 kg", "$338K", and durations.

What stands before and after the digits is the number's *dress*. A column of such numbers has one dress, besides none:
"12 kg" beside "12 lb" are no numbers that can be compared. What may stand for thousands, millions or billions has a
star in its dress, "$|*k", for whoever decides on the column; "$|*" is the dress of amounts that are multiplied by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rdplearn.table.cells import TextRules, as_floats, read_numbers

if TYPE_CHECKING:
    import pyarrow as pa

CURRENCY = r"[A-Z]{0,3}[$€£¥₹₽₩]|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NOK|SEK|DKK|Rs\.?"
UNIT = r"%|‰|[$€£¥₹₽₩]|[°µ\pL][°\pL/²³]*"
LONGEST_UNIT = 15  # not said by the pattern, which would be compiled ten times as slowly
USUAL_GROUPS = {".": r"[,' \x{a0}\x{202f}]", ",": r"[.' \x{a0}\x{202f}]"}
MOST_GROUPS = 5  # of three digits after the first; "185,190,195,200,205,210,215" is a list
NO_DRESS = ("", "|")
MAGNITUDES = {"k": 1e3, "m": 1e6, "b": 1e9, "thousand": 1e3, "mn": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6}
MAGNITUDES |= {"bn": 1e9, "mrd": 1e9, "billion": 1e9, "billions": 1e9}
LETTERS_ALONE = ("k", "K", "M", "B")  # right behind the digits; "12 m" are metres, if it is no money
DURATION = "duration"  # the dress of "1:02:33", "59:30", "3h 20m" and "2 days 03:04:05", in seconds
CLOCK = r"(?:(?P<hours>\d+):)?(?P<minutes>\d+):(?P<seconds>[0-5]\d(?:\.\d+)?)"
DAYS = r"(?P<days>\d+) ?(?:d|days?)"
SPELT = (
    rf"(?:{DAYS})?[, ]*(?:(?P<hours>\d+(?:\.\d+)?) ?(?:h|hrs?|hours?))?[, ]*"
    r"(?:(?P<minutes>\d+(?:\.\d+)?) ?(?:m|mins?|minutes?))?[, ]*"
    r"(?:(?P<seconds>\d+(?:\.\d+)?) ?(?:s|secs?|seconds?))?"
)
DURATION_FORMS = (rf"^(?:{DAYS},? )?{CLOCK}$", rf"^{SPELT}$")
SECONDS_OF = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


def read_written(
    texts: pa.Array, rules: TextRules, decimal: str, dress: str | None = None
) -> tuple[NDArray[np.float64], pa.Array]:
    """Read texts as numbers in any dress, or in one; the dresses come along, such as "$|", "|kg" and "$|*k".

    Examples
    --------
    >>> import pyarrow as pa
    >>> values, dresses = read_written(pa.array(["$2,700", "(1,234)", "12 kg", "1e3", "B-737"]), TextRules(), ".")
    >>> values.tolist(), dresses.to_pylist()
    ([2700.0, -1234.0, 12.0, 1000.0, nan], ['$|', '|', '|kg', '|', None])
    >>> read_written(pa.array(["€ 1.200,50", "7,5"]), TextRules(), ",")[0].tolist()
    [1200.5, 7.5]
    >>> read_written(pa.array(["$338K", "$1.2M", "$900"]), TextRules(), ".", "$|*")[0].tolist()
    [338000.0, 1200000.0, 900.0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if dress == DURATION:
        return read_durations(texts), pa.nulls(len(texts), pa.string())
    found = pc.extract_regex(texts, _pattern(decimal, rules.thousands))
    parts = {part.name: pc.struct_field(found, part.name) for part in found.type}
    digits = pc.replace_substring_regex(parts["digits"], f"[^0-9eE+{decimal}-]", "")
    values = as_floats(pc.cast(pc.replace_substring(digits, ",", "."), pa.float64()))
    in_brackets, closed = (np.asarray(pc.fill_null(pc.equal(parts[end], mark), False)) for end, mark in BRACKETS)
    signs = pc.binary_join_element_wise(parts["sign"], parts["inner_sign"], parts["last_sign"], "")
    minus = np.asarray(pc.fill_null(pc.match_substring_regex(signs, f"[{MINUS}]"), False))
    is_unit = np.asarray(pc.fill_null(pc.less_equal(pc.utf8_length(parts["after"]), LONGEST_UNIT), False))
    values = np.where((in_brackets == closed) & is_unit, np.where(in_brackets | minus, -values, values), np.nan)
    after = pc.utf8_lower(parts["after"])
    magnitudes = as_floats(pc.index_in(after, value_set=pa.array(list(MAGNITUDES), after.type)))
    is_large = ~np.isnan(magnitudes)
    is_large = is_large & _means_magnitude(parts) if is_large.any() else is_large
    between = pc.if_else(pa.array(is_large), "|*", "|")
    dresses = pc.binary_join_element_wise(pc.utf8_lower(parts["before"]), between, after, "")
    dresses = pc.if_else(pa.array(np.isnan(values)), pa.scalar(None, dresses.type), dresses)
    if decimal == rules.mark:
        plain = read_numbers(texts, rules)
        is_plain = pa.array(~np.isnan(plain))
        values = np.where(is_plain, plain, values)
        dresses = pc.if_else(is_plain, pa.scalar("|", dresses.type), dresses)
    if dress is not None:
        fits = np.asarray(pc.fill_null(pc.is_in(dresses, value_set=pa.array(fitting(dress), dresses.type)), False))
        values = np.where(fits, values, np.nan)
        if dress.endswith("*"):
            factors = np.array([*MAGNITUDES.values()])[np.nan_to_num(magnitudes).astype(np.int64)]
            values = np.where(is_large, values * factors, values)
    return values, dresses


def fitting(dress: str) -> list[str]:
    """The dresses of cells in a column of one dress.

    Examples
    --------
    >>> fitting("|kg"), fitting("|m"), sorted(fitting("$|*"))[:2]
    (['|kg', '', '|'], ['|m', '|*m', '', '|'], ['', '$|'])
    """
    before, _, after = dress.partition("|")
    if after == "*":
        return [f"{before}|", *(f"{start}|*{name}" for name in MAGNITUDES for start in {before, ""}), *NO_DRESS]
    return [dress, *([f"{before}|*{after}"] if after in MAGNITUDES else []), *NO_DRESS]


def read_durations(texts: pa.Array) -> NDArray[np.float64]:
    """Read texts as durations, in seconds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_durations(pa.array(["1:02:33", "59:30", "3h 20m", "1 day, 0:00:05", "12", "1:75", ""])).tolist()
    [3753.0, 3570.0, 12000.0, 86405.0, nan, nan, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    seconds = np.full(len(texts), np.nan)
    is_likely = pc.match_substring_regex(texts, r"^\d+(?::| ?[dhmsDHMS])")
    likely = np.flatnonzero(np.asarray(pc.fill_null(is_likely, False)))
    if not len(likely):
        return seconds
    lowered = pc.utf8_lower(texts.take(pa.array(likely)))
    for form in DURATION_FORMS:
        found = pc.extract_regex(lowered, form)
        rows = np.flatnonzero(np.asarray(found.is_valid()))
        parts = {name: _numbers_or_none(found.take(pa.array(rows)).field(name)) for name in SECONDS_OF}
        sums = np.sum([np.nan_to_num(parts[name]) * length for name, length in SECONDS_OF.items()], axis=0)
        if form is DURATION_FORMS[0]:  # minutes may be many where there are no hours: "75:30"
            sums = np.where(~np.isnan(parts["hours"]) & (parts["minutes"] >= 60), np.nan, sums)
        seconds[likely[rows]] = sums
    return seconds


def _numbers_or_none(texts: pa.Array) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    return as_floats(pc.cast(pc.if_else(pc.equal(texts, ""), None, texts), pa.float64()))


def _means_magnitude(parts: dict[str, pa.Array]) -> NDArray[np.bool_]:
    """Whether what stands after the digits can be thousands, millions or billions: a word, a letter, or after money."""
    import pyarrow as pa
    import pyarrow.compute as pc

    after = parts["after"]
    is_word = pc.greater(pc.utf8_length(after), 1)
    is_letter = pc.and_(pc.is_in(after, value_set=pa.array(LETTERS_ALONE, after.type)), pc.equal(parts["gap"], ""))
    found = pc.or_(pc.or_(is_word, is_letter), pc.not_equal(parts["before"], ""))
    return np.asarray(pc.fill_null(found, False), dtype=bool)


MINUS = "\u2212-"  # the sign of typesetters and the one of keyboards
BRACKETS = (("open", "("), ("close", ")"))


def _pattern(decimal: str, thousands: str | None) -> str:
    group = USUAL_GROUPS[decimal] if thousands is None else f"\\x{{{ord(thousands):x}}}"
    lakhs = r"\d{1,2}(?:,\d{2}){1,4},\d{3}(?:\.\d*)?|" if decimal == "." and thousands in (None, ",") else ""
    digits = (
        rf"{lakhs}\d{{1,3}}(?:{group}\d{{3}}){{1,{MOST_GROUPS}}}(?:\{decimal}\d*)?|\d+(?:\{decimal}\d*)?|\{decimal}\d+"
    )
    return (
        rf"^(?P<open>\(?)(?P<sign>[+{MINUS}]?) ?(?P<before>(?:{CURRENCY})?)[ \x{{a0}}]?(?P<inner_sign>[+{MINUS}]?)"
        rf"(?P<digits>{digits})(?P<last_sign>[{MINUS}]?)(?P<gap>[ \x{{a0}}]?)(?P<after>(?:{UNIT})?)(?P<close>\)?)$"
    )
