// A wave on one canvas: peaks of samples, what is chosen or was played in full colour.

const BAR_PX = 2;
const STEP_PX = 3;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The samples of a WAV as the site makes them: PCM16, mono, 44 bytes of header. */
export const samplesOf = (buffer) => new Int16Array(buffer, 44, (buffer.byteLength - 44) >> 1);

/**
 * Loudest sample of each bar, from 0 to 1.
 * @param {Int16Array | Float32Array} samples
 */
export function loudness(samples, count) {
  const full = samples instanceof Int16Array ? 32768 : 1;
  const size = samples.length / Math.max(1, count);
  // a long call has millions of samples: some hundreds of each bar tell its height
  const step = Math.max(1, Math.floor(size / 400));
  return Float32Array.from({ length: count }, (_, bar) => {
    let top = 0;
    const end = Math.min(samples.length, (bar + 1) * size);
    for (let at = Math.floor(bar * size); at < end; at += step) top = Math.max(top, Math.abs(samples[at]));
    return top / full;
  });
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Int16Array | Float32Array} samples
 * @returns {(from: number, to: number) => void} draws it, what lies between the two shares of its length in full colour
 */
export function waveOn(canvas, samples) {
  const px = devicePixelRatio;
  let heights = new Float32Array();
  let width = 0;
  return (from, to) => {
    if (canvas.clientWidth !== width) {
      width = canvas.clientWidth;
      canvas.width = width * px;
      canvas.height = canvas.clientHeight * px;
      heights = loudness(samples, Math.max(1, Math.floor(width / STEP_PX)));
    }
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, canvas.width, canvas.height);
    const factor = 0.95 / Math.max(0.05, ...heights);
    heights.forEach((height, bar) => {
      const place = (bar + 0.5) / heights.length;
      context.fillStyle = place >= from && place <= to ? css("--caller") : css("--caller-soft-wave");
      const tall = Math.max(1, height * factor * canvas.height);
      context.fillRect(bar * STEP_PX * px, (canvas.height - tall) / 2, BAR_PX * px, tall);
    });
  };
}
