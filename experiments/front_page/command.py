"""`python -m experiments front-page`: parse, call, print."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.datasets import REPOSITORY
from experiments.front_page.evidence import CLAIMS_BEGIN, CLAIMS_END, evidence, verdicts, with_table


def front_page(
    picture: Annotated[bool, typer.Option(help="Take the pictures of the report anew, with Chromium.")] = False,
) -> None:
    """Write the README's table of evidence, and the site's verdicts on the paper, from the pages of results."""
    readme, site = REPOSITORY / "README.md", REPOSITORY / "docs" / "evidence.md"
    readme.write_text(with_table(readme.read_text(), evidence()))
    site.write_text(with_table(site.read_text(), verdicts(), CLAIMS_BEGIN, CLAIMS_END))
    typer.echo(readme)
    typer.echo(site)
    if picture:
        from experiments.front_page.picture import take_pictures

        for path in take_pictures(REPOSITORY / "docs" / "figures"):
            typer.echo(path)
