// Hear it: the caller's words from the site, with a wave. In an editor the words are those of its form as it stands.

import { samplesOf, waveOn } from "./hear-wave.js";
import { send, sentence } from "./post.js";

function wire(box) {
  const bar = box.querySelector("[data-hear-bar]");
  if (!bar || bar.dataset.wired) return;
  bar.dataset.wired = "yes";
  const says = box.querySelector("[data-hear-says]");
  const sound = box.querySelector("[data-hear-sound]");
  const audio = sound.querySelector("audio");
  const canvas = sound.querySelector("canvas");
  let draw = () => {};

  const tell = (text, wrong = false) => {
    says.textContent = text;
    says.classList.toggle("wrong", wrong);
  };

  async function hear() {
    const button = bar.querySelector("[data-hear-play]");
    button.setAttribute("aria-busy", "true");
    tell("One moment …");
    try {
      show(await ask(bar));
      await audio.play().catch(() => {}); // a browser that forbids it still shows the player
    } catch (error) {
      sound.hidden = true;
      tell(sentence(error), true);
    } finally {
      button.removeAttribute("aria-busy");
    }
  }

  function show({ buffer, heard }) {
    URL.revokeObjectURL(audio.src);
    audio.src = URL.createObjectURL(new Blob([buffer], { type: "audio/wav" }));
    sound.hidden = false;
    draw = waveOn(canvas, samplesOf(buffer));
    draw(0, 0);
    tell(told(heard));
  }

  bar.querySelector("[data-hear-play]").addEventListener("click", hear);
  audio.addEventListener("timeupdate", () => draw(0, audio.currentTime / (audio.duration || 1)));
  canvas.addEventListener("click", (event) => {
    audio.currentTime = (event.offsetX / canvas.clientWidth) * audio.duration;
    audio.play();
  });
  bar.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.matches("button")) return;
    event.preventDefault(); // it would send the editor's form
    hear();
  });
  for (const type of ["input", "change", "keydown"]) {
    // the editor around it would take these for changes of the scenario
    box.addEventListener(type, (event) => event.stopPropagation());
  }
}

/** @returns {Promise<{buffer: ArrayBuffer, heard: object}>} */
async function ask(bar) {
  const editor = bar.dataset.scenario ? null : bar.closest("form");
  const fields = editor ? new FormData(editor) : new FormData();
  for (const one of bar.querySelectorAll("select, input")) fields.set(one.name, one.value);
  if (!editor) {
    fields.set("hear_scenario", bar.dataset.scenario);
    fields.set("hear_version", bar.dataset.version);
  }
  const answer = await send(bar.dataset.url, fields);
  return { buffer: await answer.arrayBuffer(), heard: JSON.parse(answer.headers.get("X-Heard")) };
}

function told(heard) {
  const which = heard.turns > 1 ? `Turn ${heard.turn} of ${heard.turns}, ` : "";
  const who = heard.recording ? `Recording ${heard.recording}, ` : "";
  const line = heard.line ? ` Over this line: ${heard.line}.` : heard.recording ? " Nothing is added to it." : " A clean line.";
  return `${which}${who}${(heard.ms / 1000).toFixed(1)} s.${line}`;
}

const start = () => document.querySelectorAll("[data-hear]").forEach(wire);
document.addEventListener("htmx:afterSwap", start);
start();
