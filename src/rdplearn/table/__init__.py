"""Tables to matrices: read CSV, Parquet, Arrow, JSON Lines or data frames, and encode every kind of column.

>>> import pyarrow as pa
>>> from rdplearn.table import TableEncoder
>>> TableEncoder().fit(pa.table({"age": [31, 57], "member": ["yes", "no"]})).feature_names_
['age', 'member']
"""

from __future__ import annotations

from rdplearn.table.cells import TextRules
from rdplearn.table.encoder import TableEncoder
from rdplearn.table.example import example_table
from rdplearn.table.reading import Table, open_table
from rdplearn.table.sampling import RowSample, RowSampler, sample_rows
from rdplearn.table.summary import TableSummary, summarise

__all__ = [
    "RowSample",
    "RowSampler",
    "Table",
    "TableEncoder",
    "TableSummary",
    "TextRules",
    "example_table",
    "open_table",
    "sample_rows",
    "summarise",
]
