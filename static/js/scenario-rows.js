// Rows of arguments and state, and tags: small help while typing. The server reads rows without it just as well.

const OPTIONS = { $approx: "tolerance", $phone: "region, such as US", $text: "nfkc, such as true" };
const BARE = ["$present", "$absent"];
const row = (/** @type {EventTarget|null} */ target) => /** @type {HTMLElement} */ (target).closest(".pair");

/** @param {Element} pair  Only cells that its matcher takes can be written in. */
function tidy(pair) {
  const match = /** @type {HTMLSelectElement|null} */ (pair.querySelector("select[name$='-match']"));
  if (!match) return;
  const value = /** @type {HTMLInputElement} */ (pair.querySelector("[name$='-value']"));
  const option = /** @type {HTMLInputElement} */ (pair.querySelector("[name$='-option']"));
  value.readOnly = BARE.includes(match.value);
  const takes = OPTIONS[/** @type {keyof typeof OPTIONS} */ (match.value)];
  option.placeholder = takes ?? "";
  option.readOnly = !takes;
}

/** @param {HTMLElement} within */
export function tidyRows(within) {
  for (const pair of within.querySelectorAll(".pair")) tidy(pair);
}

document.addEventListener("change", (event) => {
  const match = /** @type {HTMLSelectElement} */ (event.target);
  const pair = match.name?.endsWith("-match") && row(match);
  if (!pair) return;
  const value = /** @type {HTMLInputElement} */ (pair.querySelector("[name$='-value']"));
  const option = /** @type {HTMLInputElement} */ (pair.querySelector("[name$='-option']"));
  if (match.value === "" || BARE.includes(match.value)) value.value = "";
  if (!(match.value in OPTIONS)) option.value = "";
  tidy(pair);
});

// Before the editor's own listener looks: what is typed into an unchecked row is checked from then on.
document.addEventListener(
  "input",
  (event) => {
    const value = /** @type {HTMLInputElement} */ (event.target);
    const pair = value.name?.endsWith("-value") && row(value);
    const match = pair && /** @type {HTMLSelectElement|null} */ (pair.querySelector("select[name$='-match']"));
    if (match && match.value === "" && value.value !== "") {
      match.value = "is";
      tidy(pair);
    }
  },
  true,
);

/**
 * A list of suggestions completes a whole input, and tags stand several in one: each is offered behind those before it.
 * @param {HTMLElement} form
 */
export function offerTags(form) {
  const list = document.getElementById("known-tags");
  if (!list) return;
  const known = [...list.querySelectorAll("option")].map((option) => option.value);
  form.addEventListener("input", (event) => {
    const input = /** @type {HTMLInputElement} */ (event.target);
    if (input.name !== "tags") return;
    const comma = input.value.lastIndexOf(",");
    const before = comma < 0 ? "" : `${input.value.slice(0, comma + 1).trimEnd()} `;
    const given = input.value.split(",").map((tag) => tag.trim());
    list.replaceChildren(
      ...known.filter((tag) => !given.slice(0, -1).includes(tag)).map((tag) => Object.assign(document.createElement("option"), { value: before + tag })),
    );
  });
}
