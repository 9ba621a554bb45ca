// The editor of scenarios: form and JSON side by side. What is typed on one side shows on the other once the server has
// read it; until then the other side waits, so that neither can overwrite what the other does not know yet.
import { checkSoon, nothingToLose } from "./editor.js";
import { offerTags, tidyRows } from "./scenario-rows.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("editor"));
const view = /** @type {HTMLInputElement} */ (form.elements.namedItem("view"));
const formPane = /** @type {HTMLElement} */ (document.getElementById("form-pane"));
const jsonPane = /** @type {HTMLElement} */ (document.getElementById("json-pane"));
const panes = /** @type {HTMLElement} */ (document.querySelector("[data-panes]"));
const text = /** @type {HTMLTextAreaElement} */ (document.getElementById("id_text_json"));
const now = () => /** @type {HTMLElement} */ (document.getElementById("json-now"));
let pressed = ""; // a button of the rows whose answer has not come yet

/** @param {string} side  form or json: where the newest words stand; the other side waits for the server. */
function typedIn(side) {
  view.value = side;
  if (side === "json") formPane.inert = true;
  else text.readOnly = true;
}

function settle() {
  const unread = now().dataset.unread ?? "";
  if (view.value === "form") {
    if (!unread && text.value !== now().textContent) text.value = now().textContent ?? "";
    text.readOnly = unread === "form";
  }
  formPane.inert = unread === "json";
  panes.dataset.unread = unread;
  if (document.querySelector("#draft-state[data-kept]")) nothingToLose();
  const draft = /** @type {HTMLInputElement} */ (form.elements.namedItem("draft")).value;
  if (draft && location.pathname.endsWith("/new/")) history.replaceState(null, "", `?draft=${draft}`);
  const wrong = (now().dataset.lines ?? "") !== "";
  if (wrong) text.setAttribute("aria-invalid", "true");
  else text.removeAttribute("aria-invalid");
}

form.addEventListener("input", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.id === "id_note") checkSoon();
  else if (target === text) typedIn("json");
  else if (formPane.contains(target)) typedIn("form");
});

// Who leaves a side wants to go on at the other: no pause is waited for.
text.addEventListener("blur", () => formPane.inert && checkSoon(0));
text.addEventListener("focus", () => text.readOnly && checkSoon(0));

formPane.addEventListener("change", (event) => {
  const field = /** @type {HTMLInputElement} */ (event.target);
  if (/^(required|prohibited)-\d+-name$/.test(field.name) || field.name === "application") press("rebuild");
});

form.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("#form-pane button[name=action], #meanwhile button");
  if (!button) return;
  event.preventDefault();
  press(/** @type {HTMLButtonElement} */ (button).value);
});

/** @param {string} action  What the server does to the rows before it sends them again. */
function press(action) {
  pressed = action;
  if (action !== "merge") typedIn("form");
  checkSoon(0);
}

form.addEventListener("htmx:configRequest", (event) => {
  const { detail } = /** @type {CustomEvent} */ (event);
  if (detail.elt !== form) return;
  detail.parameters.set("autosave", String(Date.now())); // what was typed earlier never replaces what came later
  if (pressed) detail.parameters.set("action", pressed);
});

/** Said where the problems stand, until an answer takes its place. */
function notKept(reason) {
  const notices = /** @type {HTMLElement} */ (document.getElementById("notices"));
  const said = notices.querySelector("[data-not-kept]") ?? document.createElement("p");
  said.className = "message warning";
  said.setAttribute("data-not-kept", "");
  said.textContent = `What you typed last is not kept: ${reason}. Leave this page open.`;
  notices.prepend(said);
}
form.addEventListener("htmx:sendError", (event) => {
  if (/** @type {CustomEvent} */ (event).detail.elt !== form) return;
  notKept("the site cannot be reached, and is asked again every five seconds");
  checkSoon(5000);
});
form.addEventListener("htmx:responseError", (event) => {
  const { detail } = /** @type {CustomEvent} */ (event);
  if (detail.elt === form) notKept(`the site answered ${detail.xhr.status}`);
});

let focused = { id: "", from: 0, to: 0 };
form.addEventListener("htmx:beforeSwap", () => {
  const input = /** @type {HTMLInputElement} */ (document.activeElement);
  focused = { id: formPane.contains(input) ? input.id : "", from: input?.selectionStart ?? 0, to: input?.selectionEnd ?? 0 };
});

form.addEventListener("htmx:afterSwap", (event) => {
  if (/** @type {HTMLElement} */ (event.target).id !== "notices") return;
  settle();
  tidyRows(formPane);
  const done = pressed;
  pressed = "";
  if (done === "merge") text.value = now().textContent ?? "";
  if (done.includes(":")) focusAfter(done);
  else if (focused.id && document.activeElement?.id !== focused.id) {
    const input = /** @type {HTMLInputElement|null} */ (document.getElementById(focused.id));
    input?.focus({ preventScroll: true });
    if (input && /^(text|textarea)$/.test(input.type)) input.setSelectionRange(focused.from, focused.to);
  }
});

/** @param {string} action  The keyboard goes on where the button has put something. */
function focusAfter(action) {
  const [verb, prefix, number] = action.split(":");
  const group = formPane.querySelector(`[data-group="${prefix}"]`);
  if (!group) return;
  const rows = group.querySelectorAll(":scope > .card, :scope > .pair");
  const index = { add: rows.length - 1, up: Number(number) - 1, down: Number(number) + 1 }[verb];
  const row = index === undefined ? undefined : rows[Math.min(Math.max(index, 0), rows.length - 1)];
  const wanted = verb === "add" ? "input:not([type=hidden]), textarea, select" : `button[value^="${verb}:"]:not([disabled])`;
  const next = row?.querySelector(wanted) ?? row?.querySelector("button:not([disabled])");
  /** @type {HTMLElement|null} */ (next ?? group.querySelector(":scope > .btn"))?.focus();
}

// Both sides are shown where there is room, else the one that the switch says.
for (const pane of [formPane, jsonPane]) pane.hidden = false;
panes.dataset.shown = view.value;
for (const button of document.querySelectorAll("#switch button")) {
  const side = /** @type {HTMLButtonElement} */ (button).value;
  /** @type {HTMLButtonElement} */ (button).disabled = false;
  button.addEventListener("click", (event) => {
    event.preventDefault();
    panes.dataset.shown = side;
    for (const other of document.querySelectorAll("#switch button"))
      other.setAttribute("aria-pressed", String(other === button));
    text.dispatchEvent(new Event("scroll")); // its line numbers are as high as it is, now that it has a height
  });
}
settle();
tidyRows(formPane);
offerTags(form);

// Back after a save shows the page as it was left, and what it keeps is no draft any more: it begins anew.
form.addEventListener("submit", () => (form.dataset.sent = "yes"));
addEventListener("pageshow", (event) => event.persisted && form.dataset.sent && location.reload());
