"use strict";
// The list of rows: sorted, searched, filtered by a selection on the map, each opening what there is to say about it.
const ROWS_AT_A_TIME = 25;
const VALUE_COLUMNS_IN_LIST = 5;

const rowList = {
  table: document.getElementById("row-table"),
  columns: [],
  texts: [], // of each row, what is searched
  order: null, // {column, falling}
  selected: null, // places in report.rows, or null for the listed rows
  open: new Set(),
  nShown: ROWS_AT_A_TIME,
};

function listColumns() {
  const ids = report.ids.map((name) => valueColumn(name, "id"));
  const named = [...new Set([...(report.drivers || []).map((driver) => driver.column), ...report.shown_columns])];
  const values = named
    .filter((name) => report.shown_columns.includes(name) && !report.ids.includes(name))
    .slice(0, VALUE_COLUMNS_IN_LIST)
    .map((name) => valueColumn(name, "value"));
  return [...report.list_columns, ...ids, ...(report.n_explained ? [REASON] : []), ...values];
}

const REASON = { title: "Main reason", kind: "reason", of: mainReason, shows: reasonCell };

function valueColumn(name, kind) {
  const place = report.shown_columns.indexOf(name);
  return { title: name, kind: kind, of: (row) => row.values[place] };
}

function mainReason(row) {
  const reason = row.reasons && row.reasons.columns.find((column) => column.contribution > 0);
  return reason ? `${reason.column} ${valueWords(reason.value)}` : "";
}

function reasonCell(row) {
  const reason = row.reasons && row.reasons.columns.find((column) => column.contribution > 0);
  if (!reason) return element("span", { class: "aside", text: row.reasons ? "" : "not explained" });
  return reasonWords(reason);
}

function reasonWords(reason) {
  const words = element("span", { class: "words" }, own(reason.column, "b"), " ", own(valueWords(reason.value)));
  if (reason.typical) words.append(element("span", { class: "aside" }, " typical ", own(reason.typical)));
  return words;
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
  const body = rowList.table.tBodies[0];
  const shown = chosen.slice(0, rowList.nShown);
  body.replaceChildren(...shown.flatMap(rowElements));
  const told = chosen.length > shown.length ? `first ${whole.format(shown.length)} of ` : "";
  document.getElementById("row-told").textContent = `${told}${count(chosen.length, "row")}`;
  const more = document.getElementById("row-more");
  more.hidden = chosen.length <= shown.length;
  more.textContent = `Show ${Math.min(ROWS_AT_A_TIME, chosen.length - shown.length)} more`;
}

function rowElements(place) {
  const row = report.rows[place];
  const isOpen = rowList.open.has(place);
  const classes = ["row", isOpen ? "open" : "", row.score > report.line ? "reported" : ""];
  const opener = element("button", { type: "button", "aria-expanded": String(isOpen), text: "›" });
  opener.setAttribute("aria-label", `${isOpen ? "Close" : "Open"} row ${row.row}`);
  const cells = rowList.columns.map((column) => {
    const value = column.of(row);
    const isNumber = typeof value === "number";
    const cell = element("td", { class: `${column.kind} ${isNumber ? "number" : ""}` });
    cell.append(column.shows ? column.shows(row) : value === null ? "" : own((column.words || valueWords)(value)));
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
  return element("td", { colspan: rowList.columns.length + 1 },
    element("div", { class: "opened-row" }, explanationOf(row),
      element("div", {}, element("h3", { text: title }), element("dl", { class: "pairs" }, ...values))));
}

function explanationOf(row) {
  if (!report.n_explained) return "";
  if (!row.reasons) {
    return element("div", { class: "explanation" }, element("p", { class: "aside",
      text: `An ordinary row of the sample on the map. Explained are the ${whole.format(report.n_explained)} rows with the highest scores.` }));
  }
  const { columns, baseline, n_others: nOthers, others } = row.reasons;
  const parts = [...columns];
  if (nOthers && others) parts.push({ column: `${count(nOthers, "other column")} together`, contribution: others, rest: true });
  const largest = Math.max(...parts.map((part) => Math.abs(part.contribution)), Number.MIN_VALUE);
  const raised = parts.reduce((sum, part) => sum + Math.max(part.contribution, 0), 0) || 1;
  const bars = parts.map((part) => {
    const bar = element("span", { class: part.contribution < 0 ? "bar lowers" : "bar" });
    bar.style.width = `${(100 * Math.abs(part.contribution)) / largest}%`;
    const words = part.rest ? element("span", { class: "words aside", text: part.column }) : reasonWords(part);
    const share = part.contribution / raised;
    const amount = `${share <= -1e-4 ? "−" : ""}${percent(Math.abs(share))}`;
    return element("li", {}, words, element("span", { class: "track" }, bar), element("span", { class: "amount", text: amount }));
  });
  const told = `Score ${shortNumber(row.score)}; a typical row has ${shortNumber(baseline)}. `
    + `The bars share out the difference${parts.some((part) => part.contribution < 0) ? "; blue ones lower the score" : ""}.`;
  return element("div", { class: "explanation" }, element("h3", { text: "What sets this row apart" }),
    element("p", { class: "aside", text: told }), element("ol", { class: "bars reasons" }, ...bars));
}

function sortBy(column) {
  const falling = rowList.order.column === column ? !rowList.order.falling : typeof column.of(report.rows[0]) === "number";
  rowList.order = { column, falling };
  showHeadings();
  showFromTop();
}

function showHeadings() {
  const headings = rowList.columns.map((column) => {
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
  showHeadings();
  showRows();
}
