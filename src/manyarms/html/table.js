// Sorts and filters tables. The rows are in the page, so that it can be read without this script.
"use strict";

/** What a cell is sorted by: a number where it has one, otherwise its text. */
function key(row, column) {
  const cell = row.cells[column];
  const given = cell.dataset.value;
  return given === undefined ? cell.textContent : given === "" ? null : Number(given);
}

/** Numbers come before text. */
function compare(one, other) {
  if (typeof one === typeof other) return typeof one === "number" ? one - other : one.localeCompare(other);
  return typeof one === "number" ? -1 : 1;
}

function sort(table, head) {
  const order = head.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
  for (const other of table.tHead.rows[0].cells) {
    other.removeAttribute("aria-sort");
    other.querySelector(".sign").textContent = "";
  }
  head.setAttribute("aria-sort", order);
  head.querySelector(".sign").textContent = order === "ascending" ? "▲" : "▼";
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) => [key(row, head.cellIndex), row]);
  rows.sort(([one], [other]) => {
    if (one === null || other === null) return (one === null) - (other === null); // rows without a value are last
    return sign * compare(one, other);
  });
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

/** Hide the rows that do not contain all words or do not have the status, and say how many are left. */
function filter(box) {
  const words = box.querySelector("input[type=search]").value.toLowerCase().split(/\s+/).filter(Boolean);
  const status = box.querySelector("select").value;
  const rows = [...box.querySelector("tbody").rows];
  for (const row of rows) {
    const text = (row.dataset.text ??= row.textContent.toLowerCase());
    const isId = words.length === 1 && words[0] === row.dataset.arm;
    row.hidden = (status && row.dataset.status !== status) || !(isId || words.every((word) => text.includes(word)));
  }
  const left = rows.filter((row) => !row.hidden).length;
  box.querySelector("output").textContent = `${left.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")} rows`;
}

for (const box of document.querySelectorAll(".sortable")) {
  const table = box.querySelector("table");
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) sort(table, button.closest("th"));
  });
  const tools = box.querySelector(".tools");
  tools.hidden = false;
  tools.addEventListener("input", () => filter(box));
  filter(box);
}

/** Print what is folded too. */
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) details.open = details.dataset.printed = true;
});
addEventListener("afterprint", () => {
  for (const details of document.querySelectorAll("details[data-printed]")) {
    details.open = false;
    delete details.dataset.printed;
  }
});
