"use strict";
// The map: what is selected on it is listed below; rows above the line are drawn larger.
const rowMap = { place: null };

function placesOf(points) {
  return points.map((point) => report.map_rows[point.curveNumber][point.pointNumber]).sort((a, b) => a - b);
}

function clearSelection() {
  Plotly.relayout(rowMap.place, { selections: [] });
  Plotly.restyle(rowMap.place, { selectedpoints: null });
  selectOnMap(null);
}

function sizesByLine() {
  return report.map_rows[0].map((place) => (report.rows[place].score > report.line ? 9 : 5));
}

// The list stands elsewhere on the page: a button leads to what was selected.
function selectOnMap(places, words) {
  selectRows(places, words);
  const button = document.getElementById("map-show");
  button.hidden = places === null;
  button.textContent = `Show the ${words || ""}`;
}

function startMap() {
  document.getElementById("map-show").addEventListener("click", () => document.getElementById("rows").scrollIntoView());
  rowMap.place = drawn.get("map");
  rowMap.place.on("plotly_selected", (event) => {
    if (!event || !event.points.length) return;
    selectOnMap(placesOf(event.points), `${count(event.points.length, "row")} selected on the map`);
  });
  rowMap.place.on("plotly_deselect", () => selectOnMap(null));
  rowMap.place.on("plotly_click", (event) => {
    const places = placesOf(event.points.slice(0, 1));
    places.forEach((place) => rowList.open.add(place));
    selectOnMap(places, `row ${whole.format(report.rows[places[0]].row)} selected on the map`);
  });
  document.getElementById("row-chip-clear").addEventListener("click", clearSelection);
}
