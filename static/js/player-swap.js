// From one recording to another of the same scenario: the same turn and the same offset within it, not the same second.
import { samePlace } from "./player-turns.js";

const lengthKnown = ({ audio }) =>
  audio.readyState > 0 ? null : new Promise((done) => audio.addEventListener("loadedmetadata", done, { once: true }));

/** Leaves `from` where it is and stands at its place in `to`, as fast and with the same side alone; plays on if it played. */
export async function swap(from, to) {
  const playing = !from.audio.paused;
  from.pause();
  await lengthKnown(to);
  to.speed(from.audio.playbackRate);
  to.solo(from.soloed());
  const [left, next] = [from, to].map((one) => ({ startsMs: one.startsMs, endMs: one.endMs() }));
  to.seek(samePlace(from.ms(), left, next) / 1000);
  if (playing) await to.play();
}
