// Rows of the comparison's table open in place: both sides on one axis of turns. The address says which one is open.
import { drawTurns } from "./compare-waves.js";

const table = document.querySelector("table.compare");
const opener = (scenario) => table.querySelector(`[data-open="${CSS.escape(scenario)}"]`);
const opened = () => table.querySelector("tr.opened");

/** The present address with these parts set, or taken out where null. */
function address(changes) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    url.searchParams.delete(name);
    for (const one of value ?? []) url.searchParams.append(name, one);
  }
  return url;
}

function close() {
  const row = opened();
  if (!row) return;
  const button = opener(row.dataset.opened);
  button?.setAttribute("aria-expanded", "false");
  row.remove();
  history.replaceState(null, "", address({ open: null, trial: null }));
}

/** Lays the row that `url` names under its scenario. */
async function open(url) {
  const scenario = url.searchParams.get("open");
  const button = opener(scenario);
  button.setAttribute("aria-busy", "true");
  const answer = await fetch(`${table.dataset.rowUrl}${url.search}`).catch((error) => error);
  button.removeAttribute("aria-busy");
  close();
  const line = button.closest("tr");
  if (answer.ok) {
    line.insertAdjacentHTML("afterend", await answer.text());
    opened().firstElementChild.colSpan = line.cells.length;
  } else {
    const said = document.createElement("tr");
    said.className = "opened";
    said.dataset.opened = scenario;
    said.insertCell().colSpan = line.cells.length;
    said.cells[0].textContent = `It could not be fetched: ${answer.message ?? (await answer.text())}`;
    line.after(said);
  }
  button.setAttribute("aria-expanded", "true");
  history.replaceState(null, "", url);
  drawTurns(opened());
}

table?.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab is the browser's
  const target = /** @type {HTMLElement} */ (event.target);
  const button = target.closest("[data-open]");
  const pick = target.closest("[data-pick]");
  if (!button && !pick) return;
  event.preventDefault();
  if (button?.getAttribute("aria-expanded") === "true") close();
  else if (button) open(address({ open: [button.dataset.open], trial: null }));
  else open(new URL(/** @type {HTMLAnchorElement} */ (pick).href));
});

/** Up and down go from row to row; Enter on a row's button is the link's own. */
table?.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const here = /** @type {HTMLElement} */ (event.target).closest("[data-open]");
  if (!step || !here) return;
  const all = [...table.querySelectorAll("[data-open]")];
  all[all.indexOf(here) + step]?.focus();
  event.preventDefault();
});

if (table && opened()) drawTurns(opened());
