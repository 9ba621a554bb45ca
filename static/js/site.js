// On every page: theme switch, key help, times in the viewer's zone, confirmation before what cannot be undone.
import { bind, showHelp } from "./keys.js";

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const tellTheme = () => document.dispatchEvent(new CustomEvent("themechange"));
system.addEventListener("change", tellTheme);

document.getElementById("theme")?.addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // not kept, still switched
  }
  tellTheme();
});

document.getElementById("show-keys")?.addEventListener("click", showHelp);
bind([
  { key: "?", label: "These keys", run: showHelp },
  { key: "/", label: "Search", run: () => /** @type {HTMLElement|null} */ (document.querySelector("input[type=search]"))?.focus() },
]);

export function localTimes(within = document) {
  for (const time of within.querySelectorAll("time[datetime]:not([data-local])")) {
    const moment = new Date(/** @type {HTMLTimeElement} */ (time).dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    /** @type {HTMLElement} */ (time).title = `${moment.toISOString().replace("T", " ").slice(0, 19)} UTC`;
    time.textContent = moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
    /** @type {HTMLElement} */ (time).dataset.local = "yes";
  }
}

/** What scrolls can be scrolled with the keyboard in every browser; a table without links would else be out of reach. */
function reachable() {
  for (const box of document.querySelectorAll(".scroll-x, pre:not([aria-hidden]), .events-box"))
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
}

function ready() {
  localTimes();
  reachable();
}
ready();
addEventListener("resize", reachable);
document.addEventListener("htmx:afterSettle", ready);

document.addEventListener("submit", (event) => {
  const question = /** @type {HTMLElement} */ (event.submitter ?? event.target).dataset?.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

// A double click sends a form once: the second time would be told that the first has done it already. A busy page hears of
// the second click late, but a click tells which one it is; keys are told apart by the time between them.
const TWICE_MS = 1000;
let sent = { form: null, by: null, at: 0 };
document.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("button, input");
  if (event.detail > 1 && button?.type === "submit" && button.form?.method === "post") event.preventDefault();
});
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  const { target: form, submitter: by, timeStamp: at } = /** @type {SubmitEvent} */ (event);
  if (form === sent.form && by === sent.by && at - sent.at < TWICE_MS) event.preventDefault();
  else sent = { form, by, at };
});
