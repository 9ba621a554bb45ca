// Record a caller with this computer's microphone: a WAV, sent as a chosen file would be.
import { send, sentence } from "./post.js";

const MOST_S = 180; // what stays under the usual limit of an upload at 48 kHz

/** PCM16 mono with the plain header of 44 bytes. */
function wav(blocks, rate) {
  const length = blocks.reduce((sum, block) => sum + block.length, 0);
  const view = new DataView(new ArrayBuffer(44 + 2 * length));
  const text = (at, word) => [...word].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  text(0, "RIFF");
  view.setUint32(4, 36 + 2 * length, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, 2 * length, true);
  let at = 44;
  for (const block of blocks) {
    for (const value of block) {
      view.setInt16(at, Math.max(-1, Math.min(1, value)) * 32767, true);
      at += 2;
    }
  }
  return new Blob([view], { type: "audio/wav" });
}

const REFUSED = {
  NotAllowedError: "The browser may not use the microphone. Allow it beside the address of this page, or add a file.",
  NotFoundError: "This computer has no microphone. Add a file instead.",
  NotReadableError: "Another program holds the microphone. Close it, or add a file.",
};

/** @returns {Promise<{seconds: () => number, stop: () => Promise<Blob>}>} */
async function tape(url) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, autoGainControl: false } });
  const context = new AudioContext();
  await context.audioWorklet.addModule(url);
  const blocks = [];
  let samples = 0;
  const node = new AudioWorkletNode(context, "tape");
  node.port.onmessage = ({ data }) => {
    blocks.push(data);
    samples += data.length;
  };
  context.createMediaStreamSource(stream).connect(node);
  node.connect(context.destination); // it gives silence; a node that leads nowhere is not run
  return {
    seconds: () => samples / context.sampleRate,
    async stop() {
      for (const track of stream.getTracks()) track.stop();
      await context.close();
      return wav(blocks, context.sampleRate);
    },
  };
}

/** The file goes with the form of the page, as if it had been chosen: the page that follows says what became of it. */
function sentWith(form) {
  return (file) => {
    const chosen = new DataTransfer();
    chosen.items.add(file);
    form.elements.file.files = chosen.files;
    form.elements.channel.value = "";
    form.requestSubmit();
  };
}

/** The file goes into the editor around the box: its JSON gets the recording, and the rest of the editor follows. */
function putInto(box, tell) {
  const editor = box.closest("form");
  const text = editor.elements.namedItem("text_json");
  return async (file, channel = "") => {
    tell(`Adding ${file.name} …`);
    const fields = new FormData(editor);
    fields.set("recording", file);
    fields.set("recording_channel", channel);
    try {
      const added = await (await send(box.dataset.url, fields)).json();
      text.value = added.text;
      text.dispatchEvent(new Event("input", { bubbles: true }));
      tell(added.says);
    } catch (error) {
      tell(sentence(error), true);
    }
  };
}

function wire(form) {
  if (form.dataset.wired) return;
  form.dataset.wired = "yes";
  const button = form.querySelector("[data-record-start]");
  const says = form.parentElement.querySelector("[data-record-says]");
  let running = null;
  let clock = 0;

  const tell = (text, wrong = false) => {
    says.textContent = text;
    says.classList.toggle("wrong", wrong);
  };
  const pressed = (on) => {
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Stop and add" : "Record here";
  };

  async function start() {
    if (!navigator.mediaDevices) return tell("Browsers lend a microphone to pages under https or on localhost only.", true);
    try {
      running = await tape(button.dataset.tape);
    } catch (error) {
      return tell(REFUSED[error.name] ?? `The microphone cannot be used: ${error.message}`, true);
    }
    pressed(true);
    clock = setInterval(() => {
      tell(`Recording: ${running.seconds().toFixed(1)} s. Speak as the caller would.`);
      if (running.seconds() >= MOST_S) stop();
    }, 200);
    return undefined;
  }

  async function stop() {
    clearInterval(clock);
    const sound = await running.stop();
    running = null;
    pressed(false);
    tell("Adding it …");
    add(new File([sound], `microphone-${new Date().toISOString().slice(0, 19).replace(/\D/g, "")}.wav`));
  }

  const add = form.matches("form") ? sentWith(form) : putInto(form, tell);
  const chosen = form.querySelector("[data-record-file]");
  form.querySelector("[data-record-add]")?.addEventListener("click", () => {
    if (chosen.files[0]) add(chosen.files[0], form.querySelector("[data-record-channel]").value);
    else tell("Choose a file first.", true);
  });
  button.hidden = false;
  button.addEventListener("click", () => (running ? stop() : start()));
}

const start = () => document.querySelectorAll("[data-record]").forEach(wire);
document.addEventListener("htmx:afterSwap", start);
start();
