// The failure playlist: plays only the window of each failure, waits a moment for a fault, and goes on.
import { bind } from "./keys.js";
import { createPlayer } from "./player.js";
import { bindLinks, playerKeys } from "./player-keys.js";
import { playerHtml } from "./player-html.js";
import { post } from "./post.js";

const PAUSE_MS = 2500; // after a window, before the next: time to press 1 to 4
const SEEN_MS = 1500; // shown around a window

const root = /** @type {HTMLElement} */ (document.querySelector("[data-playlist]"));
const items = [...root.querySelectorAll("[data-item]")];
const part = (name, within = root) => /** @type {HTMLElement} */ (within.querySelector(`[data-part="${name}"]`));
const said = (text) => (part("said").textContent = text);
let at = Number(root.dataset.begin);
let player = null;
let playing = false; // whether it shall play once it is there
let waiting = null; // the timer between two failures
const chosen = { side: "both", rate: 1 }; // by the listener: it holds for those that follow
let asked = 0; // who was asked for twice is heard once

const goesOn = () => /** @type {HTMLInputElement} */ (part("auto")).checked;
const windowOf = (item) => [Number(item.dataset.from), Number(item.dataset.to)];

function drawFault() {
  const item = items[at];
  part("fault", item).textContent = item.dataset.set;
  for (const one of root.querySelectorAll("button[data-fault]"))
    one.setAttribute("aria-pressed", String(Boolean(one.dataset.fault) && one.dataset.fault === item.dataset.set));
}

function draw() {
  items.forEach((item, i) => (i === at ? item.setAttribute("aria-current", "true") : item.removeAttribute("aria-current")));
  items[at].scrollIntoView({ block: "nearest" });
  const item = items[at];
  part("count").textContent = `${at + 1} of ${items.length}`;
  part("context").textContent = `${item.querySelector("a").textContent}: ${part("why", item).textContent}`;
  drawFault();
}

/** Whoever hears it again, or judges it, is not led on by the clock. */
function stay() {
  if (waiting === null) return;
  clearTimeout(waiting);
  waiting = null;
  said("");
}

function leave() {
  stay();
  said("");
  if (!player) return;
  chosen.rate = player.audio.playbackRate;
  if (player.hasSides) chosen.side = player.soloed();
  player.close();
  player = null;
}

/** Back to the start of the window, which holds wherever the listener goes within it. */
function cue() {
  const [from, end] = windowOf(items[at]);
  player.cue(from / 1000, end / 1000, true);
}

/** Shows a failure; hears it unless told to wait for the listener. */
async function go(to, hears = true) {
  leave();
  playing = hears;
  const mine = (asked += 1);
  at = Math.max(0, Math.min(to, items.length - 1));
  draw();
  const item = items[at];
  post("/playlist/place/", { playlist: root.dataset.playlist, trial: item.dataset.item }).catch((error) =>
    said(`The place was not kept: ${error.message}.`),
  );
  const stage = part("stage");
  let text;
  try {
    text = await playerHtml(item.dataset.item);
  } catch (error) {
    if (mine === asked) stage.textContent = `It cannot be heard: ${error.message}.`;
    return;
  }
  if (mine !== asked) return; // another one was asked for meanwhile
  stage.innerHTML = text;
  player = createPlayer(stage.querySelector("[data-player]"));
  if (!player) return pass();
  bindLinks(player);
  player.solo(chosen.side);
  player.speed(chosen.rate);
  const [from, end] = windowOf(item);
  player.window(from - SEEN_MS, end + SEEN_MS);
  player.box.addEventListener("spanend", heard);
  player.audio.addEventListener("play", stay); // heard again: the next one waits
  cue();
  if (playing) player.play();
}

/** Nothing is left of it but what was written down. */
function pass() {
  said("Its recording is not in storage any more.");
  if (playing && goesOn()) waiting = setTimeout(next, PAUSE_MS);
}

function hearIt() {
  cue();
  return player.play();
}

function heard() {
  if (!player) return; // closed meanwhile
  cue(); // Space hears it again
  stay();
  if (!goesOn()) return;
  said(at + 1 < items.length ? "The next one follows." : "");
  waiting = setTimeout(next, PAUSE_MS);
}

function next() {
  if (at + 1 < items.length) return go(at + 1);
  stay();
  player?.pause();
  const set = items.filter((item) => item.dataset.set).length;
  said(`That was the last one. ${set} of ${items.length} have a fault.`);
  return post("/playlist/place/", { playlist: root.dataset.playlist }).catch((error) => said(error.message));
}

/** Whose fault it was; a key goes on at once. */
async function judge(fault) {
  const item = items[at];
  stay();
  try {
    const { fault: kept } = await post(`/trials/${item.dataset.item}/fault/`, { fault });
    item.dataset.set = kept;
    part("fault", item).textContent = kept;
    if (item === items[at]) drawFault();
    if (kept && item === items[at] && goesOn()) next();
  } catch (error) {
    said(`The fault was not kept: ${error.message}.`);
  }
}

root.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("button");
  if (!button) return;
  if ("go" in button.dataset) go(items.indexOf(button.closest("[data-item]")));
  else if (button.dataset.fault !== undefined) judge(button.dataset.fault);
  else if (button.dataset.part === "next") next();
  else if (button.dataset.part === "previous") go(at - 1);
  else if (button.dataset.part === "restart") go(0);
  if (button.dataset.part === "restart") part("left-off").remove();
});

const keys = [
  { key: "N", label: "Next failure", run: () => next() },
  { key: "n", label: "The same as N", run: () => next() },
  { key: "P", label: "Previous failure", run: () => go(at - 1) },
  { key: "p", label: "The same as P", run: () => go(at - 1) },
  { key: "O", label: "Open the trial", run: () => items[at].querySelector("a").click() },
  ...[...root.querySelectorAll("button[data-fault]")].map((button, i, all) => ({
    key: i + 1 < all.length ? String(i + 1) : "0",
    label: button.dataset.fault ? `The fault is the ${button.dataset.fault}'s` : "Take the fault back",
    run: () => judge(button.dataset.fault),
  })),
];
const changed = {
  E: { label: "Hear the window again", run: () => player && hearIt() },
  " ": { run: () => (player ? player.toggle() : (playing = !playing)) }, // while it is fetched, what is to be done then
};
const own = playerKeys(() => player).map((entry) => ({ ...entry, ...changed[entry.key] }));
bind([...own, ...keys]);
part("auto").addEventListener("change", stay);
go(at, false);
