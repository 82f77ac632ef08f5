"""Numbers as people write them: "$2,700", "€ 1.200,50", "35.5%", "(1,234)", "12 kg".

What stands before and after the digits is the number's *dress*. A column of such numbers has one dress, besides none:
"12 kg" beside "12 lb" are no numbers that can be compared.
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


def read_written(
    texts: pa.Array, rules: TextRules, decimal: str, dress: str | None = None
) -> tuple[NDArray[np.float64], pa.Array]:
    """Read texts as numbers in any dress, or in one; the dresses come along, such as "$|" and "|kg".

    Examples
    --------
    >>> import pyarrow as pa
    >>> values, dresses = read_written(pa.array(["$2,700", "(1,234)", "12 kg", "1e3", "B-737"]), TextRules(), ".")
    >>> values.tolist(), dresses.to_pylist()
    ([2700.0, -1234.0, 12.0, 1000.0, nan], ['$|', '|', '|kg', '|', None])
    >>> read_written(pa.array(["€ 1.200,50", "7,5"]), TextRules(), ",")[0].tolist()
    [1200.5, 7.5]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.extract_regex(texts, _pattern(decimal, rules.thousands))
    parts = {part.name: pc.struct_field(found, part.name) for part in found.type}
    digits = pc.replace_substring_regex(parts["digits"], f"[^0-9eE+{decimal}-]", "")
    values = as_floats(pc.cast(pc.replace_substring(digits, ",", "."), pa.float64()))
    in_brackets, closed = (np.asarray(pc.fill_null(pc.equal(parts[end], mark), False)) for end, mark in BRACKETS)
    signs = pc.binary_join_element_wise(parts["sign"], parts["inner_sign"], "")
    minus = np.asarray(pc.fill_null(pc.match_substring_regex(signs, f"[{MINUS}]"), False))
    is_unit = np.asarray(pc.fill_null(pc.less_equal(pc.utf8_length(parts["after"]), LONGEST_UNIT), False))
    values = np.where((in_brackets == closed) & is_unit, np.where(in_brackets | minus, -values, values), np.nan)
    dresses = pc.utf8_lower(pc.binary_join_element_wise(parts["before"], parts["after"], "|"))
    dresses = pc.if_else(pa.array(np.isnan(values)), pa.scalar(None, dresses.type), dresses)
    if decimal == rules.mark:
        plain = read_numbers(texts, rules)
        is_plain = pa.array(~np.isnan(plain))
        values = np.where(is_plain, plain, values)
        dresses = pc.if_else(is_plain, pa.scalar("|", dresses.type), dresses)
    if dress is not None:
        fits = np.asarray(pc.fill_null(pc.is_in(dresses, value_set=pa.array([dress, *NO_DRESS], dresses.type)), False))
        values = np.where(fits, values, np.nan)
    return values, dresses


MINUS = "\u2212-"  # the sign of typesetters and the one of keyboards
BRACKETS = (("open", "("), ("close", ")"))


def _pattern(decimal: str, thousands: str | None) -> str:
    group = USUAL_GROUPS[decimal] if thousands is None else f"\\x{{{ord(thousands):x}}}"
    digits = rf"\d{{1,3}}(?:{group}\d{{3}}){{1,{MOST_GROUPS}}}(?:\{decimal}\d*)?|\d+(?:\{decimal}\d*)?|\{decimal}\d+"
    return (
        rf"^(?P<open>\(?)(?P<sign>[+{MINUS}]?) ?(?P<before>(?:{CURRENCY})?)[ \x{{a0}}]?(?P<inner_sign>[+{MINUS}]?)"
        rf"(?P<digits>{digits})[ \x{{a0}}]?(?P<after>(?:{UNIT})?)(?P<close>\)?)$"
    )
