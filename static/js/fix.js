// Fix it here, beside a failed trial: opens and closes the panel. On a page of its own there is nothing to close.
import { bind } from "./keys.js";
import { followPlayer } from "./tried-player.js";

const side = document.getElementById("fix-side");
const opener = document.getElementById("fix-it");

function open() {
  side.hidden = false;
  for (const button of side.querySelectorAll("[data-close-side]")) button.hidden = false;
}

function close() {
  side.hidden = true;
  side.querySelector("audio")?.pause();
  opener?.focus();
}

if (side) {
  bind([{ key: "F", label: "Fix it here", run: () => opener?.click() }]);
  let wasOpen = false;
  side.addEventListener("htmx:afterSettle", () => {
    open();
    if (!wasOpen) side.querySelector("textarea")?.focus();
    wasOpen = true;
  });
  side.addEventListener("click", (event) => {
    if (/** @type {HTMLElement} */ (event.target).closest("[data-close-side]")) {
      close();
      wasOpen = false;
    }
  });
  side.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    close();
    wasOpen = false;
  });
}
followPlayer(side ?? document.getElementById("fix-page"));
