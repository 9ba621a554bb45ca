// What keys do to a player, and what a link to a moment asks of it.
import { SPEEDS } from "./player.js";

/**
 * The player's keys, for keys.js.
 * @param {() => any} playing the player that the keys are for, or null
 */
export function playerKeys(playing) {
  const on = (act) => () => playing() && act(playing());
  return [
    { key: " ", label: "Play or pause", run: on((p) => p.toggle()) },
    { key: "J", label: "Back 2 s", run: on((p) => p.skip(-2)) },
    { key: "L", label: "Forward 2 s", run: on((p) => p.skip(2)) },
    { key: "[", label: "Previous turn", run: on((p) => p.jump(false)) },
    { key: "]", label: "Next turn", run: on((p) => p.jump(true)) },
    { key: "E", label: "Hear the evidence", run: on(hear) },
    { key: "S", label: "Hear both, the caller alone, the agent alone", run: on((p) => p.nextSolo()) },
    { key: "R", label: "Again and again: this turn, or what was chosen", run: on((p) => p.loop()) },
    { key: "Z", label: "Zoom to the turn or to the whole call", run: on((p) => p.zoom()) },
    { key: ">", label: "Next speed", run: on((p) => p.speed(SPEEDS[(SPEEDS.indexOf(p.audio.playbackRate) + 1) % SPEEDS.length])) },
    { key: "B", label: "Bug capsule: download this moment", run: on((p) => p.box.querySelector('[data-part="capsule"]')?.click()) },
    { key: "K", label: "Copy a link to this moment", run: on((p) => p.box.querySelector('[data-part="link"]')?.click()) },
  ];
}

/** Plays the window of what failed; false when there is none. */
export function hear(player) {
  const [from, to] = (player.box.dataset.hear ?? "").split(" ").map(Number);
  if (!to) return false;
  player.playSpan(from / 1000, to / 1000);
  return true;
}

/** ?t=13.4&ch=R&ev=42: a moment in s (else the event's), a channel, an event to point at. */
export function followLink(player) {
  const asked = new URLSearchParams(location.search);
  const ms = asked.has("t") ? Number(asked.get("t")) * 1000 : Number(player.box.dataset.at);
  const which = { L: "caller", R: "agent" }[(asked.get("ch") ?? "").toUpperCase()];
  if (which) player.solo(which);
  const mark = player.box.querySelector(`[data-ev="${CSS.escape(asked.get("ev") ?? "")}"]`);
  mark?.classList.add("found");
  if (!(ms > 0)) return;
  const go = () => player.seek(ms / 1000);
  if (player.audio.readyState > 0) go();
  else player.audio.addEventListener("loadedmetadata", go, { once: true });
}

/** Links of the bar are to this moment. The link button copies, or shows the link where the browser lets no page copy. */
export function bindLinks(player) {
  for (const link of player.box.querySelectorAll('[data-part="capsule"]'))
    link.addEventListener("click", () => (link.search = `?t=${player.audio.currentTime.toFixed(2)}`));
  const button = player.box.querySelector('[data-part="link"]');
  button?.addEventListener("click", async () => {
    const said = player.box.querySelector('[data-part="problem"]');
    try {
      await navigator.clipboard.writeText(player.link());
      said.textContent = "The link is copied.";
    } catch {
      prompt("A link to this moment", player.link());
    }
  });
}
