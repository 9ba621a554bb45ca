// The player of a conversation that pages fetch after a try: bound when it comes, let go of when it is swapped away.
import { createPlayer } from "./player.js";
import { bindLinks } from "./player-keys.js";

/**
 * @param {HTMLElement} root  what the conversations are swapped into
 * @returns {() => any} the player that is there now, or null
 */
export function followPlayer(root) {
  let player = null;
  const look = () => {
    const box = /** @type {HTMLElement|null} */ (root.querySelector("[data-player]"));
    if (box === (player?.box ?? null)) return;
    player?.close();
    player = box && createPlayer(box);
    if (player) bindLinks(player);
  };
  root.addEventListener("htmx:afterSettle", look);
  root.addEventListener("click", (event) => {
    const at = /** @type {HTMLElement} */ (event.target).closest("[data-seek]");
    if (at && player && !player.box.contains(at)) player.seek(Number(at.getAttribute("data-seek")) / 1000);
  });
  look();
  return () => player;
}
