"""What rdplearn raises and warns with.

Everything a user can do wrong ends in one of these, each with a message that names the argument, the rule, the value
and the remedy. `TableError` is a `ValueError`, so that code written against scikit-learn goes on working.
"""

from __future__ import annotations


class TableError(ValueError):
    """The table cannot be used as it is; the message says which column and row, and what to do."""


class ModelFileError(ValueError):
    """The file is not a model that this version can read; the message says why."""


class RDPWarning(UserWarning):
    """The result is valid but may not be what was meant."""
