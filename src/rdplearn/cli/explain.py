"""`rdplearn explain`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import Jobs, ModelPath, MoreTables, TablePath
from rdplearn.cli.reading_options import ReadingOptions

if TYPE_CHECKING:
    from rdplearn.table import Table
    from rdplearn.table_model import TableModel


def explain(
    *,
    model_path: ModelPath,
    table: TablePath = None,
    more: MoreTables = None,
    rows: Annotated[
        list[str] | None,
        typer.Option("--row", metavar="ID", help="Explain this row: its number, or its value in the --id column."),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="The column that names the rows.")
    ] = None,
    n_top: Annotated[
        int, typer.Option("--top", min=1, max=10_000, help="Without --row: how many of the most anomalous rows.")
    ] = 5,
    n_columns: Annotated[int, typer.Option("--columns", min=1, help="How many columns of each row to name.")] = 3,
    n_jobs: Jobs = -1,
    talk: TalkOptions,
    reading: ReadingOptions,
) -> None:
    """Say which columns make a row unusual.

    Rows are counted from 1, as in the results of score. --json lists all columns of the rows.

    \b
    Examples:
      rdplearn explain model.safetensors sales.csv
      rdplearn explain model.safetensors sales.csv --row 58 --row 158
      rdplearn explain model.safetensors sales.csv --id order --row A00057 --columns 5
    """
    from rdplearn.cli.checks import files_named, load_table_model, require_columns

    files = files_named(table, more)
    reading.check(files)
    model = load_table_model(model_path, ["RDPDetector"], n_jobs)
    opened = reading.open(files)
    require_columns(opened, carried=[id_column] if id_column is not None else [])
    places = wanted_rows(opened, rows, id_column) if rows else most_anomalous_rows(model, opened, n_top)
    found = explained(model, opened, places, id_column)
    facts = {"table": opened.name.strip("'"), "model": model_path, "rows": found}
    talk.tell(facts, lambda _: print_explanations(found, n_columns))


def wanted_rows(table: Table, rows: list[str], id_column: str | None) -> list[int]:
    """The places, from 0, of the rows that were asked for, each once."""
    if id_column is not None:
        return [place for row in rows for place in places_of_values(table, id_column, rows)[row]]
    for row in rows:
        if not row.isdecimal() or not 1 <= int(row) <= sys.maxsize:
            raise typer.BadParameter(
                f"'{row}' must be the number of a row, from 1. To name rows by a column, pass --id COLUMN.",
                param_hint="--row",
            )
    return list(dict.fromkeys(int(row) - 1 for row in rows))


def places_of_values(table: Table, column: str, values: list[str]) -> dict[str, list[int]]:
    """Where each value stands in a column; one that stands nowhere is an error."""
    from rdplearn.errors import TableError
    from rdplearn.table.cells import TextRules, clean_cells, words_of

    places: dict[str, list[int]] = {value: [] for value in values}
    first_row = 0
    for batch in table.batches():
        words = words_of(clean_cells(batch.column(column), TextRules(), column, table.name)).to_pylist()
        for place, word in enumerate(words, first_row):
            if word in places:
                places[word].append(place)
        first_row += batch.num_rows
    for value, found in places.items():
        if not found:
            raise TableError(f"No row of {table.name} has '{value}' in column '{column}'.")
    return places


def most_anomalous_rows(model: TableModel, table: Table, n_rows: int) -> list[int]:
    from rdplearn._results.formats import ROW
    from rdplearn._results.scored import TopRows, scored_rows
    from rdplearn.errors import no_rows

    top = TopRows(n_rows, [])
    for scored in scored_rows(model, table):
        top.add(scored)
    found = [row[ROW] - 1 for row in top.as_dicts()]
    if not found:
        raise no_rows(table.name)
    return found


def explained(model: TableModel, table: Table, places: list[int], id_column: str | None) -> list[dict[str, Any]]:
    """The rows, as plain values, in the order that was asked for."""
    from rdplearn.errors import RowPlaceError, TableError

    try:
        explanation = model.explain(table, rows=places)
    except RowPlaceError as fault:
        raise TableError(
            f"{table.name} has {fault.n_rows:,} rows, and no row {fault.place + 1:,}. Rows count from 1."
        ) from None
    threshold = -float(model.estimator.offset_)
    names = values_in(table, id_column, places) if id_column is not None else [None] * len(places)
    return [
        {
            "row": place + 1,
            **({"id": name} if id_column is not None else {}),
            "anomalous": told["anomaly_score"] > threshold,
            **told,
            "sentences": explanation.sentences(number, n_columns=len(explanation.column_names)),
        }
        for number, (place, name, told) in enumerate(zip(places, names, explanation.to_dicts(), strict=True))
    ]


def values_in(table: Table, column: str, places: list[int]) -> list[Any]:
    """What stands in a column of some rows."""
    found: dict[int, Any] = {}
    first_row, wanted = 0, sorted(set(places))
    for batch in table.batches():
        here = [place for place in wanted if first_row <= place < first_row + batch.num_rows]
        found |= {place: batch.column(column)[place - first_row].as_py() for place in here}
        first_row += batch.num_rows
    return [found[place] for place in places]


def print_explanations(facts: list[dict[str, Any]], n_columns: int) -> None:
    from rdplearn._explain.kinds import ANSWERS_COLUMN
    from rdplearn.table.typical import value_words

    for row in facts:
        name = f" ({value_words(row['id'])})" if "id" in row else ""
        verdict = "reported as anomalous" if row["anomalous"] else "not reported"
        typer.echo(
            f"Row {row['row']:,}{name}: anomaly score {row['anomaly_score']:.4g}, {verdict}; the most typical row has "
            f"{row['baseline'] + 0.0:.4g}."  # never -0
        )
        first, others = row["sentences"][:n_columns], row["sentences"][n_columns:]
        first += [sentence for sentence in others if sentence.startswith(ANSWERS_COLUMN)]  # always told
        for sentence in first or ["nothing raises it above the most typical row"]:
            typer.echo(f"  {sentence}")
