// From one recording to another of the same scenario: the same turn and the same offset within it, not the same second.
import { samePlace } from "./player-turns.js";

const lengthKnown = ({ audio }) =>
  audio.readyState > 0 ? null : new Promise((done) => audio.addEventListener("loadedmetadata", done, { once: true }));

let pending = null; // the swap that waits until the length of where it goes is known

/** Leaves `from` where it is and stands at its place in `to`, as fast and with the same side alone; plays on if it played. */
export async function swap(from, to) {
  const late = pending?.to === from ? pending : null; // swapped again before it had arrived: nothing is there to go by
  const origin = late ? late.from : from;
  const playing = late ? late.playing : !from.audio.paused;
  const mine = (pending = { from: origin, to, playing });
  from.pause();
  if (origin !== to) await lengthKnown(to);
  if (pending !== mine) return;
  pending = null;
  if (origin !== to) standAt(origin, to);
  if (playing) await to.play();
}

function standAt(from, to) {
  to.speed(from.audio.playbackRate);
  to.solo(from.soloed());
  const [left, next] = [from, to].map((one) => ({ startsMs: one.startsMs, endMs: one.endMs() }));
  to.seek(samePlace(from.ms(), left, next) / 1000);
}
