// Listening on pages with rows: a button [data-listen] plays its trial in the dock; X goes to the other side of the row,
// at the same turn and the same offset within it, whatever second that is.
import { bind } from "./keys.js";
import { createPlayer } from "./player.js";
import { playerHtml } from "./player-html.js";
import { bindLinks, hear, playerKeys } from "./player-keys.js";
import { swap } from "./player-swap.js";
import { turnAt } from "./player-turns.js";

const dock = /** @type {HTMLElement} */ (document.getElementById("dock"));
const part = (name) => /** @type {HTMLElement} */ (dock.querySelector(`[data-part="${name}"]`));
const KEPT = 8; // players: enough to go back and forth within a row
const known = new Map(); // trial -> the promise of its player, or of null where there is nothing to hear; the newest last
let current = null; // {button, player}
let asked = 0; // only what was asked for last is heard

/** The player of a trial, fetched unless it is among the last that were asked for. Raises an Error in words when it
 * cannot be had. */
function playerOf(trial) {
  const made = known.get(trial) ?? makePlayer(trial);
  known.delete(trial);
  known.set(trial, made);
  made.catch(() => known.get(trial) === made && known.delete(trial)); // the next click asks again
  letGo();
  return made;
}

/** Closes what was asked for longest ago, but for what is in the dock now. */
function letGo() {
  for (const [trial, made] of [...known].slice(0, -KEPT)) {
    if (trial === current?.button.dataset.listen) continue;
    known.delete(trial);
    made.then((player) => {
      player?.close();
      player?.box.parentElement.remove();
    }, () => null);
  }
}

async function makePlayer(trial) {
  const html = await playerHtml(trial);
  const holder = document.createElement("div");
  holder.innerHTML = html;
  part("body").append(holder);
  const player = createPlayer(holder.querySelector("[data-player]"));
  if (player) {
    bindLinks(player);
    player.audio.addEventListener("timeupdate", drawPlace);
  } else holder.remove();
  return player;
}

/** The buttons of the row that X goes through: of every side the same repeat, else the first. */
function sides(button) {
  const row = button.closest("[data-listen-row]");
  const own = row ? [...row.querySelectorAll("[data-listen][data-side]")] : [];
  const letters = [...new Set(own.map((one) => one.dataset.side))];
  return letters.map((letter) => {
    if (letter === button.dataset.side) return button;
    const others = own.filter((one) => one.dataset.side === letter);
    return others.find((one) => one.dataset.repeat === button.dataset.repeat) ?? others[0];
  });
}

function drawSides() {
  const all = sides(current.button);
  part("sides").hidden = all.length < 2;
  part("sides").replaceChildren(
    ...all.map((one) => {
      const side = document.createElement("button");
      side.type = "button";
      side.textContent = one.dataset.side;
      side.title = `${one.dataset.side}, repeat ${one.dataset.repeat ?? 1}, at the same turn (X)`;
      side.setAttribute("aria-pressed", String(one === current.button));
      side.addEventListener("click", () => change(one));
      return side;
    }),
  );
  part("open").setAttribute("href", current.player.box.dataset.page);
  drawPlace();
}

function drawPlace() {
  if (!current) return;
  const { startsMs, ms } = current.player;
  part("place").textContent = startsMs.length ? `turn ${turnAt(startsMs, ms()) + 1} of ${startsMs.length}` : "";
}

function show(button, player) {
  current?.button.removeAttribute("aria-pressed");
  current?.player.pause();
  for (const holder of part("body").children) holder.hidden = !holder.contains(player.box);
  dock.hidden = false;
  document.body.classList.add("docked");
  button.setAttribute("aria-pressed", "true");
  current = { button, player };
  player.lanes.draw();
  dispatchEvent(new Event("resize")); // drawn while it was hidden
  drawSides();
}

/** Plays a button's trial, from `ms` when given. */
export async function listen(button, ms = null) {
  const mine = (asked += 1);
  let player = null;
  try {
    player = await playerOf(button.dataset.listen);
  } catch (error) {
    if (mine !== asked) return;
    part("place").textContent = `It could not be fetched: ${error.message}.`;
    dock.hidden = false;
    return;
  }
  if (mine !== asked) return;
  if (!player) {
    button.disabled = true;
    button.title = "There is no recording";
    return;
  }
  show(button, player);
  if (ms !== null) player.seek(ms / 1000);
  if ("evidence" in button.dataset && player.ms() === 0 && hear(player)) return;
  await player.play();
}

/** To another side of the row, at the same turn. */
export async function change(button = null) {
  if (!current) return;
  const all = sides(current.button);
  const to = button ?? all[(all.indexOf(current.button) + 1) % all.length];
  if (!to || to === current.button) return;
  const { player: from, button: left } = current;
  const next = await playerOf(to.dataset.listen).catch(() => null);
  if (!next || current?.player !== from) return;
  // Space belongs to the focused button: it must stop what is heard now
  if (document.activeElement === left) to.focus({ preventScroll: true });
  const moved = swap(from, next);
  show(to, next);
  await moved;
}

document.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("[data-listen]");
  if (!button) return;
  const ms = button.dataset.atMs ? Number(button.dataset.atMs) : null;
  if (button === current?.button && ms === null) current.player.toggle();
  else listen(button, ms);
});
part("close").addEventListener("click", () => {
  asked += 1;
  current?.player.pause();
  current?.button.removeAttribute("aria-pressed");
  current?.button.focus({ preventScroll: true });
  current = null;
  dock.hidden = true;
  document.body.classList.remove("docked");
});
part("fold").addEventListener("click", (event) => {
  const folded = dock.classList.toggle("folded");
  event.currentTarget.setAttribute("aria-expanded", String(!folded));
  event.currentTarget.textContent = folded ? "unfold" : "fold";
  if (!folded) dispatchEvent(new Event("resize"));
});

bind([
  ...playerKeys(() => current?.player ?? null),
  { key: "X", label: "The other side, at the same turn", run: () => change() },
  { key: "x", label: "The same as X", run: () => change() },
]);
