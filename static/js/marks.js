// Marks a moment of a call: one that is played, or one that is heard while it happens.
import { post } from "./post.js";

/**
 * Stores a mark and returns what the lane shows of it: {mark, at_ms, label}.
 * @param {number|string} trial
 * @param {number} atMs
 */
export const storeMark = (trial, atMs) => post(`/trials/${trial}/marks/`, { at_ms: atMs });

/** The mark on the player's lane, as the server would have drawn it. */
export function drawMark(player, { at_ms, label }) {
  const track = player.box.querySelector('[data-lane="marks"]');
  if (!track) return;
  track.closest(".lane").hidden = false;
  const mark = document.createElement("button");
  mark.type = "button";
  mark.tabIndex = -1;
  mark.className = "mark made";
  mark.style.setProperty("--s", String(at_ms));
  mark.style.setProperty("--e", String(at_ms));
  mark.dataset.seek = String(at_ms);
  mark.title = label;
  const text = document.createElement("span");
  text.textContent = label;
  mark.append(text);
  track.append(mark);
  player.lanes.draw();
}

/** The page's two lists of moments as the server has them now; they stay as they are where the site refuses. */
export async function listMoments() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const list of [".table-view tbody", "#moments"]) {
    const now = page.querySelector(list);
    if (now) document.querySelector(list)?.replaceWith(now);
  }
}
