"use strict";
// Numbers and values in words; elements whose texts come from the table. Nothing of the table is ever read as HTML.
const whole = new Intl.NumberFormat("en");

function count(number, noun) {
  return `${whole.format(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function shortNumber(number) {
  if (number === 0) return "0"; // not -0
  const size = Math.abs(number);
  if (number !== 0 && (size >= 1e15 || size < 1e-4)) return String(Number(number.toPrecision(4)));
  const digits = Number.isInteger(number) || size >= 1e4 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(size || 1)));
  return new Intl.NumberFormat("en", { maximumFractionDigits: Math.min(digits, 8) }).format(number);
}

function scoreWords(score) {
  return Math.abs(score) >= 1e4 || Math.abs(score) < 1e-4 ? shortNumber(score) : score.toPrecision(4);
}

function percent(share) {
  if (share > 0 && share < 1e-4) return "under 0.01%";
  return `${shortNumber(Number((100 * share).toPrecision(2)))}%`;
}

function valueWords(value) {
  if (value === null || value === "") return "missing";
  if (typeof value === "number") return shortNumber(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
}

function element(tag, options, ...children) {
  const made = document.createElement(tag);
  const { text, ...rest } = options || {};
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(rest)) {
    if (name === "class") made.className = value;
    else if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// A text of the table: its direction of writing stays its own.
function own(text, tag = "bdi") {
  return element(tag, { text: text, dir: "auto" });
}
