// Sections become tabs: one is shown, the address names it. Without JavaScript all are shown, one below the other.
export function makeTabs(root) {
  const links = [...root.querySelectorAll(".tabs a")];
  const tabs = links.map((link) => root.querySelector(link.hash));
  const show = (hash) => {
    const chosen = Math.max(0, links.findIndex((link) => link.hash === hash));
    links.forEach((link, i) => (i === chosen ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    tabs.forEach((tab, i) => (tab.hidden = i !== chosen));
  };
  for (const link of links)
    link.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", link.hash);
      show(link.hash);
    });
  addEventListener("hashchange", () => links.some((link) => link.hash === location.hash) && show(location.hash));
  show(location.hash);
}
