"use strict";
// The map: what is selected on it is listed below; rows above the line are drawn larger.
const rowMap = { place: null };

function placesOf(points) {
  return points.map((point) => report.map_rows[point.curveNumber][point.pointNumber]).sort((a, b) => a - b);
}

function clearSelection() {
  Plotly.relayout(rowMap.place, { selections: [] });
  Plotly.restyle(rowMap.place, { selectedpoints: null });
  selectRows(null);
}

function sizesByLine() {
  return report.map_rows[0].map((place) => (report.rows[place].score > report.line ? 9 : 5));
}

function startMap() {
  rowMap.place = drawn.get("map");
  rowMap.place.on("plotly_selected", (event) => {
    if (!event || !event.points.length) return;
    selectRows(placesOf(event.points), `${count(event.points.length, "row")} selected on the map`);
  });
  rowMap.place.on("plotly_deselect", () => selectRows(null));
  rowMap.place.on("plotly_click", (event) => {
    const places = placesOf(event.points.slice(0, 1));
    places.forEach((place) => rowList.open.add(place));
    selectRows(places, `row ${whole.format(report.rows[places[0]].row)} selected on the map`);
  });
  document.getElementById("row-chip-clear").addEventListener("click", clearSelection);
}
