// Lanes over the recording: labels that do not cover each other, a ruler, and what of the call is in view.

const ROW_REM = 1.4;
const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 600];
const GAP_PX = 4; // between a mark and a label to its left
const MARGIN_MS = 500; // seen before and after a turn

export const clock = (seconds) => {
  const tenths = Math.round(Math.max(0, Number.isFinite(seconds) ? seconds : 0) * 10);
  return `${Math.floor(tenths / 600)}:${String(Math.floor((tenths % 600) / 10)).padStart(2, "0")}.${tenths % 10}`;
};

/** Marks of a lane whose boxes or labels would cover each other go into rows of their own. */
function spread(track) {
  const ends = []; // of each row: how far right it is taken
  for (const mark of track.querySelectorAll(".mark:not(.dot)")) {
    const boxes = [mark, ...mark.children].map((one) => one.getBoundingClientRect());
    const left = Math.min(...boxes.map((one) => one.left));
    const row = ends.findIndex((end) => end < left);
    const at = row < 0 ? ends.length : row;
    ends[at] = Math.max(...boxes.map((one) => one.right));
    mark.style.top = `${0.2 + ROW_REM * at}rem`;
  }
  track.style.minHeight = ends.length > 1 ? `${0.2 + ROW_REM * ends.length}rem` : "";
}

function rule(ruler, view) {
  const seconds = view.span / 1000;
  const step = STEPS_S.find((one) => seconds / one <= 12) ?? 1200;
  ruler.replaceChildren();
  for (let n = Math.ceil(view.from / 1000 / step); n * step * 1000 < view.from + 0.97 * view.span; n++) {
    const tick = document.createElement("span");
    tick.className = "tick";
    tick.style.setProperty("--s", String(n * step * 1000));
    const text = clock(n * step);
    tick.textContent = step < 1 ? text : text.slice(0, -2);
    ruler.append(tick);
  }
}

/**
 * @param {HTMLElement} box the player
 * @param {AbortSignal} gone when it is not shown any more
 * @returns {{view: {from: number, span: number}, show: (from: number, to: number) => void, at: (x: number) => number,
 *   move: (ms: number) => void, around: (span: [number, number]) => void, whole: () => void}}
 */
export function makeLanes(box, gone) {
  const lanes = /** @type {HTMLElement} */ (box.querySelector(".player-lanes"));
  const duration = Math.max(1, Number(box.dataset.duration));
  const view = { from: 0, span: duration };
  const beyond = /** @type {HTMLElement} */ (lanes.querySelector(".beyond"));
  const playhead = /** @type {HTMLElement} */ (lanes.querySelector(".playhead"));
  const audio = Number(box.dataset.audio);
  beyond.hidden = !audio || duration - audio < 100;
  beyond.style.setProperty("--s", String(audio));

  /** A label that would leave the track on the right hangs to the left of its mark, where there is more room; one that has
   * no room on either side is cut at its end (its title says it whole). */
  function late() {
    const labels = [...lanes.querySelectorAll(".mark > span")];
    for (const label of labels) {
      label.parentElement.classList.remove("late");
      label.style.maxWidth = "";
    }
    const places = labels.map((label) => {
      const [own, mark, track] = [label, label.parentElement, label.closest(".track")].map((one) => one.getBoundingClientRect());
      const [left, right] = [mark.left - track.left, track.right - own.left];
      const hangs = own.right > track.right && left > track.right - mark.right;
      return { hangs, room: hangs ? left - GAP_PX : right };
    });
    labels.forEach((label, i) => {
      label.parentElement.classList.toggle("late", places[i].hangs);
      if (places[i].room > GAP_PX) label.style.maxWidth = `${places[i].room}px`; // marks out of view have none
    });
  }
  function draw() {
    lanes.style.setProperty("--from", String(view.from));
    lanes.style.setProperty("--span", String(view.span));
    late();
    for (const track of lanes.querySelectorAll(".lane:not(.wave) .track")) spread(track);
    rule(lanes.querySelector('[data-lane="ruler"]'), view);
  }
  function show(from, to) {
    view.from = Math.max(0, from);
    view.span = Math.max(200, Math.min(duration, to) - view.from);
    draw();
  }
  draw();
  const row = /** @type {HTMLElement|null} */ (lanes.querySelector('[data-lane-row="marks"]'));
  if (row) row.hidden = !row.querySelector(".mark");
  addEventListener("resize", draw, { signal: gone });
  return {
    view,
    draw,
    show,
    whole: () => show(0, duration),
    around: ([from, to]) => show(from - MARGIN_MS, to + MARGIN_MS),
    move: (ms) => playhead.style.setProperty("--at", String(ms)), // on the lanes, each frame would style every mark anew
    /** The moment in ms below a point of the screen. */
    at(x) {
      const box = lanes.querySelector(".track").getBoundingClientRect();
      return view.from + ((x - box.left) / box.width) * view.span;
    },
  };
}
