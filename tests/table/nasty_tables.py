"""A directory of nasty tables: what users' files look like on a bad day.

`NASTY` maps a file name to its maker and to what must come of it: a list of matrix column names, or a part of
the one-line error.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

Maker = Callable[[Path], object]
Outcome = list[str] | re.Pattern[str]


def text(content: str, encoding: str = "utf-8") -> Maker:
    return lambda path: path.write_bytes(content.encode(encoding))


def raw(content: bytes) -> Maker:
    return lambda path: path.write_bytes(content)


def parquet(**columns: object) -> Maker:
    return lambda path: pq.write_table(pa.table(columns), path)


def json_lines(*rows: object) -> Maker:
    return text("".join(json.dumps(row) + "\n" for row in rows))


def symlink_loop(path: Path) -> None:
    path.symlink_to(path.name)


def unreadable(path: Path) -> None:
    path.write_text("a\n1\n")
    path.chmod(0)


def fails(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def rows(line: str, n: int = 40) -> str:
    return "".join(line.format(i=i, j=i % 3, k=i * 7919 % 1000) + "\n" for i in range(n))


NUMBERS_WITH_A_WORD = "age\n" + "".join(f"{20 + i % 50}\n" for i in range(30)) + "n/a\n" + "31\n" * 20
NUL = "\x00"

NASTY: dict[str, tuple[Maker, Outcome]] = {
    "empty.csv": (raw(b""), fails(r"empty.csv' is empty")),
    "blank_lines.csv": (raw(b"\n\n  \n"), fails(r"blank_lines.csv' is empty")),
    "short.zip": (raw(b"PK\x03\x04short"), fails(r"Cannot unpack .*short.zip': it is damaged.* Unpack it yourself")),
    "only_header.csv": (text("age,city\n"), fails(r"There are no rows in '.*only_header.csv'")),
    "no_columns.parquet": (lambda path: pq.write_table(pa.table({}), path), fails("There are no columns in")),
    "no_rows.parquet": (parquet(a=pa.array([], pa.int64())), fails("There are no rows in")),
    "one_row.csv": (
        text("age,city\n31,Oslo\n"),
        fails(r"No column of .*one_row.csv' can be used: 'age' is constant"),
    ),
    "one_column.csv": (text("age\n31\n57\n"), ["age"]),
    "short_row.csv": (
        text("a,b\n1,2\n3\n4,5\n"),
        fails(r"Row 2 of '.*short_row.csv' has 1 field where .* has 2: '3'"),
    ),
    "long_row.csv": (text("a,b\n1,2\n3,4,5\n"), fails(r"Row 2 of .* has 3 fields")),
    "open_quote.csv": (
        text('a,b\n1,2\n"3,4\n5,6\n'),
        fails(r"Line 3 of .* opens a quotation mark that is never closed"),
    ),
    "open_quote_and_large.csv": (
        text('a,b\n1,2\n"' + "3,4\n" * 1_200_000),
        fails(r"Line 3 of .* opens a quotation mark that is never closed\. Close it, or double it"),
    ),
    "latin_1.csv": (
        text("città,n\nForlì,1\nCantù,2\nForlì,3\n", "latin-1"),
        ["città=Forlì", "città=Cantù", "n"],
    ),
    "late_latin_1.csv": (
        raw(b"a,b\n" + b"1,x\n" * 300_000 + b"2,\xe9\n"),
        fails(r"late_latin_1.csv' has bytes after row \d+ that are not valid in its encoding. Pass --encoding"),
    ),
    "bom.csv": (raw(b"\xef\xbb\xbfage,x\n31,1\n57,2\n"), ["age", "x"]),
    "utf_16.csv": (text("age;x\n31;1\n57;2\n", "utf-16"), ["age", "x"]),
    "utf_16_without_mark.csv": (text("age;x\n31;1\n57;2\n", "utf-16-le"), ["age", "x"]),
    "nul.csv": (text(f"a,b\nx{NUL}y,1\nz,2\nz,3\n"), ["a=z", f"a=x{NUL}y", "b"]),
    "all_nul.csv": (raw(b"\x00" * 1000), fails("is a binary file")),
    "image.csv": (raw(b"\x89PNG\r\n\x1a\n" + bytes(range(256))), fails("image.csv' is an image")),
    "noise.csv": (raw(bytes(range(256)) * 40), fails("is a binary file")),
    "workbook.xlsx": (raw(b"PK\x03\x04" + b"\x00" * 40), fails("it is damaged, or packed in an unusual way")),
    "newlines_in_cells.csv": (text('a,b\n"x\ny",1\n"x\ny",2\nz,3\n'), ["a=x\ny", "a=z", "b"]),
    "newline_in_header.csv": (text('"a\nb",c\n1,2\n3,4\n'), ["a\nb", "c"]),
    "carriage_returns.csv": (raw(b"a,b\r1,2\r3,4\r"), ["a", "b"]),
    "mixed_line_ends.csv": (raw(b"a,b\r\n1,2\n3,4\r\n"), ["a", "b"]),
    "no_last_newline.csv": (raw(b"a,b\n1,2\n3,4"), ["a", "b"]),
    "ten_thousand_columns.csv": (
        text("\n".join([",".join(f"c{i}" for i in range(10_000)), *(",".join([f"{j}"] * 10_000) for j in range(3))])),
        [f"c{i}" for i in range(10_000)],
    ),
    "repeated_name.csv": (
        text("a,b,a,a (3),a\n1,2,3,4,5\n4,5,6,7,8\n"),
        ["a", "b", "a (2)", "a (3)", "a (4)"],
    ),
    "nameless_columns.csv": (text(",a,\n1,2,3\n4,5,6\n"), ["column_1", "a", "column_3"]),
    "nearly_numbers.csv": (
        text(NUMBERS_WITH_A_WORD),
        ["age", "age missing"],
    ),
    "numbers_and_words.csv": (text("a\n" + "1\n2\nx\n" * 10), ["a=1", "a=2", "a=x"]),
    "all_missing.csv": (text("a,b\n,1\nNA,2\n,3\n"), ["b"]),
    "everything_missing.csv": (text("a,b\n,\n,NA\n"), fails("No column of .* can be used: 'a' is empty")),
    "infinities.csv": (text("a,b\n1,1\ninf,2\n-Infinity,3\n4,4\n"), ["a", "a missing", "b"]),
    "huge_integers.csv": (text(f"a\n{10**30}\n{10**18 + 1}\n-{10**400}\n5\n"), ["a", "a missing"]),
    "huge_numbers.csv": (text("a\n1e300\n-1e300\n5\n"), ["a"]),
    "tiny_numbers.csv": (text("a\n1e-310\n5e-324\n0\n"), ["a"]),
    "dates_in_three_forms.csv": (
        text('iso,slash,words\n2024-01-31,31/01/2024,Jan 31 2024\n2024-02-01,01/02/2024,"February 1, 2024"\n'),
        ["iso:days", "slash:days", "words:days"],
    ),
    "date_forms_in_one_column.csv": (
        text("when\n2024-01-31\n13/02/2024 10:00\n14 Feb 2024\n"),
        [
            "when:days",
            "when:hour_sin",
            "when:hour_cos",
            "when:weekday_sin",
            "when:weekday_cos",
        ],
    ),
    "dates_and_one_word.csv": (
        text("when\n" + "2024-01-31\n2024-02-01\n" * 15 + "soon\n"),
        ["when:days", "when missing", "when not a date"],
    ),
    "impossible_dates.csv": (
        text("when\n2024-02-30\n2024-13-01\n0000-00-00\n"),
        [
            "when=0000-00-00",
            "when=2024-02-30",
            "when=2024-13-01",
        ],
    ),
    "formulas.csv": (
        text("a,b\n=cmd|' /C calc'!A0,1\n@SUM(1),2\n+1+2,3\n"),
        [
            "a=+1+2",
            "a==cmd|' /C calc'!A0",
            "a=@SUM(1)",
            "b",
        ],
    ),
    "markup.csv": (text("<script>,b\n<b>,1\n<i>,2\n"), ["<script>=<b>", "<script>=<i>", "b"]),
    "emoji.csv": (text("🙂,b\nשלום,1\n🙃,2\n"), ["🙂=שלום", "🙂=🙃", "b"]),
    "leading_zeros.csv": (text("zip\n" + "00501\n10001\n" * 20), ["zip=00501", "zip=10001"]),
    "spaces.csv": (text("a , b\n 1 , x \n2,x\n 3,y\n"), ["a", "b=x", "b=y"]),
    "semicolons.csv": (text("a;b\n1,5;2\n2,5;3\n"), ["a", "b"]),
    "tabs.tsv": (text("a\tb\n1\tx,y\n2\tz\n"), ["a", "b=x,y", "b=z"]),
    "no_header.csv": (text("5.1,3.5\n4.9,3.0\n"), ["column_1", "column_2"]),
    "packed.csv.gz": (lambda path: path.write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n")), ["a", "b"]),
    "cut.csv.gz": (
        lambda path: path.write_bytes(gzip.compress(rows("{i},{k}", 9999).encode())[:-900]),
        fails("Cannot read"),
    ),
    "cut.parquet": (raw(b"PAR1" + b"\x00" * 50), fails(r"Cannot read '.*cut.parquet'")),
    "nested.parquet": (
        parquet(a=[1, 2], b=[[1], [2, 3]]),
        ["a"],
    ),
    "binary.parquet": (parquet(a=[1, 2], b=[b"\xff\xfe", b"\x00"]), ["a"]),
    "cut.feather": (raw(b"ARROW1\x00\x00" + b"\x01" * 50), fails(r"Cannot read")),
    "wide_header.csv": (  # a header of more than a megabyte
        text(
            "\n".join(
                [
                    ",".join(f"a_rather_long_name_of_a_gene_{i:090d}" for i in range(9_000)),
                    *([",".join("12" * 4_500)] * 2),
                    ",".join("21" * 4_500),
                ]
            )
        ),
        [f"a_rather_long_name_of_a_gene_{i:090d}" for i in range(9_000)],
    ),
    "good.feather": (lambda path: feather.write_feather(pa.table({"a": [1, 2]}), str(path)), ["a"]),
    "mixed_types.jsonl": (
        json_lines({"a": 1}, {"a": "x"}, {"a": None, "b": 2.5}, {"b": 3}),
        [
            "a=1",
            "a=x",
            "a missing",
            "b",
            "b missing",
        ],
    ),
    "nested.jsonl": (json_lines({"a": {"x": 1}}, {"a": {"x": 1}}, {"a": [2]}), ['a={"x": 1}', "a=[2]"]),
    "broken.jsonl": (text('{"a": 1}\n{"a": \n'), fails(r"Row 2 of '.*broken.jsonl' is not a JSON object")),
    "array.json": (
        text('[{"a": 1}, {"a": 2}]'),
        fails("Row 1 of .* is not a JSON object.*one object per line"),
    ),
    "deep.jsonl": (
        text('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}\n"),
        fails("Row 1 of .* is not a JSON object"),
    ),
    "loop.csv": (symlink_loop, fails(r"Cannot read '.*loop.csv': Too many levels of symbolic links")),
    "dangling.csv": (lambda path: path.symlink_to("nowhere"), fails(r"csv' is a link to 'nowhere', which is not")),
    "directory": (lambda path: path.mkdir(), fails(r"directory' is a directory. Pass a file in it")),
}
if hasattr(os, "geteuid") and os.geteuid() != 0:  # nothing is unreadable to root
    NASTY["unreadable.csv"] = (unreadable, fails(r"Cannot read '.*unreadable.csv': Permission denied"))
