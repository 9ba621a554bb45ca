// The player of templates/runs_app/player.html: one recording with its waves and lanes. `element.player` is its handle.
import { soloGraph } from "./player-audio.js";
import { drawBar } from "./player-bar.js";
import { clock, makeLanes } from "./player-lanes.js";
import { makeSpan } from "./player-span.js";
import { turnAt, turnSpan } from "./player-turns.js";
import { drawWaves } from "./player-waves.js";

const SOLOS = ["both", "caller", "agent"];
export const SPEEDS = [0.75, 1, 1.5, 2];
const numbers = (text) => JSON.parse(text || "[]");

/**
 * @param {HTMLElement} box the [data-player] element
 * @returns the player, or null when there is nothing to hear
 */
export function createPlayer(box) {
  const gone = new AbortController();
  const lanes = makeLanes(box, gone.signal);
  const audio = box.querySelector("audio");
  if (!audio) return null;
  const part = (name) => /** @type {HTMLElement|null} */ (box.querySelector(`[data-part="${name}"]`));
  const [startsMs, stopsMs] = [box.dataset.turns, box.dataset.stops].map(numbers);
  const endMs = () => (Number.isFinite(audio.duration) ? audio.duration * 1000 : Number(box.dataset.audio));
  const hasSides = Number(box.dataset.channels) > 1;
  let [graph, waves] = [null, null];
  let solo = "both";
  let zoom = "call";
  let shownTurn = 0;
  let frame = 0;
  const turnHere = () => turnSpan(startsMs, turnAt(startsMs, player.ms()), endMs()).map((ms) => ms / 1000);
  const span = makeSpan(turnHere);

  const player = {
    box,
    audio,
    lanes,
    startsMs,
    endMs,
    hasSides,
    ms: () => audio.currentTime * 1000,
    graph: () => graph,
    soloed: () => solo,
    toggle: () => (audio.paused ? player.play() : audio.pause()),
    async play() {
      if (solo !== "both") graph ??= soloGraph(audio);
      graph?.set(solo);
      graph?.resume();
      try {
        await audio.play();
        tell("");
      } catch (error) {
        // a pause or another source that comes while it starts is no problem of the recording
        if (error.name !== "AbortError") tell(`It cannot be played: ${error.message}`);
      }
    },
    pause: () => audio.pause(),
    /** Lets go of what outlives the element: sound, its graph, and the page's events. */
    close() {
      audio.pause();
      graph?.close();
      gone.abort();
    },
    seek(seconds) {
      audio.currentTime = Math.max(0, Math.min(seconds, endMs() / 1000));
      span.moved(audio.currentTime);
      draw();
    },
    skip: (seconds) => player.seek(audio.currentTime + seconds),
    /** Stand at the start of [from, to] in s: it is played next. `holds`: its end holds wherever one goes before it. */
    cue(from, to, holds = false) {
      player.seek(from);
      span.set(from, to, holds);
    },
    playSpan(from, to) {
      player.cue(from, to);
      return player.play();
    },
    jump(forward) {
      const now = player.ms();
      const to = forward ? stopsMs.find((s) => s > now + 1) : stopsMs.findLast((s) => s < now - 500);
      if (to !== undefined) player.seek(to / 1000);
    },
    solo(which) {
      if (!hasSides) return;
      solo = which;
      if (which !== "both" && !audio.paused) graph ??= soloGraph(audio);
      graph?.set(which);
      graph?.resume();
      draw();
    },
    nextSolo: () => player.solo(SOLOS[(SOLOS.indexOf(solo) + 1) % SOLOS.length]),
    speed(factor) {
      audio.playbackRate = factor;
      draw();
    },
    loop(on = !span.loops()) {
      span.loop(on, audio.currentTime);
      draw();
    },
    zoom(to = zoom === "call" ? "turn" : "call") {
      zoom = to;
      if (zoom === "call") show(lanes.whole);
      else follow(true);
      draw();
    },
    /** Show [from, to] in ms. */
    window(from, to) {
      zoom = "window";
      show(() => lanes.show(from, to));
      draw();
    },
    /** A link to this moment of the trial's page. */
    link() {
      const url = new URL(box.dataset.page, location.href);
      url.searchParams.set("t", audio.currentTime.toFixed(2));
      if (solo !== "both") url.searchParams.set("ch", solo === "caller" ? "L" : "R");
      return url.href;
    },
  };

  const tell = (text) => part("problem") && (part("problem").textContent = text);

  function show(change) {
    change();
    waves?.redraw();
    move();
  }
  /** Zoomed to a turn, the view goes along with what is heard. */
  function follow(always) {
    const turn = turnAt(startsMs, player.ms());
    if (zoom !== "turn" || (turn === shownTurn && !always)) return;
    shownTurn = turn;
    show(() => lanes.around(turnHere().map((s) => s * 1000)));
  }
  function move() {
    lanes.move(player.ms());
    waves?.progress(player.ms());
    const time = part("time");
    if (time) time.textContent = `${clock(audio.currentTime)} / ${clock(endMs() / 1000)}`;
  }
  function stayWithin() {
    const [from, to] = span.now() ?? [];
    if (to === undefined || audio.paused || audio.currentTime < to) return;
    if (span.loops()) audio.currentTime = from;
    else {
      audio.pause();
      spanEnded();
    }
  }
  function spanEnded() {
    span.over();
    box.dispatchEvent(new CustomEvent("spanend"));
  }
  function step() {
    stayWithin();
    follow(false);
    move();
  }
  function frames() {
    step();
    cancelAnimationFrame(frame); // one chain, however often it was stopped and begun within a frame
    if (!audio.paused) frame = requestAnimationFrame(frames);
  }
  function draw() {
    move();
    drawBar(box, { paused: audio.paused, solo, rate: audio.playbackRate, zoom, loop: span.loops() });
  }

  box.addEventListener("click", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const button = target.closest("button");
    if (button?.dataset.seek) player.seek(Number(button.dataset.seek) / 1000);
    else if (button?.dataset.part === "play") player.toggle();
    else if (button?.dataset.part === "loop") player.loop();
    else if (button?.dataset.solo) player.solo(button.dataset.solo);
    else if (button?.dataset.speed) player.speed(Number(button.dataset.speed));
    else if (button?.dataset.zoom) player.zoom(button.dataset.zoom);
    else if (!button && target.closest(".wave .track, .ruler .track")) player.seek(lanes.at(event.clientX) / 1000);
  });
  audio.addEventListener("play", frames);
  audio.addEventListener("timeupdate", step); // frames rest while the page is in the background
  audio.addEventListener("ended", () => {
    if (span.loops() && span.now()) player.playSpan(...span.now());
    else if (span.now() || span.isHeld()) spanEnded();
  });
  audio.addEventListener("error", () => tell("The recording could not be loaded."));
  for (const name of ["play", "pause", "ended", "loadedmetadata", "seeked", "ratechange"]) audio.addEventListener(name, draw);
  const again = () => show(lanes.draw);
  for (const [place, name] of [[document, "themechange"], [window, "resize"]]) place.addEventListener(name, again, { signal: gone.signal });
  if (box.dataset.peaks)
    drawWaves(box, lanes.view).then(
      (drawn) => ((waves = drawn), move()),
      (error) => tell(`The waves could not be drawn (${error.message}); the recording still plays.`),
    );
  draw();
  box.player = player;
  return player;
}
