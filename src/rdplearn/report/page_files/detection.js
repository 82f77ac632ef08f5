"use strict";
report.list_columns = [
  { title: "Score", kind: "score", of: (row) => row.score, words: scoreWords },
  { title: "Row", kind: "place", of: (row) => row.row },
];
report.columns_after_ids = [REASON];
report.last_columns = [ANSWER];
report.explain = explanationOf;
report.result_columns = [
  { title: "anomaly_score", of: (row) => row.score },
  { title: "rank", of: (row) => Math.round(report.table.n_rows / row.rarity) },
  { title: "anomalous", of: (row) => row.score > report.line },
  ...[0, 1, 2].flatMap((place) => ["column", "value", "typical"].map((part) => ({
    title: `${part === "column" ? "reason" : part}_${place + 1}`, of: (row) => raisingColumns(row)[place]?.[part],
  }))),
];
report.n_listed = report.n_explained;
report.line = report.scores.threshold;
report.charts.map.data[0].marker.size = sizesByLine();
drawCharts();
startAnswers();
startRows();
startMap();
startKinds();
startLine();
