// Listening on the comparison page: any trial plays in the bar below, X changes to the other side at the same moment.
import { bind } from "./keys.js";
import { createPlayer, playerKeys } from "./player.js";

const bar = /** @type {HTMLElement} */ (document.querySelector("[data-player]"));
const player = createPlayer(bar);
/** @type {HTMLElement|null} */
let playing = null;

const change = document.createElement("button");
change.type = "button";
change.className = "btn";
change.disabled = true;
change.innerHTML = '<span data-part="side">A | B</span> <kbd>X</kbd>';
change.setAttribute("aria-label", "Change to the other configuration");
change.addEventListener("click", toSide);
bar.querySelector('[data-part="label"]')?.before(change);

/** Its counterpart in the row: the same repeat of the other side, else that side's first. */
function counterpart(button) {
  const own = [...button.closest("tr").querySelectorAll("[data-wav]")].filter((one) => one.dataset.side !== button.dataset.side);
  return own.find((one) => one.dataset.repeat === button.dataset.repeat) ?? own[0] ?? null;
}

function show(button) {
  playing?.removeAttribute("aria-pressed");
  playing = button;
  button.setAttribute("aria-pressed", "true");
  const other = counterpart(button);
  change.disabled = other === null;
  change.querySelector('[data-part="side"]').textContent = other ? `${button.dataset.side} | ${other.dataset.side}` : button.dataset.side;
  player.load(button.dataset.wav, button.dataset.label);
}

function toSide() {
  const other = playing && counterpart(playing);
  if (!other) return;
  const { currentTime, paused } = player.audio;
  const rate = player.audio.playbackRate;
  // Space belongs to the focused button: it must stop what is heard now
  if (document.activeElement === playing) other.focus({ preventScroll: true });
  show(other);
  player.audio.addEventListener(
    "loadedmetadata",
    () => {
      player.speed(rate);
      player.seek(Math.min(currentTime, player.audio.duration));
      if (!paused) player.play();
    },
    { once: true },
  );
}

document.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("[data-wav]");
  if (!button) return;
  if (button === playing) {
    player.toggle();
    return;
  }
  show(button);
  player.play();
});

bind([
  ...playerKeys(player),
  { key: "X", label: "The other configuration, at the same moment", run: toSide },
  { key: "x", label: "The same as X", run: toSide },
]);
