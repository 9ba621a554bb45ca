"""Ten trials reviewed by keys alone, and what the page of a trial shows beside, in a real browser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from runs_app.models import Mark, Review, Run, Trial
from runs_app.realtime.record import Caption, Event
from runs_app.recorder.recording import Recorder
from runs_app.services.claims import claim_trial
from tests.browser import Chrome, Site
from tests.grading import builders as evidence
from tests.pages.trials import record_trial
from tests.runs.builders import make_run
from tests.services import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOUND = evidence.recording([(0, 1_000)], [(1_600, 3_100)], 3_400)


def early_trial(run: Run) -> Trial:
    """The agent confirms at 1.6 s; the tool answers at 2.0 s. The caller was heard with another number."""
    tool = evidence.call(called_ms=1_200.0, answered_ms=2_000.0)
    text = "Your table is booked."
    turn = evidence.spoken(
        agent=((1_600, 3_100),),
        captions=(Caption(1_600, text),),
        text=text,
        caller_text="A table for 4 at 7 please",
        heard_text="A table for 14 at 7",
        first_token_ms=1_580.0,
    )
    record = evidence.audio_record(
        tool, turns=(turn,), audio_samples=len(SOUND), final_state={}, initial_state={"reservation_created": False}
    )
    return record_trial(run, record, SOUND)


def ten_trials() -> Run:
    run = make_run(10)
    early_trial(run)
    for _ in range(9):
        record = evidence.audio_record(
            evidence.call(turn=0, called_ms=1_200.0, answered_ms=1_500.0), audio_samples=len(SOUND)
        )
        record_trial(run, record, SOUND)
    return run


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def review(page: Page, keys: str, note: str = "") -> None:
    """One trial: keys, a note, then Enter, which leads on."""
    before = page.url
    press(page, keys)
    if note:
        press(page, "n")
        page.keyboard.type(note)
        press(page, "Escape")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url != before)


def test_ten_trials_are_reviewed_by_keys_alone_in_one_flow(site: Site, chrome: Chrome) -> None:
    run = ten_trials()
    machine = list(run.trials.order_by("position").values_list("outcome", flat=True))
    page = chrome.open("/review/")
    page.keyboard.press("Enter")
    page.wait_for_url("**/trials/**")
    assert page.locator("#review").is_visible()
    assert "0 of 10" in page.locator("#review").inner_text()

    review(page, "f a 2 1", "confirmed before it was booked")
    review(page, "f c")
    review(page, "p 5")
    review(page, "p a")  # the agent's fault: then it cannot have passed
    review(page, "j p")
    review(page, "i")
    for _ in range(4):
        review(page, "d u p 4")
    assert "All 10 that the filter names are reviewed" in page.locator("main").inner_text()

    reviews = list(Review.objects.filter(current=True).order_by("trial__position"))
    assert [(one.verdict, one.fault) for one in reviews[:6]] == [
        ("failed", "agent"),
        ("failed", "caller"),
        ("passed", ""),
        ("failed", "agent"),
        ("passed", "judge"),
        ("", "infrastructure"),
    ]
    assert reviews[0].note == "confirmed before it was booked"
    assert reviews[0].scores["overall"] == 0.25
    assert reviews[2].scores == {"overall": 1.0}
    assert [one.reviewer for one in reviews] == [site.user] * 10
    assert list(run.trials.order_by("position").values_list("outcome", flat=True)) == machine

    page.goto(f"{site.url}/review/?reviewed=disagree")
    assert page.locator("tbody th a").count() == sum(
        bool(one.outcome) and one.outcome != outcome for one, outcome in zip(reviews, machine, strict=True)
    )


def sought(page: Page) -> float:
    page.locator(".turn.agent .at").first.click()
    return float(page.evaluate("document.querySelector('audio').currentTime"))


def test_a_trial_that_spoke_too_soon_is_found_bracketed_marked_and_copied(site: Site, chrome: Chrome) -> None:
    run = make_run(2)
    claim = claim_trial(run_id=run.pk)
    assert claim is not None
    recorder = Recorder(claim, stop=lambda reason: None)
    recorder.start()
    recorder.emit(Event(0, 1_620.0, "agent", "received", "response.created", {"response": {"id": "resp_1"}}))
    recorder.close()
    Trial.objects.filter(pk=claim.trial_id).update(status="queued", attempt=0)
    trial = early_trial(run)
    page = chrome.open("/review/?sign=too-soon&reviewed=any")
    assert page.locator("tbody th a").count() == 1
    page.locator("tbody th a").click()

    early = page.locator('[data-lane="agent"] .mark.early')
    style = early.get_attribute("style") or ""
    assert ("--s:1600.0" in style, "--e:2000.0" in style) == (True, True)
    assert "spoke too soon, 400 ms" in page.locator(".facts-line").inner_text()
    assert page.locator(".heard ins").first.inner_text() == "14"

    eventually(lambda: sought(page) > 1.5, what="a click on the agent's words seeks there, once the player is ready")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("M")
    eventually(lambda: page.locator('[data-lane="marks"] .mark.made').count() == 1, what="the mark is drawn")
    assert Mark.objects.get(trial=trial).at_ms == pytest.approx(1_600, abs=60)
    eventually(lambda: page.locator("#moments li").count() == 1, what="the moment can be taken back")
    times = "() => [...document.querySelectorAll('.table-view [data-seek]')].map((one) => Number(one.dataset.seek))"
    listed = page.evaluate(times)
    assert listed == sorted(listed)
    assert page.locator(".table-view tr", has_text="marks").locator("bdi").text_content() == "alice"

    page.get_by_role("link", name="Latency", exact=True).click()
    latency = page.locator("#latency").inner_text()
    assert "created" in latency
    assert "1 620" in latency or "0:01.6" in latency

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="Events", exact=True).click()
    page.locator("#event-filter").fill("created")
    assert page.locator("#event-count").inner_text() == "1 of 1"
    page.locator("[data-copy]").first.click()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert (copied["seq"], copied["t_ms"], copied["type"]) == (0, 1_620, "response.created")
    assert copied["payload"] == {"response": {"id": "resp_1"}}

    page.goto(f"{site.url}{trial.get_absolute_url()}#review")
    assert page.locator("#moments li").count() == 1
