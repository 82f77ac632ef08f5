"""`rdplearn detect`."""

from __future__ import annotations

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import (
    Carried,
    ColumnOptions,
    Dask,
    KeptModel,
    Label,
    OutputPath,
    ReadingOptions,
    TablePath,
    TopCount,
    TrainingOptions,
)


def detect(
    table: TablePath,
    talk: TalkOptions,
    reading: ReadingOptions,
    columns: ColumnOptions,
    training: TrainingOptions,
    output: OutputPath = None,
    model_path: KeptModel = None,
    carried: Carried = None,
    label: Label = None,
    n_top: TopCount = 10,
    dask: Dask = None,
) -> None:
    """Find the rows of a table that are unlike the rest.

    Learns what is usual from the table itself, scores every row and prints the most unusual ones.

    \b
    Examples:
      rdplearn detect sales.csv
      rdplearn detect sales.csv --id order --ignore note --contamination 0.01 -o scores.parquet
      zcat sales.csv.gz | rdplearn detect - --json
    """
    from rdplearn.cli.checks import require_columns
    from rdplearn.cli.places import work_place
    from rdplearn.cli.scoring import Outlet
    from rdplearn.storage import save
    from rdplearn.table_model import TableModel

    with work_place(dask, reading, talk) as place:
        place.check(table, output, model_path)
        opened = place.open(table)
        require_columns(opened, carried=carried or [], label=label)
        outlet = Outlet(place, opened, output=output, carried=carried or [], label=label, n_top=n_top)
        unseen = [*(carried or []), *([label] if label else [])]
        detector = training.detector(verbose=talk.shows_progress)
        model = place.fit(TableModel(detector, columns.encoder(unseen)), opened)
        if model_path is not None:
            save(model, model_path)
        outlet.score(model)
    outlet.tell({"model": model_path} if model_path else {})
