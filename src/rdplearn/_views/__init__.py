"""Rows as members see them.

`matrix` makes a checked matrix of whatever the user calls a table. Other files turn its columns into small numbers: by
range (`minmax`), ranks and rarity (`curves`; `robust_columns` for many at once), rows of length 1 (`unit_rows`), and
with the same say for each column of a table (`balance`). `view` puts several side by side. Three files tell what is
rare among numbers of any origin, and so among scores: `tails`, `normal_rows` and `rare_kinds`.
Comes in: a table of numbers. Goes out: rows in single precision, dense or CSR.
"""
