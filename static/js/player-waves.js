// The two waves: peaks that were computed when the trial ended, drawn for what is in view.

const BAR_PX = 2;
const STEP_PX = 3;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** One number from 0 to 1 per bin, as what is drawn is symmetrical. */
const loudness = ({ low, high }) => Float32Array.from(high, (up, i) => Math.max(up, -low[i]) / 128);

/** Quiet recordings are drawn larger, both sides by the same factor, so that they stay comparable. */
function scale(sides) {
  let loudest = 0.05;
  for (const side of sides) for (const value of side) loudest = Math.max(loudest, value);
  return 0.95 / loudest;
}

/** The loudest bin below each bar of the view. */
function bars(side, binMs, view, width) {
  const count = Math.floor(width / STEP_PX);
  return Float32Array.from({ length: count }, (_, i) => {
    const first = Math.floor((view.from + (view.span * i) / count) / binMs);
    const last = Math.max(first + 1, Math.ceil((view.from + (view.span * (i + 1)) / count) / binMs));
    let top = 0;
    for (let bin = Math.max(0, first); bin < last && bin < side.length; bin++) top = Math.max(top, side[bin]);
    return top;
  });
}

function paint(canvas, heights, factor, played, colours) {
  const [soft, full] = colours;
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  const px = devicePixelRatio;
  heights.forEach((height, i) => {
    const tall = Math.max(1, height * factor * canvas.height);
    context.fillStyle = i < played ? full : soft;
    context.fillRect(i * STEP_PX * px, (canvas.height - tall) / 2, BAR_PX * px, tall);
  });
}

/**
 * @param {HTMLElement} box the player
 * @param {{from: number, span: number}} view ms of the recording that are in view; changed in place by the lanes
 * @returns {Promise<{redraw: () => void, progress: (ms: number) => void}>}
 */
export async function drawWaves(box, view) {
  const answer = await fetch(box.dataset.peaks);
  if (!answer.ok) throw new Error(`the site answered ${answer.status}`);
  const peaks = await answer.json();
  const sides = [peaks.caller, peaks.agent].filter(Boolean).map(loudness);
  const canvases = [...box.querySelectorAll(".wave canvas")];
  const factor = scale(sides);
  let heights = [];
  let colours = [];
  let playedTo = -1;

  function progress(ms) {
    const played = Math.round(((ms - view.from) / view.span) * (heights[0]?.length ?? 0));
    if (played === playedTo) return;
    playedTo = played;
    canvases.forEach((canvas, i) => heights[i] && paint(canvas, heights[i], factor, played, colours[i]));
  }

  function redraw() {
    colours = [
      [css("--caller-soft-wave"), css("--caller")],
      [css("--agent-soft-wave"), css("--agent")],
    ];
    canvases.forEach((canvas) => {
      canvas.width = canvas.clientWidth * devicePixelRatio;
      canvas.height = canvas.clientHeight * devicePixelRatio;
    });
    heights = sides.map((side, i) => bars(side, peaks.bin_ms, view, canvases[i]?.clientWidth ?? 0));
    playedTo = -1;
  }
  redraw();
  box.dataset.waves = "drawn";
  return { redraw, progress };
}
