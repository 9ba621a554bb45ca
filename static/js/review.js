// The review form by keys alone: verdict, fault, scores, note, save and next. Which key does what stands on the form.

/**
 * The form's keys, for keys.js.
 * @param {HTMLFormElement} form of templates/runs_app/trial_review.html
 */
export function reviewKeys(form) {
  const rows = [...form.querySelectorAll(".score-row")];
  const note = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("note"));
  let chosen = 0;

  const open = () => document.querySelector('.tabs a[href="#review"]')?.click();
  function choose(place) {
    chosen = (place + rows.length) % rows.length;
    rows.forEach((row, i) => row.classList.toggle("chosen", i === chosen));
  }
  function pick(input) {
    open();
    input.checked = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }
  const radio = (input) => ({ key: input.dataset.key, label: words(input), run: () => pick(input) });
  const words = (input) => (input.name === "verdict" ? `My verdict: ${input.value || "none"}` : `Fault: ${input.value || "nobody's"}`);
  function score(key) {
    const row = rows[chosen];
    pick(row.querySelector(`[data-score="${key}"]`));
    if (key !== "0") choose(chosen + 1);
  }
  function save(then) {
    const button = form.querySelector(`button[value="${then}"]`);
    form.requestSubmit(button);
  }

  // A trial that passed is no fault of the agent: who says one thing takes back the other.
  form.addEventListener("change", ({ target }) => {
    const at = (name, value) => /** @type {HTMLInputElement} */ (form.querySelector(`input[name="${name}"][value="${value}"]`));
    if (target.name === "fault" && target.value === "agent" && at("verdict", "passed").checked) at("verdict", "failed").checked = true;
    if (target.name === "verdict" && target.value === "passed" && at("fault", "agent").checked) at("fault", "").checked = true;
    const row = target.closest(".score-row");
    if (row) choose(rows.indexOf(row));
  });
  note.addEventListener("keydown", (event) => {
    if (event.key === "Escape") note.blur();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save("next");
  });
  choose(0);

  return [
    ...[...form.querySelectorAll("[data-key]")].map(radio),
    ...["1", "2", "3", "4", "5"].map((key) => ({ key, label: `Score ${key} of 5 for the chosen dimension`, run: () => score(key) })),
    { key: "0", label: "No score for the chosen dimension", run: () => score("0") },
    { key: "d", label: "Next dimension", run: () => (open(), choose(chosen + 1)) },
    { key: "D", label: "Previous dimension", run: () => (open(), choose(chosen - 1)) },
    { key: "n", label: "Write a note (Escape leaves it, Ctrl+Enter saves)", run: () => (open(), note.focus()) },
    { key: "Enter", label: "Save the review, next trial", run: () => save("next") },
  ];
}
