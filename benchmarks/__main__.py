"""`python -m benchmarks NAME...`, `dask` or `all`: measure, print, record; `page` writes the pages in docs/."""

from __future__ import annotations

import sys

from benchmarks import (
    answers,
    cluster,
    databases,
    default,
    engine,
    explanations,
    page,
    report,
    representation,
    serving,
    sizing_page,
    tables,
    torch_engine,
)
from benchmarks.measuring import record, show

ALL = {
    **default.ALL,
    **engine.ALL,
    **torch_engine.ALL,
    **representation.ALL,
    **tables.ALL,
    **explanations.ALL,
    **answers.ALL,
    **report.ALL,
    **cluster.ALL,
    **databases.ALL,
    **serving.ALL,
}
GROUPS = {"all": list(ALL), "dask": list(cluster.ALL)}


def main(names: list[str]) -> int:
    """Run the named benchmarks and write the page anew."""
    if names == ["page"]:
        print(page.write(), sizing_page.write())
        return 0
    chosen = [name for given in names for name in GROUPS.get(given, [given])]
    unknown = [name for name in chosen if name not in ALL]
    if unknown or not chosen:
        print(
            f"Benchmarks are: all, dask, page, {', '.join(ALL)}. Got {' '.join(names) or 'nothing'} instead.",
            file=sys.stderr,
        )
        return 2
    for name in chosen:
        rows = ALL[name]()
        show(name, rows)
        record(name, rows)
    page.write()
    sizing_page.write()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
