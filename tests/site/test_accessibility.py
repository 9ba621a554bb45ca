"""Every page in a real browser: axe-core finds nothing serious, wide and narrow, light and dark, empty and full."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User

from evalsite import demo
from evalsite.models import SignInLink
from runs_app.comparing.choice import Choice
from runs_app.comparing.export import as_json
from runs_app.comparing.page import page_of
from runs_app.models import KnownFailure, Run
from runs_app.services.decisions import record_decision
from runs_app.services.known_failures import mark_known, usual_expiry
from tests.browser import Chrome, Site
from tests.pages.comparing import finished_run, same, versions
from tests.pages.playing import begin, end, play, tell, words
from tests.pages.trials import broken_trial, spoken_trial
from tests.runs.builders import make_configuration, make_run, scenario
from tests.site.axe import barriers, looks

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]

LISTS = (
    "/",
    "/scenarios/",
    "/suites/",
    "/applications/",
    "/configurations/",
    "/runs/",
    "/runs/new/",
    "/compare/",
    "/review/",
)
LONG = "a_scenario_whose_id_goes_on_and_on_until_the_hundred_characters_that_are_allowed_are_all_used_up"
ARABIC = "مرحبا، أريد حجز طاولة لأربعة أشخاص يوم الجمعة الساعة 19:00 باسم Nora من فضلك."
# Refusals are pages too, and the browser's console names them.
REFUSED = ("status of 404", "status of 410")


def check(page: Page, site: Site, paths: dict[str, str]) -> list[str]:
    found = []
    for name, path in paths.items():
        page.goto(site.url + path)
        found += [f"{name} ({path}), {one}" for one in looks(page)]
    return found


def odd_names() -> None:
    make_run(
        [
            scenario(LONG, title="T" * 150, tags=["t" * 40]),
            scenario("right_to_left", title=ARABIC, input={"text": ARABIC}, tags=["عربي"]),
        ],
        name="N" * 120,
    )


def running_run() -> Run:
    run = make_run(3, repeats=3, concurrency=8)
    claim = begin(run)
    tell(claim, *[words(n, f"word {n}") for n in range(8)])
    play(run, ["failed", "invalid", "passed"], reason="It was booked for five. " * 8, stage="connect")
    return run


def problem_pages(failed: Run, compared: Run) -> dict[str, str]:
    """What fails, what of it is known (one mark is expired), and what was decided."""
    trial = failed.trials.failed().with_versions().first()
    assert trial is not None
    place = {"scenarios": [trial.scenario_version.scenario], "ticket": "https://bugs.example/BUG-7"}
    [known] = mark_known(**place, expires_on=usual_expiry())  # type: ignore[arg-type]
    [expired] = mark_known(**place, expires_on=usual_expiry(), kind="a:b")  # type: ignore[arg-type]
    KnownFailure.objects.filter(pk=expired.pk).update(expires_on=date(2020, 1, 1))
    labels = [entry.configuration_version for entry in compared.configurations.order_by("position")]
    decision = record_decision(
        document=as_json(page_of(Choice(runs=(compared.pk,)))),
        query=f"run={compared.pk}",
        runs=[compared],
        baseline_version=labels[0],
        candidate_version=labels[1],
        choice="adopt",
        note="It is better.",
        promote=True,
        user=User.objects.get(username="alice"),
    )
    assert compared.suite is not None
    return {
        "problems": f"/problems/?run={failed.pk}",
        "problem": f"/problems/?run={failed.pk}&kind=",
        "mark known": f"/known/new/?trial={trial.pk}",
        "known failures": "/known/",
        "known failure": known.get_absolute_url(),
        "expired mark": expired.get_absolute_url(),
        "decide": f"/decide/?run={compared.pk}",
        "decision": decision.get_absolute_url(),
        "decisions": "/decisions/",
        "insight": f"{compared.suite.get_absolute_url()}insight/",
    }


def full_site() -> dict[str, str]:
    demo.install()
    compared = finished_run(same(), scenarios=4, configurations=versions(), repeats=3)
    running = running_run()
    heard, broken = spoken_trial(), broken_trial()
    failed = make_run(2, configurations=[make_configuration("Desk A"), make_configuration("Desk B")])
    for number, outcome in enumerate(["failed", "passed", "invalid", "ungraded"]):
        end(begin(failed), outcome, reason="expected 4, got 5", stage="connect" if number == 2 else "")
    odd_names()
    return {
        "scenario": "/scenarios/booking_date_corrected/",
        "scenario editor": "/scenarios/booking_date_corrected/edit/",
        "new scenario": "/scenarios/new/",
        "import": "/scenarios/import/",
        "import of configurations": "/configurations/import/",
        "long names": f"/scenarios/{LONG}/",
        "right to left": "/scenarios/right_to_left/",
        "right to left, editor": "/scenarios/right_to_left/edit/",
        "suite": "/suites/demo/",
        "application": "/applications/Copper Heron/",
        "application editor": "/applications/Copper Heron/edit/",
        "console": "/applications/Copper Heron/console/",
        "configuration": "/configurations/Front desk/",
        "configuration editor": "/configurations/Front desk/edit/",
        "configuration difference": "/configurations/Front desk/diff/?from=1&to=2",
        "running": running.get_absolute_url(),
        "failed": failed.get_absolute_url(),
        "done": compared.get_absolute_url(),
        "trial": heard.get_absolute_url(),
        "trial in review": f"{heard.get_absolute_url()}?queue=1&reviewed=any#review",
        "clocks": f"/runs/{heard.run_id}/clocks/",
        "queue of all": "/review/?reviewed=any",
        "broken trial": broken.get_absolute_url(),
        "comparison": f"/compare/?run={compared.pk}",
        **problem_pages(failed, compared),
        "comparison, open row": f"/compare/?run={heard.run_id}&open=case_1",
        "comparison, charts": f"/compare/?run={compared.pk}&view=scatter",
        "comparison, heat map": f"/compare/?run={compared.pk}&view=heatmap",
        "comparison, running": f"/compare/?run={running.pk}",
        **{f"list {path}": path for path in LISTS},
    }


def test_nothing_keeps_people_out_of_a_site_that_is_empty(site: Site, chrome: Chrome) -> None:
    chrome.expect_problem(*REFUSED)
    link = f"/sign-in/{SignInLink.issue(site.user)}/"
    page = chrome.open("/")
    found = check(page, site, {**{f"empty {path}": path for path in LISTS}, "not found": "/nowhere/"})
    page.keyboard.press("?")
    found += [f"keys, {one}" for one in looks(page)]
    page.context.clear_cookies()
    found += check(page, site, {"sign in": "/sign-in/", "link": link, "spent link": "/sign-in/spent/"})
    assert not found, "\n".join(found)


def test_nothing_keeps_people_out_of_a_site_that_is_full(site: Site, chrome: Chrome) -> None:
    page = chrome.open("/")
    found = check(page, site, full_site())
    assert not found, "\n".join(found)


# Named by what a person would look for; a radio group is one stop, whichever of it is chosen.
STOPS = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
  .filter((one) => one.checkVisibility({visibilityProperty: true}) && !one.disabled && one.tabIndex >= 0)
  .filter((one) => one.type !== "radio" && one.type !== "hidden")
  .map((one, number) => { one.dataset.stop = number; return number; })"""
