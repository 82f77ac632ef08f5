"""Write docs/soak.md from the figures that the parts have left: python -m tests.soak.page."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "soak.md"
HEAD = """\
# Soak tests

`make soak` runs what takes too long for `make test`. `make soak PART=tables` runs the parts whose names say
"tables", and `RDPLEARN_SOAK_SHARE=0.1` a tenth of the cases. A part that passes writes its figures; this page is made
of them (`python -m tests.soak.page`) and never typed. What a part has found stays as a test in `make test`.

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
    return ", ".join(
        f"{name.replace('_', ' ')} {value if isinstance(value, str) else f'{value:,}'}"
        for name, value in figures.items()
    )


if __name__ == "__main__":
    PAGE.write_text(page())
