// "Tell me when": a notification at the first failure and at the end of a run, for a page that nobody looks at.
// It reads the counts that the live panel carries, however those arrive.
const root = document.getElementById("live");
const button = document.getElementById("tell-when");
const key = `tell-when:${root.dataset.run}`;
const counts = () => document.getElementById("live-counts").dataset;
const over = () => ["done", "cancelled"].includes(counts().status);

let seen = { failed: Number(counts().failed), over: over() };
const wanted = () => Notification.permission === "granted" && sessionStorage.getItem(key) === "yes";

function show() {
  const blocked = Notification.permission === "denied";
  button.hidden = over();
  button.disabled = blocked;
  button.setAttribute("aria-pressed", String(wanted()));
  button.textContent = blocked ? "Notifications are blocked" : wanted() ? "You will be told" : "Tell me when";
}

function tell(title) {
  try {
    const note = new Notification(title, { body: counts().summary, tag: key, icon: "/static/icon.svg" });
    note.onclick = () => {
      window.focus();
      note.close();
    };
  } catch {
    button.hidden = true; // some browsers have the name and refuse to make one
  }
}

function look() {
  const now = { failed: Number(counts().failed), over: over() };
  if (wanted() && now.over && !seen.over) tell(`${counts().run}: ${counts().status === "done" ? "over" : "cancelled"}`);
  else if (wanted() && now.failed && !seen.failed) tell(`${counts().run}: first failure`);
  seen = now;
  show();
}

if ("Notification" in window && window.isSecureContext) {
  button.addEventListener("click", async () => {
    if (wanted()) sessionStorage.removeItem(key);
    else if ((await Notification.requestPermission()) === "granted") sessionStorage.setItem(key, "yes");
    show();
  });
  new MutationObserver(look).observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-status"] });
  show();
}
