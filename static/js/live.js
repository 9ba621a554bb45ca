// The page of a run: says whether it is live, keeps title and focus through changes, and lets the viewer choose whose
// events are shown.
import { bind } from "./keys.js";
import { keepLive } from "./live-socket.js";
import { localTimes } from "./site.js";

const NEWS_MS = 2_000; // head, failures and results are fetched again at most this often
const SAYS = {
  live: ["live", "passed"],
  reconnecting: ["reconnecting", "running"],
  refused: ["live updates refused, polling", "failed"],
  polling: ["polling", "failed"],
  away: ["the site does not answer", "failed"],
  signedout: ["signed out: load the page again", "cancelled"],
  gone: ["this run was removed", "cancelled"],
};

const root = document.getElementById("live");
const mark = document.getElementById("live-mark");
const follow = document.getElementById("follow");
const byId = (id) => document.getElementById(id);

let pinned = root.dataset.pinned ?? "";
let focused = "";
let news = byId("live-counts").dataset.news;
let newsTimer = 0;
let keeper = null;

const query = () => (pinned ? `?trial=${pinned}` : "");
const shown = () => byId("live-events").dataset.trial ?? "";

function say(state) {
  if (mark.dataset.state === state && !mark.hidden) return;
  const [words, shape] = SAYS[state];
  mark.hidden = false;
  mark.dataset.state = state;
  mark.lastElementChild.textContent = words;
  mark.querySelector("use").setAttribute("href", `#shape-${shape}`);
}

function before() {
  focused = root.contains(document.activeElement) ? document.activeElement.id : "";
}

function changed() {
  const counts = byId("live-counts");
  document.title = counts.dataset.title;
  showChosen();
  localTimes(root);
  if (focused && document.activeElement?.id !== focused) byId(focused)?.focus({ preventScroll: true });
  if (counts.dataset.news !== news && !newsTimer) newsTimer = setTimeout(fetchNews, NEWS_MS);
}

function fetchNews() {
  newsTimer = 0;
  news = byId("live-counts").dataset.news;
  keeper.fetchInto(root.dataset.findings); // when that fails, the socket or the next poll says what is wrong
}

function showChosen() {
  for (const dot of root.querySelectorAll(".dot[aria-current]")) dot.removeAttribute("aria-current");
  byId(`dot-${shown()}`)?.setAttribute("aria-current", "true");
}

function start() {
  keeper = keepLive(root, { query, say, before, changed });
  const choose = (trial) => {
    pinned = trial;
    follow.hidden = !pinned;
    history.replaceState(null, "", location.pathname + query());
    keeper.refresh();
  };
  root.addEventListener("click", (event) => {
    const dot = event.target.closest("a.dot");
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!dot || !plain || dot.dataset.trial === shown()) return; // the second click follows the link
    event.preventDefault();
    choose(dot.dataset.trial);
  });
  follow.addEventListener("click", (event) => {
    event.preventDefault();
    choose("");
  });
  bind([
    { key: "o", label: "Open the trial whose events are shown", run: () => byId(`dot-${shown()}`)?.click() },
    { key: "f", label: "Follow what runs", run: () => choose("") },
  ]);
  showChosen();
}
start();
