"""Real sound in a real browser: a side alone, swapped at a turn, blind.

A site takes seconds to start, so that each test walks many steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from runs_app.models import Preference, Run, Trial
from runs_app.realtime.wav import wav_bytes
from tests.grading import builders as evidence
from tests.pages.comparing import versions
from tests.pages.listening import PLAYERS, SHOWN, now, talking
from tests.pages.trials import record_trial
from tests.runs.builders import make_run
from tests.services import eventually
from tests.site.axe import looks

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser import Chrome, Site

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]

# the loudest sample of each ear, behind all that the player does to the sound
EARS = f"""async () => {{
  const {{context, output}} = {SHOWN}.player.graph();
  const splitter = context.createChannelSplitter(2);
  output.connect(splitter);
  const ears = [0, 1].map((side) => {{
    const ear = context.createAnalyser();
    ear.fftSize = 8192;
    splitter.connect(ear, side);
    return ear;
  }});
  await new Promise((done) => setTimeout(done, 400));
  return ears.map((ear) => {{
    const samples = new Float32Array(ear.fftSize);
    ear.getFloatTimeDomainData(samples);
    return samples.reduce((top, one) => Math.max(top, Math.abs(one)), 0);
  }});
}}"""


def overlapping_trial() -> Trial:
    """Both speak all the time, so that silence on a side is the player's doing."""
    record, sound = talking((0, 12_000, 100, 12_000), total_ms=12_000)
    return record_trial(make_run(), record, sound)


# three turns each, at quite different seconds
FIRST = ((0, 1_000, 1_800, 4_000), (5_000, 6_000, 7_000, 9_000), (10_000, 11_000, 12_000, 15_000))
SECOND = ((0, 1_000, 4_000, 6_000), (9_000, 10_000, 11_000, 13_000), (16_000, 17_000, 18_000, 21_000))


@pytest.fixture
def pair(site: Site) -> Run:
    """One scenario under two configurations."""
    run = make_run(1, configurations=versions())
    for record, sound in (talking(*FIRST, total_ms=15_000), talking(*SECOND, total_ms=21_000)):
        record_trial(run, record, sound)
    Trial.objects.filter(run=run).update(outcome="failed")
    return run


def test_one_side_alone_leaves_true_silence_on_the_other(site: Site, chrome: Chrome) -> None:
    page = chrome.open(f"/trials/{overlapping_trial().pk}/")
    page.keyboard.press(" ")
    eventually(lambda: now(page) > 0.1, what="it plays")
    page.get_by_role("button", name="L caller").click()
    left, right = page.evaluate(EARS)
    assert left > 0.1
    assert right == 0
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("S")
    left, right = page.evaluate(EARS)
    assert left == 0
    assert right > 0.1
    page.keyboard.press("S")
    assert min(page.evaluate(EARS)) > 0.1
    walk_a_turn(page, site)


def walk_a_turn(page: Page, site: Site) -> None:
    """Linked to, zoomed to, looped."""
    record, sound = talking(*FIRST, total_ms=15_000)
    trial = record_trial(make_run(), record, sound)
    page.goto(f"{site.url}/trials/{trial.pk}/?t=5.5&ch=R&ev=0")
    eventually(lambda: now(page, "readyState") >= 1 and abs(now(page) - 5.5) < 0.05, what="the link's moment")
    assert page.get_by_role("button", name="R agent").get_attribute("aria-pressed") == "true"
    style = "document.querySelector('.player-lanes').style"
    in_view = f"() => ['--from', '--span'].map((name) => {style}.getPropertyValue(name))"
    page.keyboard.press("Z")
    assert page.evaluate(in_view) == ["4500", "6000"]
    page.keyboard.press("Z")
    assert page.evaluate(in_view) == ["0", "15000"]
    page.keyboard.press("R")
    page.evaluate(f"{SHOWN}.player.audio.currentTime = 9.8")
    page.keyboard.press(" ")
    eventually(lambda: 4.9 < now(page) < 7, what="the turn begins again at its start")
    assert page.evaluate(f"{SHOWN}.player.link()").endswith("&ch=R")


def open_dock(chrome: Chrome, run: Run) -> Page:
    page = chrome.open(f"/compare/?run={run.pk}")
    page.locator("[data-listen][data-side=A]").first.click()
    eventually(lambda: page.locator("#dock audio").count() == 1 and now(page) > 0.05, what="A is heard")
    return page


def stands_at(page: Page, seconds: float) -> None:
    eventually(lambda: abs(now(page) - seconds) <= 0.05, what=f"it stands at {seconds} s")


def test_x_goes_to_the_same_turn_and_offset_whatever_second_that_is(chrome: Chrome, pair: Run) -> None:
    page = open_dock(chrome, pair)
    places = f"() => {PLAYERS}.map((one) => one.player.ms())"
    page.keyboard.press(" ")
    assert now(page, "paused")
    for a_s, b_s in ((0.5, 0.5), (6.2, 10.2), (12.75, 18.75)):
        page.evaluate(f"(s) => {SHOWN}.player.seek(s)", a_s)
        page.keyboard.press("X")
        eventually(lambda: page.locator("#dock [data-player]").count() == 2, what="B is there")
        stands_at(page, b_s)
        assert page.evaluate(places) == pytest.approx([a_s * 1000, b_s * 1000], abs=50)
        page.keyboard.press("x")
        stands_at(page, a_s)
    page.evaluate(f"(s) => {SHOWN}.player.seek(s)", 5.1)
    page.keyboard.press(" ")
    eventually(lambda: now(page) > 5.4, what="A plays in its second turn")
    page.evaluate("addEventListener('seeking', ({target}) => (window.sought = target.currentTime * 1000), true)")
    page.keyboard.press("X")
    eventually(lambda: 9.4 < now(page) < 13 and not now(page, "paused"), what="B plays on in its second turn")
    eventually(lambda: page.evaluate("window.sought !== undefined"), what="B was sent to its place")
    left = page.evaluate(places)[0]
    assert page.evaluate("window.sought") - 9_000 == pytest.approx(left - 5_000, abs=50)
    assert "turn 2 of 3" in page.locator("#dock").inner_text()
    hear_blind(page, pair)


