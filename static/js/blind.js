// Listening blind: two recordings called first and second, X between them at the same turn, keys to say which is liked.
import { bind } from "./keys.js";
import { createPlayer } from "./player.js";
import { playerKeys } from "./player-keys.js";
import { swap } from "./player-swap.js";

const root = document.querySelector("[data-pair]");
const sides = [...root.querySelectorAll("[data-side]")];
const players = sides.map((side) => createPlayer(side.querySelector("[data-player]")));
let at = 0;

function show(to) {
  if (to === at) return;
  const from = players[at];
  at = to;
  sides.forEach((side, i) => (side.hidden = i !== at));
  for (const one of root.querySelectorAll("[data-which]")) one.setAttribute("aria-pressed", String(Number(one.dataset.which) === at));
  dispatchEvent(new Event("resize")); // what was hidden is drawn for the width it has now
  swap(from, players[at]);
}

root.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("[data-which]");
  if (button) show(Number(button.dataset.which));
});
const press = (value) => () => /** @type {HTMLElement|null} */ (root.querySelector(`[name="liked"][value="${value}"]`))?.click();
bind([
  ...playerKeys(() => players[at]).filter(({ key }) => !["E", "B", "K"].includes(key)),
  { key: "X", label: "The other recording, at the same turn", run: () => show(1 - at) },
  { key: "x", label: "The same as X", run: () => show(1 - at) },
  { key: "1", label: "The first is better", run: press("first") },
  { key: "2", label: "The second is better", run: press("second") },
  { key: "0", label: "No difference", run: press("neither") },
  { key: "N", label: "Next pair", run: () => document.getElementById("next-pair")?.click() },
]);
