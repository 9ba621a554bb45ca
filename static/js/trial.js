// The trial page: two waves, lanes over the same time, a transcript that follows and seeks.
import WaveSurfer from "../vendor/wavesurfer.esm.js";
import { bind } from "./keys.js";
import { clock, createPlayer, playerKeys } from "./player.js";
import { makeTabs } from "./tabs.js";

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const HEIGHT = 66;
const WAVES = [
  { wave: "--caller-soft-wave", played: "--caller" },
  { wave: "--agent-soft-wave", played: "--agent" },
];

/** One number per bin: what is drawn is symmetrical, so the larger of both peaks. */
const drawn = ({ low, high }) => high.map((up, i) => Math.max(up, -low[i]) / 128);

/** Quiet recordings are drawn larger, both channels by the same factor, so that they stay comparable. */
function scale(peaks) {
  const loudest = Math.max(0.05, ...[peaks.caller, peaks.agent].map((one) => drawn(one).reduce((a, b) => Math.max(a, b), 0)));
  return 0.95 / loudest;
}

function channels() {
  return WAVES.map(({ wave, played }) => ({ waveColor: css(wave), progressColor: css(played), height: HEIGHT }));
}

async function drawWaves(box, audio) {
  const answer = await fetch(box.dataset.peaks);
  if (!answer.ok) throw new Error(`peaks: ${answer.status}`);
  const peaks = await answer.json();
  const waves = WaveSurfer.create({
    container: box.querySelector('[data-lane="waves"]'),
    media: audio,
    peaks: [drawn(peaks.caller), drawn(peaks.agent)],
    duration: peaks.samples / peaks.rate_hz,
    splitChannels: channels(),
    barHeight: scale(peaks),
    barWidth: 2,
    barGap: 1,
    cursorWidth: 0,
    hideScrollbar: true,
    interact: true,
  });
  document.addEventListener("themechange", () => waves.setOptions({ splitChannels: channels() }));
  return waves;
}

const ROW_REM = 1.4;

/** Marks of a lane whose boxes or labels would cover each other go into rows of their own. */
function spread(track) {
  const ends = []; // of each row: how far right it is taken
  for (const mark of track.querySelectorAll(".mark")) {
    const boxes = [mark, ...mark.children].map((one) => one.getBoundingClientRect());
    const left = Math.min(...boxes.map((one) => one.left));
    const row = ends.findIndex((end) => end < left);
    const at = row < 0 ? ends.length : row;
    ends[at] = Math.max(...boxes.map((one) => one.right));
    mark.style.top = `${0.2 + ROW_REM * at}rem`;
  }
  if (ends.length > 1) track.style.minHeight = `${0.2 + ROW_REM * ends.length}rem`;
}

function drawLanes(box, lanes, seek) {
  const total = lanes.duration_ms;
  const percent = (ms) => `${(100 * Math.max(0, Math.min(ms, total))) / total}%`;
  for (const mark of lanes.marks) {
    const track = box.querySelector(`[data-lane="${mark.lane}"]`);
    if (!track) continue;
    const one = document.createElement("button");
    one.type = "button";
    one.className = `mark ${mark.kind}`;
    one.style.left = percent(mark.start_ms);
    one.style.width = `calc(${percent(mark.end_ms)} - ${percent(mark.start_ms)})`;
    one.title = `${mark.label}, ${clock(mark.start_ms / 1000)} to ${clock(mark.end_ms / 1000)}`;
    const label = document.createElement("span");
    label.textContent = mark.label;
    one.append(label);
    // a label that would leave the track on the right hangs to the left of its mark; a bracket's stands behind its end
    if ((mark.kind === "wait" ? mark.end_ms : mark.start_ms) > 0.8 * total) one.classList.add("late");
    one.addEventListener("click", () => seek(mark.start_ms / 1000));
    track.append(one);
  }
  for (const track of box.querySelectorAll(".track")) spread(track);
  const step = [0.5, 1, 2, 5, 10, 30, 60, 300].find((s) => total / 1000 / s <= 12) ?? 600;
  const ruler = box.querySelector('[data-lane="ruler"]');
  for (let s = 0; s * 1000 < total; s += step) {
    const tick = document.createElement("span");
    tick.className = "tick";
    tick.style.left = percent(s * 1000);
    tick.textContent = `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}${s % 1 ? ".5" : ""}`;
    ruler.append(tick);
  }
}

function follow(box, audio, lanes) {
  const head = /** @type {HTMLElement|null} */ (box?.querySelector(".playhead"));
  const rows = [...document.querySelectorAll(".turn[data-at]")];
  const move = () => {
    const ms = audio.currentTime * 1000;
    head?.style.setProperty("--at", String(ms / lanes.duration_ms));
    let now = null;
    for (const row of rows) if (Number(row.dataset.at) <= ms + 1) now = row;
    rows.forEach((row) => row.classList.toggle("now", row === now && audio.currentTime > 0));
    if (!audio.paused) requestAnimationFrame(move);
  };
  for (const name of ["play", "pause", "seeked", "timeupdate"]) audio.addEventListener(name, move);
}

function start() {
  for (const root of document.querySelectorAll("[data-tabs]")) makeTabs(root);
  const go = (id) => () => document.getElementById(id)?.click();
  bind([
    { key: "h", label: "Previous trial", run: go("previous") },
    { key: "l", label: "Next trial", run: go("next") },
    { key: "C", label: "Compare", run: go("compare") },
  ]);
  const bar = document.querySelector("[data-player]");
  const player = bar && createPlayer(bar);
  if (!player) return;
  const lanes = JSON.parse(document.getElementById("lanes").textContent);
  const box = /** @type {HTMLElement} */ (document.querySelector(".lanes"));
  drawLanes(box, lanes, player.seek);
  follow(box, player.audio, lanes);
  drawWaves(box, player.audio).catch((error) => {
    box.querySelector('[data-lane="waves"]').textContent = `The waves could not be drawn (${error.message}); the recording still plays.`;
  });
  const hear = document.getElementById("hear");
  hear?.addEventListener("click", () => player.playSpan(hear.dataset.from / 1000, hear.dataset.to / 1000));
  document.addEventListener("click", (event) => {
    const at = /** @type {HTMLElement} */ (event.target).closest("[data-seek]");
    if (at) player.seek(Number(at.dataset.seek) / 1000);
  });
  const jump = (forward) => () => {
    const now = player.audio.currentTime * 1000;
    const starts = lanes.turn_starts_ms;
    const to = forward ? starts.find((s) => s > now + 1) : starts.findLast((s) => s < now - 500);
    if (to !== undefined) player.seek(to / 1000);
  };
  bind([
    ...playerKeys(player),
    { key: "[", label: "Previous turn", run: jump(false) },
    { key: "]", label: "Next turn", run: jump(true) },
    { key: "E", label: "Hear the evidence", run: go("hear") },
  ]);
  const at = Number(new URLSearchParams(location.search).get("t"));
  if (at > 0) player.audio.addEventListener("loadedmetadata", () => player.seek(at), { once: true });
}
start();
