"""Write docs/soak.md from the figures that the parts have left: python -m tests.soak.page."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "soak.md"
HEAD = """\
# Soak tests

What happens when the disk is full, a worker dies, or a file is damaged? These tests try it many times. In all of
them "lost", "mixed", "crashed", "wrong" and "other results" have to be 0.

| tests | what is done |
|---|---|
| Conservation of keys on Dask | a run is stopped, files of the table change, it is resumed: every row comes out once |
| Damaged tables, hostile models | changed files are read: each is refused with a message, or gives finite results |
| Faults of the disk | each call that writes fails once, by an error, a full disk, a short write, or a kill |
| Flipped bits | one bit of a file is flipped: it is refused, or the result is the same |
| Full disk | a small disk fills up at several places |
| Hardened surroundings | no rights, no home folder, one folder that can be written to: the same results |
| Long streams | a large file is scored with hardly more memory than a small one ("ratio") |
| serving | odd requests made from its own description, kills at random moments, and ten minutes of load |
| Two runs at once | two commands write the same file; one is refused ("taken"), or both are done one after the other |
| Worker kills | workers of a cluster are killed while it fits and scores |

`make soak` runs what takes too long for `make test`. `make soak PART=tables` runs the parts whose names say
"tables", and `RDPLEARN_SOAK_SHARE=0.1` a tenth of the cases. A part that passes writes its figures, and
`python -m tests.soak.page` makes this page from them. For every fault that a part has found, there is a test in
`make test`.

| part | last figures | share of the full size | seconds | day |
|---|---|---|---|---|
"""


def page() -> str:
    """The page, a row for each part."""
    lines = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    return HEAD + "".join(
        f"| {line['part']} | {told(line['figures'])} | {line['share']:.1%} | {line['seconds']:,} | {line['day']} |\n"
        for line in lines
    )


def told(figures: dict[str, int | float | str]) -> str:
    """Figures in words: what they count stands in their names."""
    return ", ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in figures.items())


def _shown(value: int | float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.5g}" if isinstance(value, float) else f"{value:,}"


if __name__ == "__main__":
    PAGE.write_text(page())
