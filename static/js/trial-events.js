// The table of a trial's events: filtered while one types, and each copied as JSON.

function filterRows(input, rows) {
  const count = document.getElementById("event-count");
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += Number(!row.hidden);
    }
    count.textContent = words.length ? `${shown} of ${rows.length}` : "";
  };
  input.closest(".event-filter").hidden = false;
  input.addEventListener("input", apply);
}

/** The event as docs/events.md has it. */
function eventOf(row, { copy, direction, tMs }) {
  const [, source, type] = [...row.cells].map((cell) => cell.textContent.trim());
  const payload = JSON.parse(row.querySelector("pre").textContent);
  return { seq: Number(copy), t_ms: Number(tMs), source, direction, type, payload };
}

async function copyEvent(button) {
  const text = JSON.stringify(eventOf(button.closest("tr"), button.dataset), null, 2);
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy"), 1500);
  } catch {
    prompt("The event as JSON", text);
  }
}

export function bindEvents() {
  const table = /** @type {HTMLTableElement|null} */ (document.getElementById("event-table"));
  const input = document.getElementById("event-filter");
  if (input) filterRows(input, [...table.tBodies[0].rows]);
  table?.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest("[data-copy]");
    if (button) copyEvent(button);
  });
}
