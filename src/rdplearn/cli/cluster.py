"""`rdplearn cluster`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rdplearn.cli.framework import TalkOptions
from rdplearn.cli.options import ClassedRowOptions, FileOptions, ReportPath
from rdplearn.cli.reading_options import ReadingOptions
from rdplearn.cli.training_options import FeatureOptions

if TYPE_CHECKING:
    from rdplearn.clusterer import RDPClusterer

AGREEMENT = (
    "({n_classes:,} classes in {n_labelled:,} rows): NMI {nmi:.3f}, adjusted Rand index {ari:.3f}; with clusters named "
    "after their largest class, macro F-score {f_score:.3f}."
)


@dataclass(frozen=True)
class ClusterOptions(FeatureOptions):
    """How many clusters, and how the features are learned that they are found by."""

    clusters: Annotated[int, typer.Option("--clusters", "-k", min=1, help="How many groups to make.")] = 8

    def clusterer(self, *, verbose: bool) -> RDPClusterer:
        from rdplearn.clusterer import RDPClusterer

        transformer = self.transformer(verbose=verbose)
        return RDPClusterer(self.clusters, transformer=transformer, n_jobs=self.jobs, random_state=self.seed)


def cluster(
    *,
    files: FileOptions,
    report_path: ReportPath = None,
    wanted: ClassedRowOptions,
    talk: TalkOptions,
    reading: ReadingOptions,
    training: ClusterOptions,
) -> None:
    """Group rows that are alike.

    Learns the groups from the table, from at most 100,000 of its rows, or uses a saved model. Each row gets the group
    with the nearest centre. Prints the size of the groups, the most typical row of each, and whether there are
    groups at all. The table may be larger than memory. With a MODEL, --resume continues a run that
    was stopped.

    \b
    Examples:
      rdplearn cluster sales.csv -k 5
      rdplearn cluster sales.csv -k 5 --id order -o groups.csv -m model.safetensors
      rdplearn cluster sales.csv -k 5 --report report.html
      rdplearn cluster january.csv february.csv -k 5
      rdplearn cluster model.safetensors new.parquet -o groups.parquet
    """
    from rdplearn._results.clustered import CLUSTER, DISTANCE, CentralRows, ClusterAgreement, clustered_rows
    from rdplearn._results.formats import check_carried
    from rdplearn._results.sampled import SampledRows
    from rdplearn.cli.backends import chosen_backend
    from rdplearn.cli.checks import check_one_machine, check_page
    from rdplearn.cli.printing import shown_columns
    from rdplearn.cli.task import open_task
    from rdplearn.errors import told_already
    from rdplearn.report import GatheredClusters, describe_clusters, write_page
    from rdplearn.report.clusters import N_SAMPLED

    label = wanted.label
    check_one_machine(wanted.dask, label=label, report=report_path)
    check_page(report_path)
    if wanted.resume and report_path is not None:
        raise typer.BadParameter("needs all rows, and --resume skips some. Leave one out.", param_hint="--report")
    with chosen_backend(wanted.dask, reading, talk, files.if_exists) as backend:
        task = open_task(files, wanted, backend, report_path)
        check_carried(wanted.ids, (CLUSTER, DISTANCE))
        model = task.model(training.clusterer(verbose=talk.shows_progress), training)
        central = CentralRows(shown_columns(task.table, wanted.ids, label))
        agreement = ClusterAgreement(label, task.table.name) if label else None
        sampled = SampledRows(N_SAMPLED, getattr(task.table, "n_rows", None))
        gathered = GatheredClusters(task.table, label=label) if report_path is not None else None
        written = task.write(clustered_rows, model, "grouped", [central, sampled, agreement, gathered])
        if report_path is not None and gathered is not None:
            write_page(describe_clusters(model, gathered, ids=wanted.ids), report_path)
    if files.output == "-":
        return
    # the rows that were grouped earlier are in the file alone
    typical = {} if written.is_resumed else central.as_dicts()
    trust = None
    if not written.is_resumed:
        with told_already():
            trust = model.assess(sampled.sample().rows, n_rows=written.n_rows).to_dict()
    facts = {
        "table": task.table.name.strip("'"),
        "n_rows": written.n_rows,
        "clusters": [
            {"cluster": number, "rows": size, **({"typical": typical[number]} if number in typical else {})}
            for number, size in enumerate(written.tally)
        ],
        "trust": trust,
        "model": files.model or files.kept_model,
        "evaluation": agreement.figures() if agreement else None,
        "output": files.output,
        "report": report_path,
    }
    talk.tell(facts, print_clusters)


def print_clusters(facts: Mapping[str, Any]) -> None:
    from rdplearn.cli.printing import print_ending, print_rows
    from rdplearn.table.wording import counted

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
    typer.echo(f"{counted(facts['n_rows'], 'row')} in {counted(len(facts['clusters']), 'cluster')}.")
    if "trust" in facts:
        typer.echo(facts["trust"]["words"])
    print_ending(facts, agreement=AGREEMENT, output="Clusters")
