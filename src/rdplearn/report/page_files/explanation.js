"use strict";
// Why a row scored as it did: a bar for each column, whose length is its share, and a picture of the column.
const REASON = { title: "Main reason", kind: "reason", of: mainReason, shows: reasonCell };

function raisingColumns(row) {
  return row.reasons ? row.reasons.columns.filter((column) => column.contribution > 0) : [];
}

function mainReason(row) {
  const [reason] = raisingColumns(row);
  return reason ? `${reason.column} ${valueWords(reason.value)}` : "";
}

function reasonCell(row) {
  const [reason] = raisingColumns(row);
  if (!reason) return element("span", { class: "aside", text: row.reasons ? "" : "not explained" });
  const others = raisingColumns(row).filter((column) => reason.shared_with.includes(column.column));
  if (reason.value === null && others.length && others.every((column) => column.value === null)) return missingWords([reason, ...others]);
  const words = reasonWords(reason);
  if (reason.only_together) others.forEach((column) => words.append(element("span", { class: "aside" }, " with "), reasonWords(column)));
  return words;
}

function missingWords(reasons) {
  const names = reasons.flatMap((reason, place) => [!place ? "" : place < reasons.length - 1 ? ", " : " and ", own(reason.column, "b")]);
  return element("span", { class: "words" }, ...names, " missing");
}

function reasonWords(reason) {
  const words = element("span", { class: "words" }, own(reason.column, "b"), " ", own(valueWords(reason.value)));
  if (reason.typical) {
    words.append(element("span", { class: "aside" }, " typical ", own(reason.typical), reason.is_usual ? "; unusual for such rows" : ""));
  }
  return words;
}

function explanationOf(row) {
  if (!row.reasons) {
    return element("div", { class: "explanation" }, element("p", { class: "aside",
      text: `An ordinary row of the sample on the map. Explained are the ${whole.format(report.n_explained)} rows with the highest scores.` }));
  }
  const { columns, baseline, n_others: nOthers, others } = row.reasons;
  const parts = [...columns];
  if (nOthers && others) parts.push({ column: `${count(nOthers, "other column")} together`, contribution: others, rest: true });
  const raised = parts.reduce((sum, part) => sum + Math.max(part.contribution, 0), 0) || 1;
  const scale = Math.max(1, ...parts.map((part) => Math.abs(part.contribution) / raised)); // a full bar is 100 %, or more if need be
  const told = `Score ${shortNumber(row.score)}; a typical row has ${shortNumber(baseline)}. The bars share out what raises it`
    + `${parts.some((part) => part.contribution < 0) ? "; blue ones lower it" : ""}. Beside them: how the column spreads over all rows, and this row in colour.`;
  return element("div", { class: "explanation" }, element("h3", { text: "What sets this row apart" }),
    element("p", { class: "aside", text: told }), element("p", { class: "verdict-of-row" }, "Your answer: ", answerButtons(row)),
    element("ol", { class: "bars reasons" }, ...parts.map((part) => reasonBar(part, part.contribution / raised, scale))));
}

function reasonBar(part, share, scale) {
  const bar = element("span", { class: share < 0 ? "bar lowers" : "bar" });
  bar.style.width = `${(100 * Math.abs(share)) / scale}%`;
  const words = part.rest ? element("span", { class: "words aside", text: part.column }) : reasonWords(part);
  const amount = `${share <= -1e-4 ? "−" : ""}${percent(Math.abs(share))}`;
  return element("li", {}, words, element("span", { class: "track" }, bar), element("span", { class: "amount", text: amount }),
    part.rest ? "" : spreadPicture(part));
}
