"""`rdplearn cluster`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rdplearn.cli.commands import TalkOptions
from rdplearn.cli.options import (
    Carried,
    Classes,
    ColumnOptions,
    Dask,
    FeatureOptions,
    KeptModel,
    OutputPath,
    ReadingOptions,
    ReportPath,
    Resume,
    TableAfterModel,
    TableOrModel,
)

if TYPE_CHECKING:
    from rdplearn.clusterer import RDPClusterer


@dataclass(frozen=True)
class ClusterOptions(FeatureOptions):
    """How many clusters, and how the features are learned that they are found by."""

    clusters: Annotated[int, typer.Option("--clusters", "-k", min=1, help="How many groups.")] = 8

    def clusterer(self, *, verbose: bool) -> RDPClusterer:
        from rdplearn.clusterer import RDPClusterer

        transformer = self.transformer(verbose=verbose)
        return RDPClusterer(self.clusters, transformer=transformer, n_jobs=self.jobs, random_state=self.seed)


def cluster(
    table_or_model: TableOrModel,
    talk: TalkOptions,
    reading: ReadingOptions,
    columns: ColumnOptions,
    training: ClusterOptions,
    table: TableAfterModel = None,
    output: OutputPath = None,
    kept_model: KeptModel = None,
    report_path: ReportPath = None,
    carried: Carried = None,
    label: Classes = None,
    resume: Resume = False,
    dask: Dask = None,
) -> None:
    """Group the rows of a table that are alike.

    Learns the groups from the table itself, at most 100,000 of its rows, or takes a model that was kept; then every
    row gets the group whose centre is nearest. Prints how large the groups are and the most typical row of each. The
    table may be larger than memory. With a MODEL, --resume goes on with what a stopped run has left in FILE.partial.

    \b
    Examples:
      rdplearn cluster sales.csv -k 5
      rdplearn cluster sales.csv -k 5 --id order -o groups.csv -m model.safetensors
      rdplearn cluster sales.csv -k 5 --report report.html
      rdplearn cluster model.safetensors new.parquet -o groups.parquet
    """
    from rdplearn._results.clustered import CLUSTER, DISTANCE, CentralRows, ClusterAgreement, clustered_rows
    from rdplearn._results.formats import check_carried
    from rdplearn.cli.checks import check_paths
    from rdplearn.cli.models import open_task
    from rdplearn.cli.places import work_place
    from rdplearn.cli.scoring import shown_columns
    from rdplearn.report import GatheredClusters, describe_clusters, write_page

    if dask is not None and label is not None:
        raise typer.BadParameter("is compared on one machine only. Leave it out with --dask.", param_hint="--label")
    if dask is not None and report_path is not None:
        raise typer.BadParameter("is written on one machine only. Leave it out with --dask.", param_hint="--report")
    if resume and report_path is not None:
        raise typer.BadParameter("needs all rows, and --resume passes over some. Leave one out.", param_hint="--report")
    with work_place(dask, reading, talk) as place:
        task = open_task(
            table_or_model,
            table,
            place,
            output=output,
            kept_model=kept_model,
            carried=carried or [],
            label=label,
            resume=resume,
        )
        check_paths(task.path, None, report_path)
        check_carried(task.carried, (CLUSTER, DISTANCE))
        model = task.model(training.clusterer(verbose=talk.shows_progress), columns, training)
        results = place.results(task.table, output, task.carried)
        central = CentralRows(shown_columns(task.table, task.carried, label))
        agreement = ClusterAgreement(label, task.table.name) if label else None
        gathered = GatheredClusters(task.table, label=label) if report_path is not None else None
        results.write(
            clustered_rows,
            model,
            doing="grouped",
            watchers=[watcher for watcher in (central, agreement, gathered) if watcher is not None],
            made_of=task.made_of(),
            resume=resume,
        )
    if report_path is not None and gathered is not None:
        write_page(describe_clusters(model, gathered, ids=task.carried), report_path)
    if output == "-":
        return
    # the rows that were grouped earlier are in the file alone
    typical = {} if results.is_resumed else central.as_dicts()
    facts = {
        "table": task.table.name.strip("'"),
        "n_rows": results.n_rows,
        "clusters": [
            {"cluster": number, "rows": size, **({"typical": typical[number]} if number in typical else {})}
            for number, size in enumerate(results.tally)
        ],
        "model": task.model_path or kept_model,
        "evaluation": agreement.figures() if agreement else None,
        "output": output,
        "report": report_path,
    }
    tell({name: fact for name, fact in facts.items() if fact is not None}, talk)


def tell(facts: Mapping[str, Any], talk: TalkOptions) -> None:
    from rdplearn.cli.printing import print_rows

    if talk.as_json:
        typer.echo(json.dumps(facts, default=str))
        return
    names: Mapping[str, Any] = next((group["typical"] for group in facts["clusters"] if "typical" in group), {})
    print_rows(
        [
            {
                "cluster": group["cluster"],
                "rows": group["rows"],
                **{f"typical {name}": group.get("typical", {}).get(name) for name in names},
            }
            for group in facts["clusters"]
        ]
    )
    typer.echo(f"{facts['n_rows']:,} rows in {len(facts['clusters']):,} clusters.")
    if "evaluation" in facts:
        figures = facts["evaluation"]
        typer.echo(
            f"Against the labels ({figures['n_classes']:,} classes in {figures['n_labelled']:,} rows): NMI "
            f"{figures['nmi']:.3f}, adjusted Rand index {figures['ari']:.3f}; with clusters named after their largest "
            f"class, macro F-score {figures['f_score']:.3f}."
        )
    for what, title in {"model": "Model", "output": "Clusters", "report": "Report"}.items():
        if what in facts:
            typer.echo(f"{title}: {facts[what]}")
