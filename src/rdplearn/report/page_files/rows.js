"use strict";
// The list of rows: sorted, searched, filtered by a selection on the map, each opening what there is to say about it.
const ROWS_AT_A_TIME = 25;
const BRIEF = 20;
const MOST_VALUE_COLUMNS = 8; // as many of them as there is room for

const rowList = {
  table: document.getElementById("row-table"),
  columns: [],
  nValues: MOST_VALUE_COLUMNS,
  texts: [], // of each row, what is searched
  order: null, // {column, falling}
  selected: null, // places in report.rows, or null for the listed rows
  open: new Set(),
  nShown: ROWS_AT_A_TIME,
};

function listColumns() {
  const ids = report.ids.map((name) => valueColumn(name, "id"));
  return [...report.list_columns, ...ids, ...(report.columns_after_ids || []), ...valueColumns(), ...(report.last_columns || [])];
}

// Those that matter most come first.
function valueColumns() {
  const named = [...new Set([...(report.drivers || []).map((driver) => driver.column), ...report.shown_columns])];
  return named.filter((name) => report.shown_columns.includes(name) && !report.ids.includes(name)).slice(0, MOST_VALUE_COLUMNS)
    .map((name) => valueColumn(name, "value"));
}

// All columns but for the values that there is no room for.
function shownInList() {
  let nLeft = rowList.nValues;
  return rowList.columns.filter((column) => column.kind !== "value" || nLeft-- > 0);
}

function valueColumn(name, kind) {
  const place = report.shown_columns.indexOf(name);
  return { title: name, kind: kind, of: (row) => row.values[place] };
}

