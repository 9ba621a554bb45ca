// What a try leaves behind can be heard: the player of the conversation that was just fetched, and moments that seek.
import { bind } from "./keys.js";
import { createPlayer } from "./player.js";
import { bindLinks, playerKeys } from "./player-keys.js";

const told = /** @type {HTMLElement} */ (document.getElementById("try-told"));
let player = null;

/** Binds the player that is shown now; one that was swapped away lets go of its sound. */
function bindPlayer() {
  const box = /** @type {HTMLElement|null} */ (told.querySelector("[data-player]"));
  if (box === (player?.box ?? null)) return;
  player?.close();
  player = box && createPlayer(box);
  if (player) bindLinks(player);
}

bind(playerKeys(() => player));
told.addEventListener("htmx:afterSettle", bindPlayer);
told.addEventListener("click", (event) => {
  const at = /** @type {HTMLElement} */ (event.target).closest("[data-seek]");
  if (at && player && !player.box.contains(at)) player.seek(Number(at.getAttribute("data-seek")) / 1000);
});
bindPlayer();
