"""How a table is read: a query of a database, or a file, of which what is not said is guessed from its content."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rdplearn.table import Table
    from rdplearn.table.databases import Database


@dataclass(frozen=True)
class ReadingOptions:
    """Which query to read, or how to read a file; what is not said of a file is guessed from its content."""

    sql: Annotated[
        str | None,
        typer.Option(
            metavar="URI", help="Use a database: postgresql://USER@HOST/NAME, sqlite:///FILE or duckdb:///FILE."
        ),
    ] = None
    query: Annotated[
        str | None,
        typer.Option(metavar="SELECT", help="Read the rows of this query from the database, not from a file."),
    ] = None
    sql_table: Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="Read this table of the database, not a file.")
    ] = None

    separator: Annotated[
        str | None, typer.Option(help="What separates the cells of a CSV file. Guessed if left out.")
    ] = None
    encoding: Annotated[str | None, typer.Option(help="Encoding of a CSV or JSON Lines file, such as latin-1.")] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line of a CSV file has the column names."),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sheet of an Excel file. The first if left out.")
    ] = None
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=NUMBER",
            help="Raise a limit for a table that is refused as too large: columns, cell (MB) or block (MB).",
        ),
    ] = None

    @cached_property
    def database(self) -> Database:
        """The database, open for reading and writing."""
        from rdplearn.table.databases import Database

        return Database(self.sql)

    def check(self, path: str | list[str] | None, output: str | None = None) -> None:
        """See that a table is named in one way, and that nothing is said in vain."""
        in_database = [option for option in (self.query, self.sql_table) if option is not None]
        about_files = any(value is not None for value in self.as_dict().values())
        if path is None and self.sql is None:
            raise typer.BadParameter("is missing. Name a file, or use --sql to read a database.", param_hint="TABLE")
        if (path is None and len(in_database) != 1) or (in_database and self.sql is None):
            raise typer.BadParameter("needs one of --query and --table, which say what to read.", param_hint="--sql")
        if in_database and (path is not None or about_files):
            raise typer.BadParameter(
                "reads a database, not a file. Leave out TABLE and the options for files.", param_hint="--sql"
            )
        if self.sql is not None and not in_database and sql_table_of(output) is None:
            raise typer.BadParameter("needs --query or --table to read, or -o sql:TABLE.", param_hint="--sql")
        if self.sql is None and sql_table_of(output) is not None:
            raise typer.BadParameter("needs --sql, the database of the table.", param_hint="--output")

    def open(self, path: str | list[str] | None) -> Table:
        """The table: of the database, if no file is named."""
        from rdplearn.table import open_table

        if path is None:
            return open_table(connection=self.database, query=self.query, table=self.sql_table)
        separator = "\t" if self.separator in ("\\t", "tab") else self.separator
        return open_table(path, **{**self.as_dict(), "separator": separator}, limits=self.limits())

    def limits(self) -> dict[str, int]:
        pairs = [entry.partition("=") for entry in self.limit or ()]
        for name, _, number in pairs:
            if not name or not (number.isascii() and number.isdecimal()):
                raise typer.BadParameter(
                    f"'{name}={number}' must be NAME=NUMBER, such as cell=64.", param_hint="--limit"
                )
        return {name: int(number) for name, _, number in pairs}

    def as_dict(self) -> dict[str, Any]:
        """How a file is read."""
        return {"separator": self.separator, "encoding": self.encoding, "header": self.header, "sheet": self.sheet}


def sql_table_of(output: str | None) -> str | None:
    """The table that an output names, if it goes to a database.

    Examples
    --------
    >>> sql_table_of("sql:scores"), sql_table_of("scores.csv")
    ('scores', None)
    """
    return output.removeprefix("sql:") if output is not None and output.startswith("sql:") else None
