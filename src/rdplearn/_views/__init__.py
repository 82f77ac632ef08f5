"""Rows as members see them.

`matrix` makes a checked matrix of whatever the user calls a table; the other files turn its columns into small numbers:
by range (`minmax`), ranks and rarity (`curves`), rows of length 1 (`unit_rows`). `view` puts several side by side.
Comes in: a table of numbers. Goes out: rows in single precision, dense or CSR.
"""
