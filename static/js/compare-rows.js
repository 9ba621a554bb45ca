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

/** The row that `url` names. Raises an Error in words when it cannot be had. */
async function rowHtml(url) {
  const answer = await fetch(`${table.dataset.rowUrl}${url.search}`);
  if (answer.redirected) throw new Error("you are signed out: load the page again");
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

/** A row that says why the one of this scenario is not there. */
function unread(scenario, why) {
  const row = document.createElement("tr");
  row.className = "opened";
  row.dataset.opened = scenario;
  row.insertCell().textContent = `It could not be fetched: ${why}`;
  return row;
}

/** Lays the row that `url` names under its scenario. */
async function open(url) {
  const scenario = url.searchParams.get("open");
  const button = opener(scenario);
  const line = button.closest("tr");
  button.setAttribute("aria-busy", "true");
  const found = await rowHtml(url).catch((error) => error);
  button.removeAttribute("aria-busy");
  close();
  if (typeof found === "string") line.insertAdjacentHTML("afterend", found);
  else line.after(unread(scenario, found.message));
  opened().firstElementChild.colSpan = line.cells.length;
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
