"""`python -m experiments front-page`: parse, call, print."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.datasets import REPOSITORY
from experiments.front_page.evidence import evidence, site_page, with_table


def front_page(
    picture: Annotated[bool, typer.Option(help="Take the pictures of the report again, with Chromium.")] = False,
) -> None:
    """Write the tables of evidence of the README and of the site, and the verdicts on the paper, from other pages."""
    readme, site = REPOSITORY / "README.md", REPOSITORY / "docs" / "evidence.md"
    readme.write_text(with_table(readme.read_text(), evidence()))
    site.write_text(site_page(site.read_text()))
    typer.echo(readme)
    typer.echo(site)
    if picture:
        from experiments.front_page.picture import take_pictures

        for path in take_pictures(REPOSITORY / "docs" / "figures"):
            typer.echo(path)
