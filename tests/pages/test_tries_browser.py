"""Try once now and Fix it here as people press them: live, in place, heard, and kept."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from runs_app.models import Run
from scenarios_app.models import ScenarioVersion
from tests.browser import Chrome, Site
from tests.grading import builders as evidence
from tests.pages.trials import SOUND, record_trial, spoken_trial
from tests.runs.builders import make_configuration
from tests.runs.failing import OLD, failed_trial, play
from tests.services import eventually
from tests.site.axe import looks

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WAIT_MS = 30_000
SETTINGS = "/configurations/Front%20desk"


def plays(page: Page, within: str) -> None:
    page.locator(f"{within} button.play").click()
    moved = f"() => document.querySelector('{within} audio').currentTime > 0"
    page.wait_for_function(moved, timeout=WAIT_MS)
    page.locator(f"{within} button.play").click()


def test_what_stands_in_the_editor_is_tried_in_place_heard_and_held_against_a_kept_trial(
    site: Site, chrome: Chrome
) -> None:
    kept = spoken_trial()
    key = kept.scenario_version.scenario.key
    page = chrome.open(f"/scenarios/{key}/edit/")
    page.get_by_label("Title").fill("Not saved yet")
    page.get_by_role("button", name="Try once now").click()
    told = page.locator("#try-run")
    expect(told.locator(".outcome")).to_contain_text("queued", timeout=WAIT_MS)
    (run,) = Run.everything.exclude(temporary_until=None)
    called = evidence.call(turn=0, called_ms=1_200.0, answered_ms=1_500.0)
    record_trial(run, evidence.audio_record(called, audio_samples=len(SOUND)), SOUND)
    expect(told.locator("[data-player]")).to_be_visible(timeout=WAIT_MS)
    plays(page, "#try-run")
    assert run.trials.get().scenario_version.content["title"] == "Not saved yet"
    assert page.url.endswith(f"/scenarios/{key}/edit/")
    assert looks(page) == []

    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Grade it with this draft").click()
    expect(told).to_contain_text("Every check comes to the same.", timeout=WAIT_MS)
    expect(page.get_by_label("Title")).to_have_value("Not saved yet")
    assert ScenarioVersion.objects.filter(scenario__key=key).count() == 1


def test_a_failure_is_fixed_beside_it_by_keyboard_and_the_prompt_is_kept(site: Site, chrome: Chrome) -> None:
    trial = failed_trial()
    page = chrome.open(trial.get_absolute_url())
    page.locator("#fix-it").focus()
    page.keyboard.press("Enter")
    prompt = page.locator("#fix-prompt")
    expect(prompt).to_be_focused(timeout=WAIT_MS)
    page.keyboard.press("Escape")
    expect(page.locator("#fix-side")).to_be_hidden()
    expect(page.locator("#fix-it")).to_be_focused()

    page.keyboard.press("Enter")
    expect(prompt).to_be_focused(timeout=WAIT_MS)
    prompt.fill(f"{OLD} Read the date back.")
    page.locator("#fix-repeats").fill("2")
    page.get_by_role("button", name="Try it").click()
    told = page.locator("#fix-run")
    expect(told).to_contain_text("0/10", timeout=WAIT_MS)
    (run,) = Run.everything.exclude(temporary_until=None)
    play(run, failing={("case_1", OLD)})
    expect(told).to_contain_text("It passes more often, and all 3 guards hold.", timeout=WAIT_MS)
    told.locator("a.dot").first.click()
    expect(page.locator("#fix-conversation")).to_contain_text("As told.", timeout=WAIT_MS)
    assert looks(page) == []

    page.set_viewport_size({"width": 1440, "height": 900})
    page.locator("#fix-note").fill("Reads dates back")
    page.get_by_role("button", name="Keep as version 2").click()
    expect(page.locator(".message.success")).to_contain_text("Saved as Front desk@2", timeout=WAIT_MS)
    expect(page).to_have_url(re.compile(rf"/compare/\?run={run.pk}"))


def test_pages_of_a_configuration_keep_nobody_out_and_tell_of_the_prompt_as_it_is_written(
    site: Site, chrome: Chrome
) -> None:
    make_configuration(instructions=OLD)
    page = chrome.open(f"{SETTINGS}/edit/")
    size = page.locator(".prompt-size")
    expect(size).to_contain_text("3 words · 1 line", timeout=WAIT_MS)
    page.get_by_label("Instructions", exact=True).fill(f"{OLD}\nBe kind.")
    expect(size).to_contain_text("5 words · 2 lines · +1 −0 lines since you began", timeout=WAIT_MS)
    page.get_by_label("Instructions", exact=True).fill(OLD)
    expect(size).not_to_contain_text("since you began", timeout=WAIT_MS)
    found = []
    for path in ("vary/?thing=voice", "versions/1/session/"):
        page.goto(f"{site.url}{SETTINGS}/{path}")
        found += looks(page)
    assert found == []
    page.goto(f"{site.url}{SETTINGS}/vary/?thing=voice")
    page.get_by_label("Agent's voice").fill("cedar")
    page.get_by_role("button", name="Save the new configuration").click()
    name = "Front desk · other voice"
    expect(page.get_by_role("heading", level=1)).to_have_text(name, timeout=WAIT_MS)
    eventually(lambda: page.locator(".message.success").count() == 1, what="it is told what is other")
