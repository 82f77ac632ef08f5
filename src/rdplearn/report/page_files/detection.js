"use strict";
report.list_columns = [
  { title: "Score", kind: "score", of: (row) => row.score, words: scoreWords },
  { title: "Row", kind: "place", of: (row) => row.row },
];
report.n_listed = report.n_explained;
report.line = report.scores.threshold;
report.charts.map.data[0].marker.size = sizesByLine();
drawCharts();
startRows();
startMap();
startLine();
