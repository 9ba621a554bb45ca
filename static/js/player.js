// The player: one audio element with speed, solo of a channel and time. Pages draw waves and lanes around it.
// Bound to the bar of templates/runs_app/player.html; other modules listen to the audio element's own events.

const SPEEDS = [0.75, 1, 1.5, 2];
const SOLOS = ["both", "caller", "agent"];

export const clock = (seconds) => {
  const s = Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
  return `${Math.floor(s / 60)}:${(s % 60).toFixed(1).padStart(4, "0")}`;
};

/** Gains of [caller to both ears, agent to both ears]; null means the stereo is left as it is. */
const GAINS = { both: null, caller: [1, 0], agent: [0, 1] };

/** Splits the element's stereo on first use, so that one channel can be heard alone in both ears. */
function soloGraph(audio) {
  const context = new AudioContext();
  const source = context.createMediaElementSource(audio);
  const splitter = context.createChannelSplitter(2);
  const merger = context.createChannelMerger(2);
  // four gains: from channel i to ear j
  const gains = [0, 1].map((from) =>
    [0, 1].map((to) => {
      const gain = context.createGain();
      splitter.connect(gain, from);
      gain.connect(merger, 0, to);
      return gain;
    }),
  );
  source.connect(splitter);
  merger.connect(context.destination);
  return {
    resume: () => context.resume(),
    set(solo) {
      for (const from of [0, 1])
        for (const to of [0, 1]) gains[from][to].gain.value = GAINS[solo] ? GAINS[solo][from] : Number(from === to);
    },
  };
}

/**
 * @param {HTMLElement} bar the .player element
 * @returns the player, or null when the bar has no audio
 */
export function createPlayer(bar) {
  const audio = bar.querySelector("audio");
  if (!audio) return null;
  const part = (name) => /** @type {HTMLElement|null} */ (bar.querySelector(`[data-part="${name}"]`));
  let graph = null;
  let solo = "both";
  let stopAt = null;

  const player = {
    audio,
    toggle: () => (audio.paused ? player.play() : audio.pause()),
    play() {
      graph?.resume();
      return audio.play().catch((error) => bar.setAttribute("data-problem", error.message));
    },
    seek(seconds) {
      stopAt = null;
      audio.currentTime = Math.max(0, Math.min(seconds, audio.duration || seconds));
    },
    skip: (seconds) => player.seek(audio.currentTime + seconds),
    /** Play only [from, to]. */
    playSpan(from, to) {
      player.seek(from);
      stopAt = to;
      return player.play();
    },
    solo(which) {
      solo = which;
      if (!graph && which !== "both") graph = soloGraph(audio);
      graph?.set(which);
      draw();
    },
    nextSolo: () => player.solo(SOLOS[(SOLOS.indexOf(solo) + 1) % SOLOS.length]),
    speed(factor) {
      audio.playbackRate = factor;
      draw();
    },
    load(url, label) {
      if (audio.getAttribute("src") !== url) audio.src = url;
      const name = part("label");
      if (name && label) name.textContent = label;
      bar.hidden = false;
    },
  };

  function draw() {
    const time = part("time");
    if (time) time.textContent = `${clock(audio.currentTime)} / ${clock(audio.duration)}`;
    const button = part("play");
    button?.setAttribute("aria-label", audio.paused ? "Play" : "Pause");
    button?.setAttribute("data-state", audio.paused ? "paused" : "playing");
    for (const one of bar.querySelectorAll("[data-solo]")) one.setAttribute("aria-pressed", String(one.dataset.solo === solo));
    for (const one of bar.querySelectorAll("[data-speed]"))
      one.setAttribute("aria-pressed", String(Number(one.dataset.speed) === audio.playbackRate));
  }

  bar.addEventListener("click", (event) => {
    const target = /** @type {HTMLElement} */ (event.target).closest("button");
    if (!target) return;
    if (target.dataset.part === "play") player.toggle();
    if (target.dataset.solo) player.solo(target.dataset.solo);
    if (target.dataset.speed) player.speed(Number(target.dataset.speed));
  });
  audio.addEventListener("timeupdate", () => {
    if (stopAt !== null && audio.currentTime >= stopAt) {
      stopAt = null;
      audio.pause();
    }
    draw();
  });
  for (const name of ["play", "pause", "ended", "loadedmetadata", "seeked", "ratechange"]) audio.addEventListener(name, draw);
  draw();
  return player;
}

/** The player's keys, for keys.js. */
export const playerKeys = (player) => [
  { key: " ", label: "Play or pause", run: () => player.toggle() },
  { key: "J", label: "Back 2 s", run: () => player.skip(-2) },
  { key: "L", label: "Forward 2 s", run: () => player.skip(2) },
  { key: "S", label: "Hear both, the caller alone, the agent alone", run: () => player.nextSolo() },
  {
    key: ">",
    label: "Next speed",
    run: () => player.speed(SPEEDS[(SPEEDS.indexOf(player.audio.playbackRate) + 1) % SPEEDS.length]),
  },
];
