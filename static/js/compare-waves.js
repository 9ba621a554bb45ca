// Waves of an open row, turn by turn: both sides start at the left, to one scale, caller above and agent below.

const BAR_PX = 3;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
/** @type {Map<string, Promise<any>>} */
const known = new Map();

function peaksOf(url) {
  if (!known.has(url)) known.set(url, fetch(url).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null));
  return known.get(url);
}

/** The loudest of the bins from `first` up to `last`, from 0 to 1. */
function loudest(side, first, last) {
  let top = 0;
  for (let bin = Math.max(0, first); bin < last && bin < side.high.length; bin++)
    top = Math.max(top, side.high[bin], -side.low[bin]);
  return top / 128;
}

function paint(canvas, peaks, from, to, share) {
  const px = devicePixelRatio;
  canvas.style.width = `${Math.max(2, 100 * share)}%`;
  canvas.width = canvas.clientWidth * px;
  canvas.height = canvas.clientHeight * px;
  const context = canvas.getContext("2d");
  const middle = canvas.height / 2;
  const count = Math.floor(canvas.clientWidth / BAR_PX);
  [peaks.caller, peaks.agent].forEach((side, place) => {
    if (!side) return;
    context.fillStyle = css(place ? "--agent" : "--caller");
    for (let i = 0; i < count; i++) {
      const at = (n) => Math.floor((from + ((to - from) * n) / count) / peaks.bin_ms);
      const tall = Math.max(px, Math.min(1, 1.6 * loudest(side, at(i), Math.max(at(i) + 1, at(i + 1)))) * middle);
      context.fillRect(i * BAR_PX * px, place ? middle : middle - tall, (BAR_PX - 1) * px, tall);
    }
  });
}

/** Draws every wave of the row; the longest turn takes the whole width. */
export async function drawTurns(row) {
  const canvases = [...row.querySelectorAll("canvas[data-peaks]")];
  const span = ({ dataset }) => Number(dataset.to) - Number(dataset.from);
  const longest = Math.max(1, ...canvases.map(span));
  for (const canvas of canvases) {
    const peaks = await peaksOf(canvas.dataset.peaks);
    if (peaks) paint(canvas, peaks, Number(canvas.dataset.from), Number(canvas.dataset.to), span(canvas) / longest);
    else canvas.remove();
  }
}

const redraw = () => document.querySelectorAll("tr.opened").forEach(drawTurns);
addEventListener("resize", redraw);
document.addEventListener("themechange", redraw);
