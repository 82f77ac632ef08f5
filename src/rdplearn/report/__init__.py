"""Reports: results -> one plain dictionary (JSON) -> charts -> one standalone HTML page.

`findings` makes the dictionary, `figures` its charts for a notebook, `write_page` the page; `write_report` does it all.
"""

from __future__ import annotations

from rdplearn.report.changes import changes_report
from rdplearn.report.clusters import GatheredClusters, cluster_report, describe_clusters
from rdplearn.report.detection import describe_detection, detection_report
from rdplearn.report.figures import figures
from rdplearn.report.gathering import GatheredRows
from rdplearn.report.learned_map import place_on_map
from rdplearn.report.page import page, write_page
from rdplearn.report.writing import findings, write_report

__all__ = [
    "GatheredClusters",
    "GatheredRows",
    "changes_report",
    "cluster_report",
    "describe_clusters",
    "describe_detection",
    "detection_report",
    "figures",
    "findings",
    "page",
    "place_on_map",
    "write_page",
    "write_report",
]
