"use strict";
// Kinds of anomalies: a button shows the rows of a kind in the list.
function startKinds() {
  const places = new Map(report.rows.slice(0, report.n_explained).map((row, place) => [row.row, place]));
  for (const button of document.querySelectorAll("button[data-kind]")) {
    const kind = report.kinds[Number(button.dataset.kind)];
    const listed = kind.rows.filter((row) => places.has(row)).map((row) => places.get(row));
    if (!listed.length) {
      button.replaceWith(element("span", { class: "aside", text: "below the listed rows" }));
      continue;
    }
    const number = listed.length < kind.n_rows ? `the ${whole.format(listed.length)} highest of ${count(kind.n_rows, "row")}` : count(kind.n_rows, "row");
    button.addEventListener("click", () => {
      rowList.open.add(listed[0]);
      selectRows(listed, `${kind.kind}: ${number}`);
      document.getElementById("rows").scrollIntoView({ behavior: "smooth" });
    });
  }
  document.getElementById("kinds-more")?.addEventListener("click", (event) => {
    for (const line of document.querySelectorAll(".kinds li[hidden]")) line.hidden = false;
    event.target.hidden = true;
  });
}
