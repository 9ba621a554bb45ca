// A table of cells: many cells pasted at once, Enter and arrows, rows as they are needed. Without it "More rows" and Tab do.
import { parseCells } from "./cells.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("table"));
const table = /** @type {HTMLTableElement} */ (form.querySelector("table.cells"));
const body = table.tBodies[0];
const said = document.getElementById("table-said");
const most = Number(table.dataset.most);
let changed = form.querySelector(".field-error") !== null;

/** @param {number} row @param {number} column @returns {HTMLTextAreaElement|undefined} */
const cellAt = (row, column) => body.rows[row]?.querySelectorAll("textarea")[column];

/** @param {EventTarget|null} target */
function placeOf(target) {
  const cell = /** @type {HTMLElement} */ (target);
  const row = cell.closest("tr");
  return { row: row.sectionRowIndex, column: [...row.querySelectorAll("textarea")].indexOf(/** @type {any} */ (cell)) };
}

/** An empty row below the others; false when the table is full. */
function addRow() {
  const index = body.rows.length;
  if (index >= most) return false;
  const row = /** @type {HTMLTableRowElement} */ (body.rows[index - 1].cloneNode(true));
  row.classList.remove("wrong");
  row.querySelector("input")?.remove();
  row.cells[0].textContent = String(index + 1);
  for (const cell of row.querySelectorAll("textarea")) {
    cell.name = cell.name.replace(/^cell-\d+-/, `cell-${index}-`);
    cell.setAttribute("aria-label", cell.getAttribute("aria-label").replace(/\d+$/, String(index + 1)));
    cell.value = "";
    cell.readOnly = false;
    for (const name of ["aria-invalid", "aria-describedby", "placeholder"]) cell.removeAttribute(name);
    cell.parentElement.classList.remove("wrong");
  }
  for (const error of row.querySelectorAll(".field-error")) error.remove();
  body.append(row);
  return true;
}

/** @param {string[][]} rows @param {{row: number, column: number}} at @returns {number} cells that found no place */
function fill(rows, at) {
  let lost = 0;
  rows.forEach((cells, down) => {
    while (body.rows.length <= at.row + down && addRow());
    cells.forEach((text, right) => {
      const cell = cellAt(at.row + down, at.column + right);
      if (cell && !cell.readOnly) cell.value = text;
      else if (text.trim() && cell?.value !== text) lost += 1;
    });
  });
  return lost;
}

form.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  const rows = parseCells(text);
  if (!(event.target instanceof HTMLTextAreaElement) || (rows.length < 2 && rows[0].length < 2)) return;
  event.preventDefault();
  const lost = fill(rows, placeOf(event.target));
  changed = true;
  said.hidden = false;
  said.textContent = `Pasted ${rows.length} ${rows.length === 1 ? "row" : "rows"}.`;
  if (lost) said.textContent += ` ${lost} cells found no place: a table takes ${most} rows, and ids that are stored stay.`;
});

form.addEventListener("keydown", (event) => {
  const cell = event.target;
  if (!(cell instanceof HTMLTextAreaElement) || event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
  const { row, column } = placeOf(cell);
  const atStart = cell.selectionEnd === 0;
  const atEnd = cell.selectionStart === cell.value.length;
  let to = row;
  if (event.key === "Enter" && !event.shiftKey) to = row + 1;
  else if (event.key === "ArrowDown" && atEnd) to = row + 1;
  else if (event.key === "ArrowUp" && atStart) to = row - 1;
  else return;
  event.preventDefault();
  if (to === body.rows.length) addRow();
  cellAt(to, column)?.focus();
});

form.addEventListener("input", () => {
  changed = true;
});
form.addEventListener("submit", () => {
  changed = false;
});
addEventListener("beforeunload", (event) => {
  if (changed) event.preventDefault();
});
