"""A real table to try things on: 344 penguins, with numbers, categories and missing values.

Adult penguins of three species, measured on islands near Palmer Station, Antarctica, from 2007 to 2009. Collected and
made public by Kristen Gorman and the Palmer Station Long Term Ecological Research program: K. B. Gorman, T. D.
Williams, W. R. Fraser, PLoS ONE 9(3), e90081 (2014). In the public domain (CC0 1.0). The file is `penguins.csv` of
the palmerpenguins package by A. M. Horst, A. P. Hill and K. B. Gorman.
"""

from __future__ import annotations

from pathlib import Path


def example_table() -> Path:
    """The path of a CSV file that comes with rdplearn: 344 penguins, 8 columns.

    Two penguins were never measured, eleven have no sex, and a few are unusually large or small. The measurements are
    by K. B. Gorman and the Palmer Station LTER, and in the public domain (CC0 1.0).

    Examples
    --------
    >>> from rdplearn.table import example_table, open_table
    >>> open_table(example_table()).column_names[:3]
    ('species', 'island', 'bill_length_mm')
    """
    return Path(__file__).with_name("penguins.csv")
