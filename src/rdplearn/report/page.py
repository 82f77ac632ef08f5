"""The page: one HTML file made of the findings, which needs nothing but a browser.

Charts are drawn by Plotly, which is in the file. The page may load nothing: its content security policy allows the
scripts that it was written with, by their hashes, and nothing else, so that no text of the table can ever be executed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rdplearn._files.atomic import written_whole
from rdplearn.report import page_words
from rdplearn.report.figures import map_order, report_charts
from rdplearn.report.style import template

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = {
    "detection": (
        *("charts.js", "words.js", "csv.js", "answers.js", "spreads.js", "explanation.js", "rows.js", "map.js"),
        *("kinds.js", "line.js", "detection.js"),
    ),
    "clusters": ("charts.js", "words.js", "csv.js", "rows.js", "map.js", "clusters.js"),
    "changes": ("charts.js", "changes.js"),
}
# Written out as HTML or drawn, not looked up.
NOT_ON_THE_PAGE = ("training", "columns", "model", "versions", "summary", "verdict", "changes")


def write_page(found: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the page to a file, whole or not at all.

    Parameters
    ----------
    found : as `detection_report`, `cluster_report` or `changes_report` gives it, or as it was read from JSON
    """
    text = page(found)
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def page(found: Mapping[str, Any]) -> str:
    """The page as a text."""
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    own_scripts = "\n".join(page_file(name) for name in SCRIPTS[found["kind"]])
    scripts = [get_plotlyjs(), own_scripts]
    return (
        _environment()
        .get_template(f"{found['kind']}.html.j2")
        .render(
            found=found,
            policy=content_policy(scripts),
            style=Markup(page_file("page.css")),
            data=Markup(as_script_data(_looked_up(found))),
            scripts=[Markup(script) for script in scripts],
            n_numbers=sum(len(column["becomes"]) for column in found["columns"]),
            **page_words.of(found),
        )
    )


def content_policy(scripts: list[str]) -> str:
    """What the page may do: run these scripts, and nothing else.

    Examples
    --------
    >>> content_policy(["1"])[:61]
    "default-src 'none'; script-src 'sha256-a4ayc/80/OGda4BO/1o/V0"
    """
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )


def as_script_data(value: Any) -> str:
    r"""JSON that can stand inside a script element: nothing in it looks like markup.

    Examples
    --------
    >>> print(as_script_data({"name": "</script>"}))
    {"name": "\u003c/script\u003e"}
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def identity_of(found: Mapping[str, Any]) -> str:
    """What a browser keeps the answers of a reader under: the same for the same rows, however often they are written.

    Examples
    --------
    >>> found = {"table": {"name": "a.csv"}, "rows": [{"row": 1, "values": [7]}]}
    >>> identity_of(found) == identity_of(dict(found)), len(identity_of(found))
    (True, 24)
    """
    content = [found["table"], [[row["row"], row["values"]] for row in found["rows"]]]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:24]


def page_file(name: str) -> str:
    """A part of the page, as it is in the package."""
    return (files("rdplearn.report") / "page_files" / name).read_text(encoding="utf-8")


def _looked_up(found: Mapping[str, Any]) -> dict[str, Any]:
    """What the scripts of the page look up: the findings and the charts."""
    return {
        **{name: part for name, part in found.items() if name not in NOT_ON_THE_PAGE},
        "identity": identity_of(found) if "rows" in found else "",
        "charts": report_charts(found),
        "map_rows": map_order(found) if "rows" in found else [],
        "templates": {theme: template(theme) for theme in ("light", "dark")},
    }


@cache  # a second page does not compile the templates again
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rdplearn.report", "page_files"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= page_words.FILTERS
    return environment
