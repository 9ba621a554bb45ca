// Keeps a page up to date: htmx holds the socket, this watches it, drops a silent one, and polls when it is refused.

const SILENT_MS = 40_000; // the server ticks every 15 s: a socket that says nothing for longer is dead
const LOOK_MS = 1_000;
const POLL_MS = 3_000;
const REFUSALS = 2; // attempts in a row that never opened before the page polls
const SIGNED_OUT = 4403;
const GONE = 4404;
const TRIED_AGAIN_BY_HTMX = [1006, 1011, 1012, 1013];

/**
 * @param {HTMLElement} root has data-panel, the address of the parts, and ws-connect when there is a socket to open
 * @param {{query: () => string, say: (state: string) => void, before: () => void, changed: () => void}} page
 *   query: what is chosen, asked for at each connect, so that a choice outlives a reconnect;
 *   say: live, reconnecting, refused, polling, away, signedout or gone; before and changed: around every change
 * @returns {{refresh: () => void, fetchInto: (path: string) => Promise<string>}} refresh asks anew, after a choice;
 *   fetchInto puts the parts of another address in their places
 */
export function keepLive(root, page) {
  const address = root.getAttribute("ws-connect")?.split("?")[0];
  let socket = null; // the current one; htmx may still tell of older ones
  let wrapper = null;
  let heardAt = Date.now();
  let refusals = 0;
  let stopped = false;
  let round = 0; // of polling; 0: the socket serves
  let rounds = 0;

  function connect() {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}${address}${page.query()}`);
    heardAt = Date.now();
    return socket;
  }

  function reconnect() {
    if (stopped || !wrapper) return;
    socket.onclose = null; // what an abandoned socket reports later must not start another one
    socket.close();
    wrapper.reconnect();
  }

  function stop(state) {
    stopped = true;
    round = 0;
    page.say(state);
  }

  function opened({ detail }) {
    if (detail.event.target !== socket) return;
    wrapper = detail.socketWrapper;
    refusals = round = 0;
    heardAt = Date.now();
  }

  function closed({ detail }) {
    const { code, target } = detail.event;
    if (target !== socket || stopped) return;
    if (code === SIGNED_OUT) return stop("signedout");
    if (code === GONE) return stop("gone");
    refusals += 1;
    if (refusals < REFUSALS) page.say("reconnecting");
    else poll();
    if (!TRIED_AGAIN_BY_HTMX.includes(code)) setTimeout(reconnect, 1000 * Math.random() * 2 ** Math.min(refusals, 6));
  }

  function look() {
    if (stopped || Date.now() - heardAt < SILENT_MS) return;
    if (socket?.readyState === WebSocket.OPEN) {
      page.say("reconnecting");
      reconnect();
    } else if (socket?.readyState === WebSocket.CONNECTING) socket.close(); // htmx then tries again
  }

  async function poll() {
    if (round || stopped) return;
    const mine = (round = rounds += 1);
    while (round === mine) {
      const state = await fetchParts();
      if (["signedout", "gone"].includes(state)) return stop(state);
      if (round === mine) page.say(state);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** The panel as it is now. */
  function fetchParts() {
    const asked = page.query();
    // what a socket that opened meanwhile sends is newer, and so is another choice
    return fetchInto(root.dataset.panel + asked, () => asked === page.query() && socket?.readyState !== WebSocket.OPEN);
  }

  /** Puts each part that the address answers with in the place of its id, if still wanted. Returns how that went. */
  async function fetchInto(path, wanted = () => true) {
    let answer, text;
    try {
      answer = await fetch(path);
      text = await answer.text();
    } catch {
      return address ? "reconnecting" : "away"; // nobody is there; the next round asks again
    }
    if (answer.redirected) return "signedout"; // what came is the sign-in page
    if (answer.status === 404) return "gone";
    if (!answer.ok) return "away";
    if (wanted()) put(text);
    return address ? "refused" : "polling";
  }

  function put(text) {
    page.before();
    for (const part of [...new DOMParser().parseFromString(text, "text/html").body.children]) {
      const old = document.getElementById(part.id);
      if (!old || old.outerHTML === part.outerHTML) continue;
      old.replaceWith(part);
      htmx.process(part);
    }
    page.changed();
  }

  function start() {
    if (!address) return void poll();
    root.addEventListener("htmx:wsOpen", opened);
    root.addEventListener("htmx:wsClose", closed);
    root.addEventListener("htmx:wsBeforeMessage", () => {
      heardAt = Date.now();
      page.say("live");
      page.before();
    });
    root.addEventListener("htmx:wsAfterMessage", page.changed);
    htmx.createWebSocket = connect; // in time: modules run before htmx looks at the page
    page.say("reconnecting");
    setInterval(look, LOOK_MS);
  }

  start();
  return { refresh: () => (socket?.readyState === WebSocket.OPEN ? reconnect() : void fetchParts()), fetchInto };
}
