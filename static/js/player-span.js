// What a player stays within: a stretch that was asked for once, the window that its page holds it to, or the looped turn.

/**
 * All in seconds.
 * @param {() => [number, number]} turnHere the turn that the player stands in
 */
export function makeSpan(turnHere) {
  let span = null; // [from, to] that ends what is heard, or begins it again
  let held = null; // the page's window: its end holds wherever before it one goes
  let loop = false;
  const heldAt = (seconds) => (held && seconds < held[1] ? held : null);

  return {
    now: () => span,
    loops: () => loop,
    isHeld: () => held !== null,
    set(from, to, holds) {
      span = [from, to];
      if (holds) held = span;
    },
    /** It was heard to its end. */
    over: () => (span = null),
    /** The player stands somewhere else. */
    moved(seconds) {
      if (!loop) span = heldAt(seconds);
      else if (!span || seconds < span[0] || seconds >= span[1]) span = turnHere();
    },
    loop(on, seconds) {
      loop = on;
      span = loop ? (span ?? turnHere()) : heldAt(seconds);
    },
  };
}
