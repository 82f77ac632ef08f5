"use strict";
// The line between reported and not: moved by the slider, by a number of rows, or by a click on the distribution.
const line = {
  slider: document.getElementById("line-slider"),
  number: document.getElementById("line-count"),
  reset: document.getElementById("line-reset"),
  lines: report.scores.lines, // thresholds, falling; the numbers of rows above them are exact
};
line.models = line.lines.findIndex((one) => one.threshold === report.scores.threshold);

function nearestLine(distance) {
  return line.lines.reduce((best, one, place) => (distance(one) < distance(line.lines[best]) ? place : best), 0);
}

function moveLine(place) {
  tellLine(place);
  Plotly.relayout(drawn.get("scores"), { "shapes[0].x0": report.line, "shapes[0].x1": report.line, "shapes[1].x0": report.line });
  Plotly.restyle(rowMap.place, { "marker.size": [sizesByLine()] });
  showRows();
}

function tellLine(place) {
  const { threshold, n_rows: nRows } = line.lines[place];
  report.line = threshold;
  line.slider.value = place;
  line.number.value = nRows;
  line.reset.disabled = place === line.models;
  const told = document.getElementById("line-told");
  const number = element("strong", { id: "line-reported", text: count(nRows, "row") });
  const above = nRows === 1 ? "is" : "are";
  told.replaceChildren(number, ` of ${whole.format(report.table.n_rows)} (${percent(nRows / report.table.n_rows)}) ${above} above a line at `,
    shortNumber(threshold), place === line.models ? ", which is the model’s." : ".");
}

function startLine() {
  line.slider.max = line.lines.length - 1;
  line.slider.addEventListener("input", () => moveLine(Number(line.slider.value)));
  line.number.addEventListener("change", () => {
    const wanted = Math.max(0, Number(line.number.value));
    moveLine(nearestLine((one) => Math.abs(one.n_rows - wanted)));
  });
  line.reset.addEventListener("click", () => moveLine(line.models));
  for (const button of document.querySelectorAll("button[data-line]")) {
    const wanted = Number(button.dataset.line);
    button.addEventListener("click", () => moveLine(nearestLine((one) => Math.abs(one.threshold - wanted))));
  }
  drawn.get("scores").on("plotly_click", (event) => {
    moveLine(nearestLine((one) => Math.abs(one.threshold - event.points[0].x)));
  });
  tellLine(line.models);
}
