"use strict";
// Files that the reader takes along, made in the page: nothing is sent anywhere.
function csvCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvText(lines) {
  return lines.map((line) => `${line.map(csvCell).join(",")}\n`).join("");
}

function downloadText(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // the browser may not have begun to save it
}

function rowsAsCsv(places) {
  const columns = [
    { title: "row", of: (row) => row.row },
    ...report.shown_columns.map((name, place) => ({ title: name, of: (row) => row.values[place] })),
    ...report.result_columns,
  ];
  return csvText([columns.map((column) => column.title), ...places.map((place) => columns.map((column) => column.of(report.rows[place])))]);
}
