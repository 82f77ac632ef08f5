"use strict";
// Small pictures beside the reasons of a row: how a column spreads over all rows, and where this row lies.
const PICTURE = { width: 170, height: 32, labels: 13 };

function drawing(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function spreadPicture(part) {
  const spread = report.spreads.columns[part.column];
  if (!spread) return "";
  return spread.low === undefined ? frequentValues(part, spread) : histogram(part, spread);
}

// The axis reaches as far as the row's value, unless that would squeeze all others: then an arrow points beyond its end.
function reachOf({ low, high }, at) {
  const width = high - low || Math.max(Math.abs(low), 1);
  const reach = { low, high, points: "" };
  if (at === null || at === undefined) return reach;
  if (at < low) Object.assign(reach, at < low - 2 * width ? { low: low - width / 5, points: "left" } : { low: at });
  if (at > high) Object.assign(reach, at > high + 2 * width ? { high: high + width / 5, points: "right" } : { high: at });
  return reach;
}

function histogram(part, spread) {
  const reach = reachOf(spread, part.at);
  const across = (value) => 4 + ((PICTURE.width - 8) * (value - reach.low)) / (reach.high - reach.low || 1);
  const tallest = Math.max(...spread.counts);
  const step = (spread.high - spread.low) / spread.counts.length;
  const bars = spread.counts.map((number, place) => {
    const [left, right] = [across(spread.low + place * step), across(spread.low + (place + 1) * step)];
    const height = number ? Math.max(1, (PICTURE.height * number) / tallest) : 0;
    return drawing("rect", { class: "ordinary", x: left, width: Math.max(right - left - 0.5, 1.5), y: PICTURE.height + 4 - height, height });
  });
  const picture = drawing("svg", { class: "spread", viewBox: `0 0 ${PICTURE.width} ${PICTURE.height + 4 + PICTURE.labels}`, role: "img" },
    drawing("title", {}, spreadWords(part, spread)), ...bars,
    drawing("line", { class: "axis", x1: 0, x2: PICTURE.width, y1: PICTURE.height + 4, y2: PICTURE.height + 4 }),
    ...endLabels(spread, across));
  if (part.at !== null && part.at !== undefined) picture.append(...markAt(part.at, reach, across));
  return picture;
}

function endLabels(spread, across) {
  const y = PICTURE.height + 4 + PICTURE.labels - 2;
  const [left, right] = [across(spread.low), across(spread.high)];
  const [low, high] = spread.words;
  const needed = 6 * (low.length + high.length) + 10;
  if (low === high || right - left < needed) { // no room for both: the two as one
    const label = low === high ? low : `${low} to ${high}`;
    const x = Math.min(Math.max((left + right) / 2, 3 * label.length), PICTURE.width - 3 * label.length);
    return [drawing("text", { x, y, "text-anchor": "middle" }, label)];
  }
  return [drawing("text", { x: left, y }, low), drawing("text", { x: right, y, "text-anchor": "end" }, high)];
}

function markAt(at, { points }, across) {
  const x = points === "left" ? 1 : points === "right" ? PICTURE.width - 1 : Math.min(Math.max(across(at), 1), PICTURE.width - 1);
  const line = drawing("line", { class: "mark", x1: x, x2: x, y1: 0, y2: PICTURE.height + 4 });
  if (!points) return [line, drawing("circle", { class: "mark", cx: Math.min(Math.max(x, 3), PICTURE.width - 3), cy: 3, r: 3 })];
  const [tip, back] = points === "left" ? [0, 8] : [PICTURE.width, PICTURE.width - 8];
  return [drawing("path", { class: "mark", d: `M ${tip} ${PICTURE.height / 2} L ${back} ${PICTURE.height / 2 - 5} L ${back} ${PICTURE.height / 2 + 5} Z` })];
}

function spreadWords(part, spread) {
  const here = part.at === null || part.at === undefined ? "it is missing in this row" : `this row has ${valueWords(part.value)}`;
  return `${part.column}: nearly all rows lie between ${spread.words[0]} and ${spread.words[1]}; ${here}.`;
}

// The most frequent values, and this row's own.
function frequentValues(part, spread) {
  const place = spread.values.indexOf(part.text);
  const shown = spread.values.slice(0, 3).map((value, rank) => ({ value, number: spread.counts[rank], isOwn: rank === place }));
  if (place < 0 || place >= 3) shown.push({ value: part.text, number: part.same, isOwn: true });
  const lines = shown.map(({ value, number, isOwn }) => {
    const share = number / report.spreads.n_rows;
    const bar = element("span", { class: "bar" });
    bar.style.width = `${100 * share}%`;
    return element("li", { class: isOwn ? "own" : "" }, titled(value), element("span", { class: "track" }, bar),
      element("span", { class: "amount", text: number && share < 0.01 ? count(number, "row") : percent(share) }));
  });
  return element("ul", { class: "spread" }, ...lines);
}

function titled(text) {
  const made = own(text);
  made.title = text;
  return made;
}