function compare(a, b) {
  const missing = (value) => value === null || value === "";
  if (missing(a) || missing(b)) return missing(a) - missing(b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return compare.texts.compare(String(a), String(b));
}
compare.texts = new Intl.Collator(undefined, { numeric: true });

function chosenRows() {
  const places = rowList.selected || Array.from({ length: report.n_listed }, (_, place) => place);
  const words = document.getElementById("row-search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = places.filter((place) => words.every((word) => rowList.texts[place].includes(word)));
  const { column, falling } = rowList.order;
  // Rows without a value come last in either direction.
  return chosen.sort((a, b) => {
    const [first, second] = [column.of(report.rows[a]), column.of(report.rows[b])];
    const isMissing = [first, second].some((value) => value === null || value === "");
    return (falling && !isMissing ? -1 : 1) * compare(first, second) || a - b;
  });
}

function searchedText(row) {
  const reasons = row.reasons ? row.reasons.columns.map((column) => column.column) : [];
  return [row.row, ...row.values, ...reasons.slice(0, 3)].map((value) => String(value ?? "")).join("\n").toLowerCase();
}

function showRows() {
  const chosen = chosenRows();
  const shown = chosen.slice(0, rowList.nShown);
  fillTable(shown);
  while (rowList.nValues > 0 && rowList.table.scrollWidth > rowList.table.parentElement.clientWidth) {
    rowList.nValues -= 1; // rather one column less than one cut in two
    fillTable(shown);
  }
  tellColumns();
  const told = chosen.length > shown.length ? `first ${whole.format(shown.length)} of ` : "";
  document.getElementById("row-told").textContent = `${told}${count(chosen.length, "row")}`;
  const more = document.getElementById("row-more");
  more.hidden = chosen.length <= shown.length;
  more.textContent = `Show ${Math.min(ROWS_AT_A_TIME, chosen.length - shown.length)} more`;
}

function fillTable(places) {
  showHeadings();
  rowList.table.tBodies[0].replaceChildren(...places.flatMap(rowElements));
}

function tellColumns() {
  const nShown = shownInList().filter((column) => column.kind === "value" || column.kind === "id").length;
  document.getElementById("row-columns").textContent = nShown < report.shown_columns.length
    ? `${count(report.shown_columns.length - nShown, "more column")}: open a row to see all its values.` : "";
}

function rowElements(place) {
  const row = report.rows[place];
  const isOpen = rowList.open.has(place);
  const classes = ["row", isOpen ? "open" : "", row.score > report.line ? "reported" : ""];
  const opener = element("button", { type: "button", "aria-expanded": String(isOpen), text: "›" });
  opener.setAttribute("aria-label", `${isOpen ? "Close" : "Open"} row ${row.row}`);
  const cells = shownInList().map((column) => {
    const value = column.of(row);
    const isNumber = typeof value === "number";
    const isBrief = String(value ?? "").length <= BRIEF; // not broken into lines
    const cell = element("td", { class: `${column.kind} ${isNumber ? "number" : isBrief ? "brief" : ""}` });
    cell.append(column.shows ? column.shows(row) : value === null ? element("span", { class: "aside", text: "missing" }) : own((column.words || valueWords)(value)));
    return cell;
  });
  const line = element("tr", { class: classes.join(" "), "data-row": row.row }, element("td", { class: "opener" }, opener), ...cells);
  line.addEventListener("click", () => toggleRow(place));
  return isOpen ? [line, element("tr", { class: "opened" }, openedCell(row))] : [line];
}

function toggleRow(place) {
  if (window.getSelection().toString()) return; // the reader marks text
  if (!rowList.open.delete(place)) rowList.open.add(place);
  showRows();
  const opener = rowList.table.querySelector(`tr[data-row="${report.rows[place].row}"] .opener button`);
  if (opener) opener.focus({ preventScroll: true });
}

function openedCell(row) {
  const values = report.shown_columns.map((name, place) =>
    element("div", {}, element("dt", {}, own(name)), element("dd", {}, own(valueWords(row.values[place])))));
  const title = report.shown_columns.length < report.table.n_columns - (report.evaluation ? 1 : 0)
    ? `Values of ${report.shown_columns.length} of ${report.table.n_columns} columns` : "All values";
  return element("td", { colspan: shownInList().length + 1 },
    element("div", { class: "opened-row" }, report.explain ? report.explain(row) : "",
      element("div", {}, element("h3", { text: title }), element("dl", { class: "pairs" }, ...values))));
}

function sortBy(column) {
  const falling = rowList.order.column === column ? !rowList.order.falling : typeof column.of(report.rows[0]) === "number";
  rowList.order = { column, falling };
  showFromTop();
}

function showHeadings() {
  const headings = shownInList().map((column) => {
    const button = element("button", { type: "button", title: column.title, click: () => sortBy(column) }, own(column.title));
    const isNumber = report.rows.some((row) => typeof column.of(row) === "number");
    const heading = element("th", { scope: "col", class: `${column.kind} ${isNumber ? "number" : ""}` }, button);
    if (rowList.order.column === column) heading.setAttribute("aria-sort", rowList.order.falling ? "descending" : "ascending");
    return heading;
  });
  rowList.table.tHead.replaceChildren(element("tr", {}, element("td", { class: "opener" }), ...headings));
}

function showFromTop() {
  rowList.nShown = ROWS_AT_A_TIME;
  showRows();
}

function selectRows(places, words) {
  rowList.selected = places;
  document.getElementById("row-chip").hidden = places === null;
  document.getElementById("row-chip-told").textContent = words || "";
  showFromTop();
}

function startRows() {
  rowList.columns = listColumns();
  rowList.texts = report.rows.map(searchedText);
  rowList.order = { column: rowList.columns[0], falling: !rowList.columns[0].rises };
  document.getElementById("row-search").addEventListener("input", showFromTop);
  document.getElementById("row-more").addEventListener("click", () => {
    rowList.nShown += ROWS_AT_A_TIME;
    showRows();
  });
  document.getElementById("row-download").addEventListener("click", () => {
    downloadText(`${report.table.name.replace(/\.[^.]*$/, "") || "table"}.rows.csv`, rowsAsCsv(chosenRows()));
  });
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return; // a phone's address bar comes and goes
    width = window.innerWidth;
    rowList.nValues = MOST_VALUE_COLUMNS;
    showRows();
  });
  showRows();
}
