// Places within turns: the same turn and the same offset in another recording, and the stretch of a turn.

/** Which turn a moment belongs to. What lies before the first turn counts to it. */
export function turnAt(startsMs, ms) {
  let turn = 0;
  startsMs.forEach((start, i) => {
    if (start <= ms + 1) turn = i;
  });
  return turn;
}

/** [from, to) of a turn in ms, up to the start of the next one or the end of the recording. */
export const turnSpan = (startsMs, turn, endMs) => [startsMs[turn] ?? 0, startsMs[turn + 1] ?? endMs];

/**
 * Where to go on in another recording: the same turn, the same offset within it. A shorter turn is heard from its last
 * moment, a call with fewer turns from its last turn.
 * @param {number} ms a moment of the recording that is left
 * @param {{startsMs: number[], endMs: number}} from
 * @param {{startsMs: number[], endMs: number}} to
 */
export function samePlace(ms, from, to) {
  if (!from.startsMs.length || !to.startsMs.length) return Math.min(ms, to.endMs);
  const turn = turnAt(from.startsMs, ms);
  const [start, end] = turnSpan(to.startsMs, Math.min(turn, to.startsMs.length - 1), to.endMs);
  return Math.max(0, Math.min(start + ms - from.startsMs[turn], end - 1));
}
