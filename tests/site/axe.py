"""axe-core on a page as it stands: what keeps people out, in one line each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

SOURCE = (Path(__file__).resolve().parent.parent / "vendor" / "axe.min.js").read_text()
BARRIERS = ("serious", "critical")

# A second colour scheme changes colours alone: the other rules need not run again.
CHECK = """async (rules) => {
  const only = rules ? {runOnly: {type: "rule", values: rules}} : {};
  const {violations} = await axe.run(document, {resultTypes: ["violations"], ...only});
  return violations.flatMap(({id, impact, nodes}) => nodes.map(({target, any, all, none}) =>
    [impact, id, target.join(" "), [...any, ...all, ...none][0]?.message ?? ""]));
}"""

# What is folded away or behind a tab has to be as good as the rest.
UNFOLD = """() => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const tab of document.querySelectorAll("[data-tabs] [hidden]")) tab.hidden = false;
}"""


def barriers(page: Page, *rules: str) -> list[str]:
    """What axe calls serious or critical; `rules` restricts it to those."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(SOURCE)
    found = page.evaluate(CHECK, list(rules) or None)
    return [f"{rule} ({impact}) at {target}: {why}" for impact, rule, target, why in found if impact in BARRIERS]


def looks(page: Page) -> list[str]:
    """Wide and narrow, light and dark; nothing sticks out of a narrow window."""
    found = []
    for width, scheme, rules in (
        (1440, "light", ()),
        (1440, "dark", ("color-contrast",)),
        (390, "dark", ()),
        (390, "light", ("color-contrast",)),
    ):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
        page.evaluate(UNFOLD)
        found += [f"{width} {scheme}: {one}" for one in barriers(page, *rules)]
        needed = page.evaluate("document.documentElement.scrollWidth")
        if needed > width:
            found.append(f"{width} {scheme}: the page is {needed} px wide")
    return found
