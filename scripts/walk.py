"""A newcomer's walk: from `make run` to hearing why a scenario failed, with pictures and the time each step took.

    python scripts/walk.py [--write]

Ends with 1 when it takes five minutes or more. `--write` puts the times into docs/first-steps.md.
"""

from __future__ import annotations

import argparse
import re
import sys

from playwright.sync_api import Page
from stage import ROOT, Stage, browser_page, fresh_site, picture, sign_in

LIMIT_S = 300
DOC = ROOT / "docs" / "first-steps.md"
HEARD = "() => { const a = document.querySelector('audio'); return !a.paused && a.currentTime > 0 && a.volume > 0 }"

Step = tuple[str, float]


def walk(page: Page, stage: Stage) -> list[Step]:
    """What was reached, and how many seconds after the command."""
    steps = [("the sign-in link is printed", stage.seconds())]

    def reached(what: str) -> None:
        steps.append((what, stage.seconds()))

    sign_in(page, stage)
    reached("signed in, on Home")
    picture(page, "walk-1-home", height=520)

    page.get_by_role("link", name=re.compile("^Demo")).first.click()
    page.locator(".dot.failed").first.wait_for(timeout=LIMIT_S * 1000)
    reached("the first trial has failed, on the run's page")
    picture(page, "walk-2-run")

    page.locator("#run-failures tr", has=page.locator(".outcome.fail")).locator("th a").first.click()
    page.locator(".why").wait_for()
    page.wait_for_load_state("networkidle")
    reached("the trial says why")
    picture(page, "walk-3-why")

    start = float(page.locator("#hear").get_attribute("data-from") or 0) / 1000
    page.keyboard.press("E")
    page.wait_for_function(HEARD)
    page.wait_for_function(f"() => document.querySelector('audio').currentTime > {start} + 1", timeout=15_000)
    reached("the evidence is heard")
    picture(page, "walk-4-hear")
    return steps


def as_table(steps: list[Step]) -> str:
    rows = [f"| {what} | {seconds:.0f} s |" for what, seconds in steps]
    return "\n".join(["| reached | after `make run` |", "|---|---|", *rows])


def write(steps: list[Step]) -> None:
    marks = re.compile(r"(<!-- walk -->\n).*?(\n<!-- /walk -->)", re.DOTALL)
    text, count = marks.subn(lambda found: f"{found[1]}{as_table(steps)}{found[2]}", DOC.read_text())
    if count != 1:
        raise SystemExit(f"{DOC.name} has no place for the times (<!-- walk -->)")
    DOC.write_text(text)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--write", action="store_true", help="put the times into docs/first-steps.md")
    chosen = options.parse_args()
    with fresh_site(["make", "--no-print-directory", "run"]) as stage, browser_page() as page:
        steps = walk(page, stage)
    print(as_table(steps))
    if chosen.write:
        write(steps)
    took_s = steps[-1][1]
    sys.exit(f"{took_s:.0f} s: the walk has to take less than {LIMIT_S} s" if took_s >= LIMIT_S else 0)


if __name__ == "__main__":
    main()