AT = """() => { const one = document.activeElement, style = getComputedStyle(one);
  return [one.dataset.stop ?? "", one.outerHTML.slice(0, 120),
    style.outlineStyle !== "none" || style.boxShadow !== "none"]; }"""


def unreached(page: Page) -> list[str]:
    """What Tab never comes to, and where one cannot see that it came."""
    wanted = {str(number) for number in page.evaluate(STOPS)}
    found, invisible = set(), []
    for _ in range(2 * len(wanted) + 20):
        page.keyboard.press("Tab")
        stop, html, is_seen = page.evaluate(AT)
        if stop and not is_seen:
            invisible.append(f"no focus is seen at {html}")
        found.add(stop)
    missed = [page.evaluate("n => document.querySelector(`[data-stop='${n}']`).outerHTML", n) for n in wanted - found]
    return [*(f"Tab misses {html[:160]}" for html in missed), *invisible]


def test_tab_comes_to_everything_that_can_be_pressed(site: Site, chrome: Chrome) -> None:
    paths = full_site()
    page = chrome.open("/")
    found = []
    for name in ("list /", "list /runs/new/", "done", "trial", "comparison", "suite", "console", "scenario editor"):
        page.goto(site.url + paths[name], wait_until="networkidle")
        found += [f"{name}: {one}" for one in unreached(page)]
    assert not found, "\n".join(found)


def test_the_check_sees_what_it_is_for(site: Site, chrome: Chrome) -> None:
    """A page made worse on purpose: else a check that never ran would look like a clean page."""
    page = chrome.open("/")
    assert barriers(page) == []
    page.evaluate("document.getElementById('theme').removeAttribute('aria-label')")
    page.evaluate("document.getElementById('theme').removeAttribute('title')")
    page.evaluate("document.querySelector('h1').style.color = '#ddd'")
    rules = {one.split()[0] for one in barriers(page)}
    assert rules == {"button-name", "color-contrast"}
    page.evaluate("document.body.style.minWidth = '3000px'")
    assert any("px wide" in one for one in looks(page))
