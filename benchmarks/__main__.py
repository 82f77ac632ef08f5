"""`python -m benchmarks NAME...`, or `all`: measure, print, record; `page` writes docs/speed.md."""

from __future__ import annotations

import sys

from benchmarks import default, engine, page, representation, tables
from benchmarks.measuring import record, show

ALL = {**default.ALL, **engine.ALL, **representation.ALL, **tables.ALL}


def main(names: list[str]) -> int:
    """Run the named benchmarks and write the page anew."""
    if names == ["page"]:
        print(page.write())
        return 0
    chosen = list(ALL) if names == ["all"] else names
    unknown = [name for name in chosen if name not in ALL]
    if unknown or not chosen:
        print(
            f"Benchmarks are: all, page, {', '.join(ALL)}. Got {' '.join(names) or 'nothing'} instead.",
            file=sys.stderr,
        )
        return 2
    for name in chosen:
        rows = ALL[name]()
        show(name, rows)
        record(name, rows)
    page.write()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
