// The trial page: its player, a transcript that follows and seeks, tabs, the review form and the table of events.
import { bind } from "./keys.js";
import { drawMark, listMoments, storeMark } from "./marks.js";
import { createPlayer } from "./player.js";
import { bindLinks, followLink, hear, playerKeys } from "./player-keys.js";
import { clock } from "./player-lanes.js";
import { reviewKeys } from "./review.js";
import { makeTabs } from "./tabs.js";
import { bindEvents } from "./trial-events.js";

function follow(audio) {
  const rows = [...document.querySelectorAll(".turn[data-at]")];
  const move = () => {
    const ms = audio.currentTime * 1000;
    let now = null;
    for (const row of rows) if (Number(row.dataset.at) <= ms + 1) now = row;
    rows.forEach((row) => row.classList.toggle("now", row === now && audio.currentTime > 0));
  };
  for (const name of ["play", "pause", "seeked", "timeupdate"]) audio.addEventListener(name, move);
}

async function mark(player) {
  const said = player.box.querySelector('[data-part="problem"]');
  try {
    const made = await storeMark(player.box.dataset.trial, Math.max(0, Math.round(player.ms())));
    drawMark(player, made);
    said.textContent = `Marked ${clock(made.at_ms / 1000)}.`;
    await listMoments().catch(() => null); // the mark is kept, whether its list can be had or not
  } catch (error) {
    said.textContent = `Nothing was marked: ${error.message}`;
  }
}

function start() {
  for (const root of document.querySelectorAll("[data-tabs]")) makeTabs(root);
  const go = (id) => () => document.getElementById(id)?.click();
  bind([
    { key: "h", label: "Previous trial", run: go("previous") },
    { key: "l", label: "Next trial", run: go("next") },
    { key: "C", label: "The same scenario in the baseline, or another configuration", run: go("opposite") },
  ]);
  const form = document.querySelector("form[data-review]");
  if (form) bind(reviewKeys(form));
  bindEvents();
  const box = document.querySelector("[data-player]");
  const player = box && createPlayer(box);
  if (!player) return;
  bind(playerKeys(() => player));
  bind([{ key: "M", label: "Mark this moment", run: () => mark(player) }]);
  bindLinks(player);
  follow(player.audio);
  document.getElementById("hear")?.addEventListener("click", () => hear(player));
  document.addEventListener("click", (event) => {
    const at = /** @type {HTMLElement} */ (event.target).closest("[data-seek]");
    if (at && !box.contains(at)) player.seek(Number(at.dataset.seek) / 1000);
  });
  const here = /** @type {HTMLButtonElement|null} */ (document.getElementById("moment-here"));
  here?.addEventListener("click", () => player.ms() > 0 && (here.value = String(player.ms() / 1000)));
  followLink(player);
}
start();
