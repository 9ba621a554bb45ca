// One table of keys per page: handlers and the help dialog are made from the same entries.

/** @type {{key: string, label: string, run: (event: KeyboardEvent) => void}[]} */
const entries = [];

const CHOICES = "input[type=radio], input[type=checkbox]";
const typing = (target) =>
  target instanceof HTMLElement && !target.matches(CHOICES) && target.closest("input, textarea, select, [contenteditable]");

/**
 * Bind keys of this page.
 * @param {{key: string, label: string, run: (event: KeyboardEvent) => void}[]} keys
 */
export function bind(keys) {
  entries.push(...keys);
}

export function showHelp() {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("keys"));
  const rows = entries.map(({ key, label }) => {
    const row = document.createElement("tr");
    const name = document.createElement("td");
    const kbd = document.createElement("kbd");
    kbd.textContent = key === " " ? "Space" : key;
    name.append(kbd);
    const text = document.createElement("td");
    text.textContent = label;
    row.append(name, text);
    return row;
  });
  dialog.querySelector("tbody").replaceChildren(...rows);
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
  // what is focused and can be pressed keeps its own Space and Enter
  const own = event.target instanceof HTMLElement && event.target.closest(`button, a, summary, ${CHOICES}`);
  // (a button that closed its own dialog has the focus until the next frame)
  if (own?.checkVisibility() && (event.key === " " || event.key === "Enter")) return;
  const found = entries.find(({ key }) => key === event.key);
  if (!found) return;
  event.preventDefault();
  found.run(event);
});
