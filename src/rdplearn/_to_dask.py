"""Tables in partitions, on many machines: where estimators hand over to Dask.

Nothing of Dask is imported here, nor by anything else before such a table comes. `rdplearn/__init__.py`, which stands
above all rooms, hands down the way to the one that knows Dask.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])

NOT_INSTALLED = (
    "A table in partitions needs Dask, and {missing} is not installed. Run: pip install 'rdplearn[distributed]'."
)

PARQUET_ENDINGS = (".parquet", ".pq", "*")

_open_dispatch: Callable[[], Any]


def hand_down(opener: Callable[[], Any]) -> None:
    """Take from above the function that imports `rdplearn._distributed.dispatch`."""
    global _open_dispatch
    _open_dispatch = opener


def for_partitions(method: Method) -> Method:
    """Let a method take Dask collections and Parquet datasets besides all that it takes itself.

    `fit` then works on the cluster of the current Dask client, and the other methods return lazy Dask collections, take
    the rows if these are few, or say which rows they want instead.
    """
    table = list(signature(method).parameters)[1]

    @wraps(method)
    def either(self: Any, *arguments: Any, **named: Any) -> Any:
        X = arguments[0] if arguments else named.get(table)
        if not is_partitioned(X):
            return method(self, *arguments, **named)
        others = {name: value for name, value in named.items() if name != table}
        return distributed().on_partitions(self, method.__name__, X, *arguments[1:], **others)

    return cast(Method, either)


def is_partitioned(X: object) -> bool:
    """Whether a table is in partitions: a Dask collection, an Arrow dataset, or a folder or pattern of Parquet files.

    Examples
    --------
    >>> is_partitioned("sales/*.parquet"), is_partitioned("sales/*.csv"), is_partitioned("sales.parquet")
    (True, False, False)
    """
    if isinstance(X, str | os.PathLike):
        from glob import has_magic

        path = os.fspath(X)
        if os.path.isdir(path) or not isinstance(path, str):
            return os.path.isdir(path)
        return path.endswith(PARQUET_ENDINGS) and has_magic(path) and not os.path.exists(path)
    home = type(X).__module__
    return home.split(".")[0] == "dask" or home in ("pyarrow._dataset", "rdplearn._distributed.parquet_parts")


def distributed() -> Any:
    """The package that knows Dask; an error that says what to install if it is not there."""
    try:
        return _open_dispatch()
    except ModuleNotFoundError as fault:
        if fault.name is None or fault.name.split(".")[0] not in ("dask", "distributed"):
            raise
        raise ModuleNotFoundError(NOT_INSTALLED.format(missing=fault.name)) from None
