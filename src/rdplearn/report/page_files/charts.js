"use strict";
// The charts, drawn by Plotly from descriptions that were made with the page, in the colours of the reader's screen.
const report = JSON.parse(document.getElementById("found").textContent);
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const fingers = window.matchMedia("(pointer: coarse)");
const drawn = new Map();

function theme(printing) {
  return report.templates[darkness.matches && !printing ? "dark" : "light"];
}

function drawCharts() {
  for (const [name, chart] of Object.entries(report.charts)) {
    const place = document.getElementById(`chart-${name}`);
    if (!place) continue;
    const fold = place.closest("details:not([open])");
    // Behind a fold a chart has no width: it is drawn when the fold is opened.
    if (fold) fold.addEventListener("toggle", () => drawChart(name, chart, place), { once: true });
    else drawChart(name, chart, place);
  }
}

function drawChart(name, chart, place) {
  const isMap = name === "map";
  const layout = { ...chart.layout, template: theme(false) };
  // A finger that moves over a chart scrolls the page.
  if (fingers.matches || !isMap) layout.dragmode = false;
  Plotly.newPlot(place, chart.data, layout, {
    responsive: true,
    displaylogo: false,
    scrollZoom: false,
    doubleClick: isMap ? "reset+autosize" : false,
    displayModeBar: isMap ? "hover" : false,
    modeBarButtons: [["select2d", "lasso2d", "zoom2d", "pan2d", "resetScale2d"]],
  });
  drawn.set(name, place);
}

function recolour(printing) {
  for (const place of drawn.values()) Plotly.relayout(place, { template: theme(printing) });
}

darkness.addEventListener("change", () => recolour(false));
window.addEventListener("beforeprint", () => {
  recolour(true);
  for (const place of drawn.values()) Plotly.Plots.resize(place);
});
window.addEventListener("afterprint", () => recolour(false));
