// The editors: checks while typing, lines of JSON, a warning before changes are lost.
// Without this module everything still works by the buttons.
import { addGutter, goToLine } from "./editor-lines.js";

const QUIET_MS = 500;
const form = /** @type {HTMLFormElement} */ (document.getElementById("editor"));
let timer = 0;
let edits = 0;
let asked = 0; // edits that the newest question knew
let changed = form.querySelector(".problem-list") !== null;

/** Ask the server once typing has paused; htmx answers the event and drops a question that is overtaken. */
export function checkSoon(quietMs = QUIET_MS) {
  changed = true;
  edits += 1;
  clearTimeout(timer);
  timer = setTimeout(() => form.dispatchEvent(new Event("check")), quietMs);
}

// An answer is shown only while it is about what stands there: the next one is on its way.
form.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target === form) asked = edits;
});
form.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = /** @type {CustomEvent} */ (event);
  if (detail.requestConfig.elt === form && asked !== edits) detail.shouldSwap = false;
});

/** What stands there is kept by the server: leaving loses nothing. */
export function nothingToLose() {
  changed = false;
}

form.addEventListener("input", (event) => {
  if (/** @type {HTMLElement} */ (event.target).id === "id_note") changed = true;
  else checkSoon();
});

form.addEventListener("submit", () => {
  clearTimeout(timer);
  changed = false;
});

addEventListener("beforeunload", (event) => {
  if (changed) event.preventDefault();
});

/** What the check found is marked at the fields as well. */
function markFields() {
  for (const error of form.querySelectorAll(".field-error")) {
    const field = error.closest(".field");
    const input = field?.querySelector("input, textarea, select");
    const wrong = error.textContent.trim() !== "";
    field?.classList.toggle("wrong", wrong);
    if (wrong) input?.setAttribute("aria-invalid", "true");
    else input?.removeAttribute("aria-invalid");
  }
}
document.addEventListener("htmx:afterSettle", markFields);

// A link of the problem list leads into its field, and in JSON to its line.
form.addEventListener("click", (event) => {
  const link = /** @type {HTMLElement} */ (event.target).closest("a[href^='#id_']");
  if (!link) return;
  const input = document.getElementById(/** @type {HTMLAnchorElement} */ (link).hash.slice(1));
  if (!input) return;
  event.preventDefault();
  input.focus();
  const line = Number(/** @type {HTMLElement} */ (link).dataset.line);
  if (line && input instanceof HTMLTextAreaElement) goToLine(input, line);
  else input.scrollIntoView({ block: "center" });
});

const json = /** @type {HTMLTextAreaElement|null} */ (form.querySelector("textarea[data-gutter]"));
if (json) {
  const mark = addGutter(json);
  const linesNamed = () => {
    const now = document.getElementById("json-now");
    if (now) return (now.dataset.lines ?? "").split(" ").map(Number);
    return [...form.querySelectorAll(".problem-list [data-line]")].map((link) => Number(link.dataset.line));
  };
  mark(linesNamed());
  document.addEventListener("htmx:afterSettle", () => mark(linesNamed()));
}
