"""The failure playlist with real sound in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from runs_app.models import PlaylistPlace, Run
from tests.grading import builders as evidence
from tests.pages.listening import STATE, now, talking
from tests.pages.trials import record_trial
from tests.runs.builders import make_run
from tests.services import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser import Chrome, Site

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]

# What was played, by trial, as the audio elements tell it; and the longest time in s that the page had no frame, so
# that it could stop no earlier.
LISTEN = """() => {
  Object.assign(window, {played: {}, lag: 0});
  document.addEventListener("timeupdate", ({target}) => {
    const {trial} = target.closest("[data-player]").dataset;
    if (!target.paused) (window.played[trial] ??= []).push(target.currentTime);
  }, true);
  let last = performance.now();
  const frame = () => {
    window.lag = Math.max(window.lag, (performance.now() - last) / 1000);
    last = performance.now();
    requestAnimationFrame(frame);
  };
  frame();
}"""
# Closes the help and presses Space before the next frame, as a busy machine has it: the focus is still on Close.
CLOSE_AND_PLAY = """() => {
  const close = document.querySelector("dialog[open] button");
  close.focus();
  close.click();
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: " ", bubbles: true}));
}"""
# Presses Space once, as soon as it is said what follows.
AGAIN = """() => {
  const said = document.querySelector("[data-part=said]");
  new MutationObserver((_, seen) => {
    if (!said.textContent) return;
    seen.disconnect();
    window.followed = said.textContent;
    document.body.dispatchEvent(new KeyboardEvent("keydown", {key: " ", bubbles: true}));
  }).observe(said, {childList: true});
}"""
PLAYED_S = 90.0  # some seconds of sound: where the machine is busy, its sound is late
WINDOWS_S = ((0.5, 6.6), (1.0, 7.1), (1.5, 7.6))


def failures() -> Run:
    """Three calls of 20 s; the failed tool of each has another window."""
    run = make_run(len(WINDOWS_S))
    for start_s, _ in WINDOWS_S:
        record, sound = talking((0, 1_000, 1_800, 19_000), total_ms=20_000)
        called_ms = 1_000 * start_s + 3_000
        called = evidence.call(turn=0, called_ms=called_ms, answered_ms=called_ms + 100)
        record_trial(run, evidence.audio_record(called, turns=record.turns, audio_samples=len(sound)), sound)
    return run


def plays_beyond(page: Page, seconds: float) -> bool:
    return bool(now(page) > seconds) and not now(page, "paused")


def test_the_playlist_plays_only_its_windows_and_goes_on(site: Site, chrome: Chrome) -> None:
    run = failures()
    page = chrome.open(f"/playlist/?run={run.pk}")
    eventually(lambda: now(page, "readyState") >= 1, what="the first is there")
    page.evaluate(LISTEN)
    page.keyboard.press("Z")
    page.keyboard.press("?")
    assert "The fault is the caller's" in page.locator("#keys tbody").inner_text()
    page.evaluate(CLOSE_AND_PLAY)
    hear_twice(page)
    eventually(lambda: plays_beyond(page, 1.2), what="the second plays")
    agent_alone = page.get_by_role("button", name="R agent")
    agent_alone.click()
    page.get_by_role("button", name="1.5×").click()
    page.keyboard.press("2")
    eventually(lambda: "3 of 3" in page.locator("[data-part=count]").inner_text(), what="a fault goes on at once")
    second, third = run.trials.all()[1:]
    assert second.reviews.get(current=True).fault == "caller"
    # an element plays for a while before it tells so
    told = f"() => window.played['{third.pk}']?.length > 1"
    eventually(lambda: plays_beyond(page, 1.7) and page.evaluate(told), what="the third plays")
    assert agent_alone.get_attribute("aria-pressed") == "true"
    assert now(page, "playbackRate") == 1.5
    for trial, (start, end) in zip(run.trials.all(), WINDOWS_S, strict=True):
        played = page.evaluate(f"window.played['{trial.pk}']")
        assert min(played) >= start - 0.05
        assert max(played) <= end + 0.15 + page.evaluate("window.lag")
    eventually(lambda: PlaylistPlace.objects.filter(trial=third).exists(), what="the place is kept")
    come_back(page, f"{site.url}/playlist/?run={run.pk}")


def hear_twice(page: Page) -> None:
    """The first: on within its window, whose end holds, and once more while the next one is about to follow."""
    count, said = (page.locator(f"[data-part={name}]") for name in ("count", "said"))
    page.evaluate(AGAIN)
    for told in ("", "The next one follows."):
        eventually(
            lambda told=told: page.evaluate("window.followed ?? ''") == told and plays_beyond(page, 0.6),
            within_s=PLAYED_S,
            what=lambda: f"it plays; {page.evaluate(STATE)}",
        )
        assert "1 of 3" in count.inner_text()
        assert said.inner_text() == ""
        page.keyboard.press("L")
        page.keyboard.press("L")
    eventually(
        lambda: "2 of 3" in count.inner_text(),
        within_s=PLAYED_S,
        what=lambda: f"it goes on by itself; {page.evaluate(STATE)}",
    )


def come_back(page: Page, url: str) -> None:
    """Where one left off; Space counts while the player is on its way."""
    asked: list[Any] = []
    page.route("**/trials/*/player/", lambda route: asked.append(route))
    page.goto(url)
    assert page.locator("[data-part=count]").inner_text() == "3 of 3"
    assert "You left off here" in page.locator(".playlist").inner_text()
    eventually(lambda: page.evaluate("1") and asked, what="the player is asked for")
    page.keyboard.press(" ")
    asked[0].continue_()
    eventually(lambda: plays_beyond(page, 1.6), what="it plays once it is there")
