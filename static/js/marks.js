// Marks a moment of a call: one that is played, or one that is heard while it happens.
import { clock } from "./player-lanes.js";
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
  addRow(player.box, at_ms, label);
}

/** The page's list of marked moments as the server has it now; it stays as it is where the site refuses. */
export async function listMoments() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const now = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("moments");
  if (now) document.getElementById("moments")?.replaceWith(now);
}

/** The same in the table, where it belongs in time. */
function addRow(box, at_ms, label) {
  const rows = [...box.querySelectorAll(".table-view tbody tr")];
  const row = document.createElement("tr");
  const [from, to, , what] = ["", clock(at_ms / 1000), "marks", ""].map((text) => {
    const cell = row.insertCell();
    cell.textContent = text;
    return cell;
  });
  const button = document.createElement("button");
  button.type = "button";
  button.className = "at";
  button.dataset.seek = String(at_ms);
  button.textContent = to.textContent;
  button.setAttribute("aria-label", `Play from ${to.textContent}`);
  from.append(button);
  const words = document.createElement("bdi");
  words.dir = "auto";
  words.textContent = label;
  what.append(words);
  const later = rows.find((one) => Number(one.querySelector("[data-seek]")?.getAttribute("data-seek") ?? 0) > at_ms);
  const body = box.querySelector(".table-view tbody");
  if (later) later.before(row);
  else body?.append(row);
  if (!rows.some((one) => one.querySelector("[data-seek]"))) rows.forEach((one) => one.remove()); // it said that nothing is marked
}
