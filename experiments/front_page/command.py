"""`python -m experiments front-page`: parse, call, print."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.datasets import REPOSITORY
from experiments.front_page.evidence import evidence, with_evidence


def front_page(
    picture: Annotated[bool, typer.Option(help="Take the pictures of the report anew, with Chromium.")] = False,
) -> None:
    """Write the README's table of evidence from the pages of results."""
    readme = REPOSITORY / "README.md"
    readme.write_text(with_evidence(readme.read_text(), evidence()))
    typer.echo(readme)
    if picture:
        from experiments.front_page.picture import take_pictures

        for path in take_pictures(REPOSITORY / "docs" / "figures"):
            typer.echo(path)
