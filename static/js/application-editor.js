// The form of an application: its buttons change rows and tools in place. Without it they load the page anew.
import { checkSoon } from "./editor.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("editor"));
const panes = /** @type {HTMLElement} */ (document.getElementById("application-panes"));
const CHANGES = /^(add|remove|up|down|add-tool|drop-tool)(:|$)/;

form.addEventListener("click", async (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("button[name=action]");
  if (!(button instanceof HTMLButtonElement) || !CHANGES.test(button.value) || !panes.contains(button)) return;
  event.preventDefault();
  const before = new Set([...panes.querySelectorAll("input, textarea, select")].map(({ id }) => id));
  const sent = new FormData(form);
  sent.set("action", button.value);
  panes.inert = true;
  try {
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body: sent });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("application-panes");
    if (!answer.ok || !fresh) throw new Error(`the server answered ${answer.status}`);
    panes.replaceChildren(...fresh.childNodes);
    panes.inert = false;
    focusNew(before, button.value);
    checkSoon(0);
  } catch (error) {
    console.warn("The rows are changed by loading the page:", error);
    panes.inert = false;
    form.requestSubmit(button);
  }
});

/** @param {Set<string>} before @param {string} action  The keyboard goes on at what the button has put there. */
function focusNew(before, action) {
  const fields = [...panes.querySelectorAll("input:not([type=hidden]), textarea, select")];
  const added = fields.find(({ id }) => !before.has(id));
  const group = panes.querySelector(`[data-group="${action.split(":")[1]}"] > .btn`);
  /** @type {HTMLElement|null} */ (added ?? group ?? panes.querySelector(".tool-buttons .btn"))?.focus();
}
