"use strict";
report.list_columns = [
  { title: "Cluster", kind: "cluster", rises: true, of: (row) => row.cluster },
  { title: "Row", kind: "place", of: (row) => row.row },
];
report.result_columns = [{ title: "cluster", of: (row) => row.cluster }];
report.n_listed = report.rows.length;
drawCharts();
startRows();
startMap();