def hear_blind(page: Page, pair: Run) -> None:
    """By keys alone."""
    page.goto(page.url.split("/compare/")[0] + f"/blind/?run={pair.pk}")
    page.get_by_role("button", name="Hear the first pair").click()
    page.wait_for_url("**/blind/*/")
    assert "Front desk" not in page.content()
    found = Preference.objects.get()
    eventually(lambda: now(page, "readyState") >= 1, what="the first is there")
    page.keyboard.press(" ")
    eventually(lambda: now(page) > 0.2, what="it plays")
    page.keyboard.press("X")
    assert page.get_by_role("button", name="second", exact=True).get_attribute("aria-pressed") == "true"
    eventually(lambda: now(page) > 0.2 and not now(page, "paused"), what="the second plays on")
    page.keyboard.press("2")
    page.get_by_text("You liked the second").wait_for()
    found.refresh_from_db()
    assert found.liked == ("b" if found.a_is_first else "a")
    assert "Front desk@2" in page.content()


def test_recordings_that_are_mono_short_or_gone_are_told_and_what_can_be_heard_is(site: Site, chrome: Chrome) -> None:
    record, sound = talking((0, 1_000, 1_800, 4_000), total_ms=4_000)
    mono = record_trial(make_run(), record, sound)
    name = default_storage.save(f"{mono.folder}/mono.wav", ContentFile(wav_bytes(sound[:, 0])))
    Trial.objects.filter(pk=mono.pk).update(wav=name, peaks="")
    late = evidence.call(turn=0, called_ms=7_000.0, answered_ms=8_000.0)
    short = record_trial(make_run(), evidence.audio_record(late, turns=record.turns, audio_samples=len(sound)), sound)
    gone = record_trial(make_run(), record, sound)
    default_storage.delete(gone.wav)

    page = chrome.open(f"/trials/{mono.pk}/")
    eventually(lambda: now(page, "readyState") >= 1, what="the mono recording is known")
    assert "mono: both voices in one channel" in page.locator(".player-bar").inner_text()
    page.keyboard.press("S")
    page.keyboard.press(" ")
    eventually(lambda: now(page) > 0.2, what="it plays")

    page.goto(f"{site.url}/trials/{short.pk}/")
    assert page.locator(".beyond").is_visible()
    assert page.locator(".player-lanes").evaluate("one => one.style.getPropertyValue('--span')") == "8000"
    page.locator("[data-lane=tools] .mark").first.click()
    eventually(lambda: now(page) > 3.9, what="a moment after the recording is its end")

    page.goto(f"{site.url}/trials/{gone.pk}/")
    assert "not in storage any more" in page.locator("#content").inner_text()
    assert page.locator("audio").count() == 0


def test_the_dock_lets_go_of_what_was_heard_long_ago(site: Site, chrome: Chrome) -> None:
    run = make_run(10)
    for _ in range(10):
        record_trial(run, *talking(*FIRST, total_ms=15_000))
    Trial.objects.filter(run=run).update(outcome="failed")
    page = chrome.open(f"/runs/{run.pk}/")
    buttons = page.locator("[data-listen]")
    shown = f"{SHOWN}?.dataset.trial"
    for n in (*range(10), 0):
        buttons.nth(n).press("Enter")  # the dock may lie over it
        wanted = buttons.nth(n).get_attribute("data-listen")
        eventually(lambda wanted=wanted: page.evaluate(shown) == wanted and now(page) > 0, what=f"{wanted} is heard")
    assert page.locator("#dock [data-player]").count() == 8


def test_nothing_keeps_people_out_of_the_pages_to_listen_on(site: Site, chrome: Chrome, pair: Run) -> None:
    """Axe on each, wide and narrow, light and dark; with the dock open and the pair decided."""
    page = chrome.open(f"/playlist/?run={pair.pk}")
    found = {"playlist": looks(page)}
    page.goto(f"{site.url}{pair.get_absolute_url()}")
    page.locator("[data-listen]").first.click()
    eventually(lambda: page.locator("#dock [data-waves=drawn]").count() == 1, what="the dock is open")
    found["run with the dock"] = looks(page)
    page.goto(f"{site.url}/blind/?run={pair.pk}")
    found["blind"] = looks(page)
    page.get_by_role("button", name="Hear the first pair").click()
    page.wait_for_url("**/blind/*/")
    found["pair"] = looks(page)
    page.keyboard.press("0")
    page.get_by_text("You liked neither better").wait_for()
    found["decided pair"] = looks(page)
    page.goto(f"{site.url}/trials/{pair.trials.all()[0].pk}/")
    eventually(lambda: page.locator("[data-waves=drawn]").count() == 1, what="the waves are drawn")
    found["trial"] = looks(page)
    assert not any(found.values()), found
