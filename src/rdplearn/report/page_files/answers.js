"use strict";
// What the reader says of rows: kept in the browser under the identity of the page, and downloaded as the file that
// `rdplearn tell` takes. A browser that keeps nothing still has the answers until the page is closed.
const ANSWERS = { anomalous: "anomalous", normal: "fine", unsure: "not sure" };
const answers = { key: `rdplearn answers ${report.identity}`, ofRow: new Map(), areKept: true };

const ANSWER = { title: "Your answer", kind: "answer", of: (row) => answers.ofRow.get(row.row)?.answer ?? "", shows: answerButtons };

function loadAnswers() {
  try {
    const kept = JSON.parse(localStorage.getItem(answers.key) || "[]");
    for (const { row, answer, when } of kept) if (answer in ANSWERS) answers.ofRow.set(row, { answer, when });
    localStorage.setItem(answers.key, JSON.stringify(kept));
  } catch {
    answers.areKept = false;
  }
}

function keepAnswers() {
  const kept = [...answers.ofRow].map(([row, said]) => ({ row, ...said }));
  try {
    localStorage.setItem(answers.key, JSON.stringify(kept));
  } catch {
    answers.areKept = false;
  }
}

function giveAnswer(row, answer) {
  const before = answers.ofRow.get(row);
  answers.ofRow.delete(row); // the latest stands last
  if (before?.answer !== answer) answers.ofRow.set(row, { answer, when: new Date().toISOString().replace(/\.\d+Z$/, "Z") });
  keepAnswers();
  for (const button of document.querySelectorAll(`.answers[data-row="${row}"] button`)) {
    button.setAttribute("aria-pressed", String(answers.ofRow.get(row)?.answer === button.dataset.answer));
  }
  tellAnswers();
}

function answerButtons(row) {
  if (!row.cells) return "";
  const buttons = Object.entries(ANSWERS).map(([answer, words]) => element("button", {
    type: "button", "data-answer": answer, "aria-pressed": String(answers.ofRow.get(row.row)?.answer === answer), text: words,
    "aria-label": `Row ${row.row} is ${words}`,
    click: (event) => { event.stopPropagation(); giveAnswer(row.row, answer); },
  }));
  return element("span", { class: "answers", "data-row": row.row, role: "group" }, ...buttons);
}

function answersAsCsv() {
  const rows = new Map(report.rows.filter((row) => row.cells).map((row) => [row.row, row]));
  const lines = [...answers.ofRow].filter(([row]) => rows.has(row))
    .map(([row, { answer, when }]) => [row, answer, when, ...rows.get(row).cells]);
  return csvText([["row", "answer", "when", ...report.table.columns], ...lines]);
}

function tellAnswers() {
  const counts = Object.entries(ANSWERS).map(([answer, words]) => [[...answers.ofRow.values()].filter((said) => said.answer === answer).length, words]);
  const told = counts.filter(([number]) => number).map(([number, words]) => `${whole.format(number)} ${words}`).join(", ");
  const warning = answers.areKept ? "" : " This browser does not keep them: download them before you close the page.";
  document.getElementById("answers-told").textContent = told ? `${told}.${warning}` : "No answers yet.";
  document.getElementById("answers-download").disabled = !told;
}

function startAnswers() {
  loadAnswers();
  document.getElementById("answers-download").addEventListener("click", () => downloadText("answers.csv", answersAsCsv()));
  tellAnswers();
}
