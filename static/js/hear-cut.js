// A whole call: its wave, the channel of the caller, and two edges that cut his words out of it.

import { waveOn } from "./hear-wave.js";

const form = /** @type {HTMLFormElement} */ (document.querySelector("[data-cut]"));
const says = form.querySelector("[data-cut-says]");
const canvas = form.querySelector("canvas");
const box = form.querySelector("[data-cut-wave]");
const play = form.querySelector("[data-cut-play]");
const fields = { start: form.elements.start_s, end: form.elements.end_s };
const edges = [...box.querySelectorAll("[data-edge]")];
const LEAST_S = 0.1;

let call = null; // the decoded AudioBuffer
let draw = () => {};
let context = null;
let playing = null;

const tell = (text, wrong = false) => {
  says.textContent = text;
  says.classList.toggle("wrong", wrong);
};
const number = (text) => Number.parseFloat(text.replace(",", "."));
const startS = () => Math.min(Math.max(0, number(fields.start.value) || 0), call.duration - LEAST_S);
function endS() {
  const given = number(fields.end.value);
  return Math.min(call.duration, Math.max(startS() + LEAST_S, Number.isNaN(given) ? call.duration : given));
}

/** Samples of the chosen channel, or the mean of all. */
function chosen() {
  const channel = Number(form.elements.channel.value);
  if (channel && channel <= call.numberOfChannels) return call.getChannelData(channel - 1);
  const mixed = new Float32Array(call.length);
  for (let at = 0; at < call.numberOfChannels; at++) {
    call.getChannelData(at).forEach((value, i) => (mixed[i] += value / call.numberOfChannels));
  }
  return mixed;
}

function show() {
  const [from, to] = [startS(), endS()];
  draw(from / call.duration, to / call.duration);
  for (const edge of edges) {
    const at = edge.dataset.edge === "start" ? from : to;
    edge.style.left = `${(100 * at) / call.duration}%`;
    edge.setAttribute("aria-valuemax", call.duration.toFixed(2));
    edge.setAttribute("aria-valuenow", at.toFixed(2));
    edge.setAttribute("aria-valuetext", `${at.toFixed(2)} seconds`);
  }
}

function move(edge, seconds) {
  const [low, high] = edge === "start" ? [0, endS() - LEAST_S] : [startS() + LEAST_S, call.duration];
  fields[edge].value = Math.min(Math.max(seconds, low), high).toFixed(2);
  show();
}

async function open(file) {
  call = null;
  form.querySelector("[data-cut-found]").hidden = true;
  tell("Reading the file …");
  context ??= new AudioContext();
  try {
    call = await context.decodeAudioData(await file.arrayBuffer());
  } catch {
    play.hidden = true;
    // the site reads more kinds of files than a browser does
    tell(`This browser cannot show ${file.name}. Type where to cut; the site reads WAV, FLAC, OGG, MP3 and AIFF.`, true);
    return;
  }
  const channels = call.numberOfChannels;
  for (const one of form.elements.channel.options) one.disabled = Number(one.value) > channels;
  if (Number(form.elements.channel.value) > channels) form.elements.channel.value = "";
  form.querySelector("[data-cut-found]").hidden = play.hidden = false;
  draw = waveOn(canvas, chosen());
  show();
  tell(`${file.name}: ${call.duration.toFixed(1)} s, ${channels === 1 ? "one channel" : `${channels} channels`}.`);
}

function stop() {
  playing?.stop();
  playing = null;
  play.textContent = "Hear the cut";
}

async function hear() {
  if (playing) return stop();
  await context.resume();
  const samples = chosen();
  const sound = context.createBuffer(1, samples.length, call.sampleRate);
  sound.copyToChannel(samples, 0);
  const source = context.createBufferSource();
  source.buffer = sound;
  source.connect(context.destination);
  source.addEventListener("ended", () => playing === source && stop());
  source.start(0, startS(), endS() - startS());
  playing = source;
  play.textContent = "Stop";
  return undefined;
}

form.elements.file.addEventListener("change", () => form.elements.file.files[0] && open(form.elements.file.files[0]));
form.elements.channel.addEventListener("change", () => {
  if (!call) return;
  draw = waveOn(canvas, chosen());
  show();
});
for (const field of Object.values(fields)) field.addEventListener("input", () => call && show());
play.addEventListener("click", hear);
addEventListener("resize", () => call && show());
document.addEventListener("themechange", () => call && show());

for (const edge of edges) {
  edge.addEventListener("keydown", (event) => {
    const direction = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    const which = edge.dataset.edge;
    const now = which === "start" ? startS() : endS();
    if (direction) move(which, now + direction * (event.shiftKey ? 1 : event.ctrlKey ? 0.01 : 0.1));
    else if (event.key === "Home") move(which, 0);
    else if (event.key === "End") move(which, call.duration);
    else return;
    event.preventDefault();
  });
  edge.addEventListener("pointerdown", (event) => edge.setPointerCapture(event.pointerId));
  edge.addEventListener("pointermove", (event) => {
    if (!edge.hasPointerCapture(event.pointerId)) return;
    const area = canvas.getBoundingClientRect();
    move(edge.dataset.edge, ((event.clientX - area.left) / area.width) * call.duration);
  });
}
canvas.addEventListener("click", (event) => {
  const at = (event.offsetX / canvas.clientWidth) * call.duration;
  move(Math.abs(at - startS()) < Math.abs(at - endS()) ? "start" : "end", at);
});

form.addEventListener("dragover", (event) => event.preventDefault());
form.addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  form.elements.file.files = event.dataTransfer.files;
  open(event.dataTransfer.files[0]);
});
