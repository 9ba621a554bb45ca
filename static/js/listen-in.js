// Listening in to a call under way: what the socket sends is played as it comes, the caller left, the agent right.
// A button [data-listen-in] begins; pages may draw it anew at any time.
import { bind } from "./keys.js";
import { storeMark } from "./marks.js";

const AHEAD_S = 0.3; // of sound kept in hand, so that an uneven line is not heard
const SAYS = {
  1000: "The call is over.",
  4403: "You are signed out: load the page again.",
  4404: "This trial was removed.",
  4503: "Live sound is not set up: the site has no Redis.",
};
const clock = (ms) => `${Math.floor(ms / 60_000)}:${((ms / 1000) % 60).toFixed(1).padStart(4, "0")}`;

let current = null;

/** Plays frames of numbered samples on the clock of an AudioContext. */
export function makeSpeaker(rate) {
  const context = new AudioContext({ sampleRate: rate });
  let zero = null; // when sample 0 is, or would have been, heard
  return {
    context,
    play(frame) {
      const start = new DataView(frame).getUint32(0, true);
      const samples = new Int16Array(frame, 4);
      const buffer = context.createBuffer(2, samples.length / 2, rate);
      for (const channel of [0, 1]) {
        const data = buffer.getChannelData(channel);
        for (let i = 0; i < data.length; i += 1) data[i] = samples[2 * i + channel] / 32_768;
      }
      const soonest = context.currentTime + 0.01;
      if (zero === null || zero + start / rate < soonest) zero = context.currentTime + AHEAD_S - start / rate;
      const source = context.createBufferSource();
      source.buffer = buffer;
      source.connect(context.destination);
      source.start(zero + start / rate);
    },
    /** The moment of the call that is heard now, in ms. */
    ms: () => (zero === null ? null : Math.max(0, (context.currentTime - zero) * 1000)),
    close: () => context.close(),
  };
}

function makeBar(trial, name) {
  const bar = document.createElement("section");
  bar.className = "listen-bar";
  bar.setAttribute("aria-label", `Listening in to ${name}`);
  const part = (tag, text, props = {}) => bar.appendChild(Object.assign(document.createElement(tag), { textContent: text, ...props }));
  part("b", name);
  const at = part("span", "–", { className: "mono" });
  const said = part("span", "waiting for the first sound", { className: "muted small" });
  said.setAttribute("role", "status");
  const marking = part("button", "Mark", { type: "button", className: "btn small" });
  marking.append(" ", Object.assign(document.createElement("kbd"), { textContent: "M" }));
  part("a", "Open the trial", { className: "btn small", href: `/trials/${trial}/` });
  const stop = part("button", "Stop", { type: "button", className: "btn small" });
  document.body.append(bar);
  return { bar, at, said, marking, stop };
}

function begin(trial, name) {
  current?.stop();
  const { bar, at, said, marking, stop } = makeBar(trial, name);
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/ws/trials/${trial}/listen/`);
  socket.binaryType = "arraybuffer";
  let speaker = null;
  let heard = 0;
  let ended = "";

  const say = (text) => (said.textContent = text);
  const told = ({ rate_hz: rate, over }) => {
    if (over) ended = over;
    else speaker = makeSpeaker(rate);
  };
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") return told(JSON.parse(data));
    speaker.play(data);
    heard += 1;
    if (heard === 1) say("live: the caller left, the agent right");
    socket.send(JSON.stringify({ heard }));
    bar.dataset.heard = String(heard);
  });
  socket.addEventListener("close", ({ code }) => {
    clearInterval(ticking);
    say(ended ? `${ended[0].toUpperCase()}${ended.slice(1)}.` : (SAYS[code] ?? "The line broke. Listen in again."));
    marking.hidden = true;
  });
  const ticking = setInterval(() => (at.textContent = speaker?.ms() == null ? "–" : clock(speaker.ms())), 100);

  current = {
    trial,
    async mark() {
      const ms = speaker?.ms();
      if (ms == null || marking.hidden) return;
      try {
        const made = await storeMark(trial, Math.round(ms));
        say(`Marked ${clock(made.at_ms)}; it stays with the trial.`);
      } catch (error) {
        say(`Nothing was marked: ${error.message}`);
      }
    },
    stop() {
      clearInterval(ticking);
      socket.close();
      speaker?.close();
      bar.remove();
      current = null;
    },
  };
  marking.addEventListener("click", () => current?.mark());
  stop.addEventListener("click", () => current?.stop());
}

document.documentElement.classList.add("listens"); // without scripts the buttons stay out of sight
document.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("[data-listen-in]");
  if (button) begin(button.dataset.listenIn, button.dataset.name);
});
bind([{ key: "M", label: "Mark the moment that is heard (while listening in)", run: () => current?.mark() }]);
