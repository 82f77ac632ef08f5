"""The commands of `rdplearn`. Heavy modules are imported when a command runs, so that help is there at once."""

from __future__ import annotations

from typing import Annotated

import typer

from rdplearn._version import __version__
from rdplearn.cli.cluster import cluster
from rdplearn.cli.demo import demo
from rdplearn.cli.detect import detect
from rdplearn.cli.embed import embed
from rdplearn.cli.explain import explain
from rdplearn.cli.export import export
from rdplearn.cli.fit import fit
from rdplearn.cli.framework import command
from rdplearn.cli.inspect import inspect
from rdplearn.cli.mute import mute
from rdplearn.cli.process import ended_by_signals, standing_streams
from rdplearn.cli.report import report
from rdplearn.cli.review import review
from rdplearn.cli.score import score
from rdplearn.cli.serve import serve
from rdplearn.cli.tell import tell
from rdplearn.cli.watch import watch

app = typer.Typer(
    name="rdplearn",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help is there twice as fast
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rdplearn {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find unusual rows in a table and see why. Group rows, and make features. No labels are needed.

    \b
    Try it on a table that comes with it:  rdplearn demo
    See how a table is read:               rdplearn inspect sales.csv
    Find its unusual rows:                 rdplearn detect sales.csv -o scores.csv
    Save a model for later tables:         rdplearn fit sales.csv -m model.safetensors
                                           rdplearn score model.safetensors new.csv -o scores.csv
    See why rows are unusual:              rdplearn explain model.safetensors new.csv
    Write a page about what was found:     rdplearn report model.safetensors sales.csv -o report.html
    See whether the model is out of date:  rdplearn watch model.safetensors today.csv
    Say which alarms are real:             rdplearn review model.safetensors sales.csv
    Group rows that are alike:             rdplearn cluster sales.csv -k 5 -o groups.csv
    Make features for other programs:      rdplearn embed sales.csv -o features.parquet
    Score rows over HTTP:                  rdplearn serve model.safetensors

    Tables are CSV, Excel, Parquet, Arrow or JSON Lines files, or database queries; - reads standard input. Results go
    to standard output, progress and warnings to standard error. Exit codes: 0 success, 1 something is wrong with the
    table or the model, 2 something is wrong with the command, 3 watch finds that a refit is due.
    """


for function in (
    detect,
    fit,
    score,
    explain,
    report,
    watch,
    review,
    tell,
    mute,
    embed,
    cluster,
    inspect,
    export,
    serve,
    demo,
):
    app.command()(command(function))


def main() -> None:
    """Run the command line, as a program among others."""
    with standing_streams(), ended_by_signals():
        app()
