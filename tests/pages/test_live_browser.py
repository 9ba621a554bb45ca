"""The page of a run in a real browser: rows arrive without a reload, and nothing is lost when the socket is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as django_settings
from playwright.sync_api import Page, expect

from runs_app.models import Run
from runs_app.services.runs import cancel_run
from tests.browser import Chrome, Site
from tests.pages.playing import begin, end, play, tell, words
from tests.proxy import proxied
from tests.runs.builders import make_configuration, make_run, scenario

pytestmark = pytest.mark.browser

SOCKET_DOWN = ("WebSocket connection to", "[object Event]")  # the browser's line and htmx's
LINE_DOWN = (*SOCKET_DOWN, "net::ERR_")  # which of its many network errors Chromium names is a matter of a millisecond
SESSION = django_settings.SESSION_COOKIE_NAME

# Keeps every socket that the page opens, and lets a test make those that there are deaf, as after a laptop's sleep.
SOCKETS = """
window.sockets = [];
window.deaf = new Set();
const Real = window.WebSocket;
window.WebSocket = class extends Real {
  constructor(...given) { super(...given); window.sockets.push(this); }
  addEventListener(name, heard, ...more) {
    const hears = (event) => name === 'message' && window.deaf.has(this) ? undefined : heard(event);
    super.addEventListener(name, hears, ...more);
  }
};
"""


def live(page: Page) -> Page:
    expect(page.locator("#live-mark")).to_have_attribute("data-state", "live", timeout=20_000)
    return page


def events(page: Page) -> list[str]:
    found: list[str] = page.evaluate("[...document.querySelectorAll('#live-event-rows li')].map(row => row.outerHTML)")
    return found


def same_after_reload(page: Page, read: Callable[[Page], Any]) -> None:
    before = read(page)
    page.reload()
    assert read(live(page)) == before


def test_a_run_fills_in_before_the_viewer_s_eyes(site: Site, chrome: Chrome):
    run = make_run(2, configurations=[make_configuration(), make_configuration(instructions="Read back.")])
    page = live(chrome.open(run.get_absolute_url()))
    page.evaluate("window.loadedOnce = true")
    expect(page.locator(".dot.queued")).to_have_count(4)

    first = begin(run)
    expect(page.locator(f"#dot-{first.trial_id}.running")).to_be_visible()
    tell(first, words(0, "Good evening, "))
    tell(first, words(1, "the Trattoria."), words(2, "How can I help?"))
    expect(page.locator("#live-event-rows li")).to_have_count(3)
    expect(page.locator("#live-event-rows li").last).to_contain_text("How can I help?")
    seqs = page.locator("#live-event-rows li").evaluate_all("rows => rows.map(row => row.dataset.seq)")
    assert seqs == ["0", "1", "2"]

    end(first, "failed", reason="It was booked for five.")
    expect(page.locator(f"#dot-{first.trial_id}.failed")).to_be_visible()
    expect(page).to_have_title(re.compile("^1/4, 1 failed · "))
    expect(page.locator("#run-failures")).to_contain_text("It was booked for five.")
    expect(page.locator("#results")).to_have_count(0)

    play(run, ["passed", "passed", "passed"])
    expect(page.locator("#results")).to_be_visible()
    expect(page.locator("table.results tbody tr").first).to_contain_text("1/2")
    expect(page.get_by_role("link", name="Compare", exact=True).last).to_have_attribute(
        "href", re.compile(rf"\?run={run.pk}$")
    )
    expect(page.get_by_role("button", name="Cancel run")).to_have_count(0)
    assert page.evaluate("window.loadedOnce"), "the page was loaded again"


def test_a_click_chooses_whose_events_are_shown_and_another_opens_the_trial(site: Site, chrome: Chrome):
    run = make_run(2)
    first, second = begin(run), begin(run)
    tell(first, words(0, "I am the first."))
    tell(second, words(0, "I am the second."))
    page = live(chrome.open(run.get_absolute_url()))
    for claim, says in ((first, "I am the first."), (second, "I am the second."), (first, "I am the first.")):
        shown = page.locator("#live-events").get_attribute("data-trial")
        if shown != str(claim.trial_id):
            page.locator(f"#dot-{claim.trial_id}").click()
        expect(page.locator("#live-event-rows")).to_contain_text(says)
        expect(page.locator(f"#dot-{claim.trial_id}")).to_have_attribute("aria-current", "true")
    assert page.url.endswith(f"?trial={first.trial_id}")
    live(page)

    tell(second, words(1, "Not for this list."))
    tell(first, words(1, "More of the first."))
    expect(page.locator("#live-event-rows")).to_contain_text("More of the first.")
    expect(page.locator("#live-event-rows")).not_to_contain_text("Not for this list.")
    expect(page.locator(f"#dot-{first.trial_id}")).to_be_focused()

    page.get_by_role("link", name="Follow what runs").click()
    expect(page).to_have_url(site.url + run.get_absolute_url())
    expect(page.get_by_role("link", name="Follow what runs")).to_be_hidden()
    expect(page.locator("#live-events")).to_have_attribute("data-trial", str(second.trial_id))
    page.locator(f"#dot-{second.trial_id}").click()
    expect(page).to_have_url(re.compile(r"/trials/\d+/$"))


@pytest.mark.slow
def test_earlier_events_are_put_above_the_shown_ones(site: Site, chrome: Chrome):
    run = make_run(1)
    claim = begin(run)
    tell(claim, *[words(n, f"word {n}") for n in range(230)])
    page = live(chrome.open(run.get_absolute_url()))
    expect(page.locator("#live-event-rows li")).to_have_count(200)
    page.get_by_role("button", name="Load earlier events").click()
    expect(page.locator("#live-event-rows li")).to_have_count(230)
    seqs = page.locator("#live-event-rows li").evaluate_all("rows => rows.map(row => Number(row.dataset.seq))")
    assert seqs == list(range(230))
    expect(page.get_by_role("button", name="Load earlier events")).to_have_count(0)
    tell(claim, words(230, "and one more"))
    expect(page.locator("#live-event-rows li")).to_have_count(231)


@pytest.mark.slow
@pytest.mark.case("D03")
def test_a_restart_of_the_site_loses_and_repeats_nothing(site: Site, chrome: Chrome):
    """D03: the site goes away in mid-run; the page says so, catches up, and equals a fresh load."""
    chrome.expect_problem(*LINE_DOWN)
    run = make_run(2)
    claim = begin(run)
    tell(claim, words(0, "Before."))
    page = live(chrome.open(run.get_absolute_url()))
    expect(page.locator("#live-event-rows li")).to_have_count(1)

    site.stop()
    expect(page.locator("#live-mark")).to_have_text(re.compile("reconnecting"))
    tell(claim, words(1, "Meanwhile."), words(2, "And more."))
    site.start()
    live(page)
    expect(page.locator("#live-event-rows li")).to_have_count(3)
    tell(claim, words(3, "After."))
    expect(page.locator("#live-event-rows li")).to_have_count(4)
    end(claim, "passed")
    expect(page.locator(".dot.passed")).to_have_count(1)
    same_after_reload(page, events)


@pytest.mark.slow
@pytest.mark.case("D03")
def test_two_browsers_and_a_fresh_one_agree_though_one_was_cut_off_for_ten_seconds(site: Site, chrome: Chrome):
    """D03: the line of one browser is cut in mid-run; the event lists of all are the same to the byte."""
    chrome.expect_problem(*LINE_DOWN)
    with proxied(site.url) as line:
        site.restart(SITE_ORIGINS=f"{site.url},{line.url}")
        run = make_run(2)
        claim = begin(run)
        tell(claim, words(0, "Before."))
        steady = live(chrome.open(run.get_absolute_url()))
        shaky = chrome.open("/")
        shaky.context.add_cookies([{"name": SESSION, "value": site.session_key, "url": line.url}])
        shaky.clock.install()
        shaky.goto(line.url + run.get_absolute_url())
        live(shaky)

        line.cut()
        expect(shaky.locator("#live-mark")).not_to_have_attribute("data-state", "live")
        tell(claim, *[words(n, f"Meanwhile {n}.") for n in range(1, 30)])
        shaky.clock.run_for(10_000)
        expect(steady.locator("#live-event-rows li")).to_have_count(30)
        expect(shaky.locator("#live-event-rows li")).to_have_count(1)

        line.mend()
        shaky.clock.run_for(10_000)
        live(shaky)
        tell(claim, words(30, "After."))
        end(claim, "passed")
        for page in (steady, shaky):
            expect(page.locator(".dot.passed")).to_have_count(1)
            expect(page.locator("#live-event-rows li")).to_have_count(31)
        fresh = live(chrome.open(run.get_absolute_url()))
        assert events(steady) == events(shaky) == events(fresh)


@pytest.mark.slow
@pytest.mark.case("D03")
def test_a_socket_that_falls_silent_is_dropped_and_another_one_opened(site: Site, chrome: Chrome):
    """D03, the laptop's sleep: the socket stays open and says nothing; it is noticed after 40 s."""
    run = make_run(1)
    page = chrome.open("/")
    page.add_init_script(SOCKETS)
    page.clock.install()
    page.goto(site.url + run.get_absolute_url())
    live(page)
    page.evaluate("window.sockets.forEach(socket => window.deaf.add(socket))")
    begin(run)
    page.clock.run_for(38_000)
    assert page.evaluate("window.sockets.length") == 1
    expect(page.locator(".dot.running")).to_have_count(0)
    page.clock.run_for(5_000)
    expect(page.locator(".dot.running")).to_have_count(1)
    live(page)
    assert page.evaluate("window.sockets.map(socket => socket.readyState >= WebSocket.CLOSING)") == [True, False]


@pytest.mark.slow
def test_a_page_on_which_nothing_happens_keeps_its_one_socket_and_hears_the_tick(site: Site, chrome: Chrome):
    """The channel layer's client once gave up after 5 s without a ring, and took the socket with it."""
    run = make_run(1)
    page = chrome.open("/")
    with page.expect_websocket() as opened:
        page.goto(site.url + run.get_absolute_url())
    opened.value.wait_for_event("framereceived", lambda payload: "live-tick" in str(payload), timeout=30_000)
    assert not opened.value.is_closed()


@pytest.mark.slow
@pytest.mark.case("D05")
def test_a_page_whose_socket_is_refused_says_so_and_polls(site: Site, chrome: Chrome):
    """D05: refused for its origin, it does not wait for ever; what happens arrives by polling, the end included."""
    chrome.expect_problem(*SOCKET_DOWN)
    site.restart(SITE_ORIGINS="https://eval.example:8443")
    run = make_run(2)
    claim = begin(run)
    page = chrome.open(run.get_absolute_url())
    expect(page.locator("#live-mark")).to_have_text("live updates refused, polling", timeout=20_000)
    tell(claim, words(0, "By polling."))
    expect(page.locator("#live-event-rows li")).to_have_count(1, timeout=10_000)
    end(claim, "failed", reason="Wrong table.")
    play(run, ["passed"])
    expect(page.locator("#results")).to_be_visible(timeout=15_000)
    expect(page.locator(".dot.failed")).to_have_count(1)
    expect(page).to_have_title(re.compile("^2/2, 1 failed"))
    assert "live updates refused" in site.stack.log()


@pytest.mark.slow
def test_a_viewer_who_is_signed_out_meanwhile_is_told(site: Site, chrome: Chrome):
    run = make_run(1)
    page = live(chrome.open(run.get_absolute_url()))
    site.user.is_active = False
    site.user.save()
    begin(run)
    expect(page.locator("#live-mark")).to_have_text("signed out: load the page again", timeout=30_000)
    expect(page.locator("#run-head")).to_have_count(1)


def test_cancelling_asks_first_and_is_seen_at_once(site: Site, chrome: Chrome):
    run = make_run(3)
    page = live(chrome.open(run.get_absolute_url()))
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Cancel run").click()
    assert not Run.objects.get(pk=run.pk).cancel_requested_at
    watching = live(chrome.open(run.get_absolute_url()))
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Cancel run").click()
    for one in (page, watching):
        expect(one.locator(".dot.cancelled")).to_have_count(3)
        expect(one.locator("#run-head")).to_contain_text("cancelled")


@pytest.mark.slow
def test_the_page_is_complete_without_scripts(site: Site, chrome: Chrome):
    run = make_run(2)
    claim = begin(run)
    tell(claim, words(0, "Heard without scripts."))
    page = chrome.open(run.get_absolute_url(), java_script_enabled=False)
    expect(page.locator("#live-event-rows")).to_contain_text("Heard without scripts.")
    expect(page.locator("#live-mark")).to_be_hidden()
    page.locator(f"#dot-{claim.trial_id}").click()
    expect(page).to_have_url(re.compile(rf"/trials/{claim.trial_id}/$"))
    end(claim, "passed")
    cancel_run(run=run)
    page.goto(site.url + run.get_absolute_url())
    expect(page.locator("#results")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_no_page_is_wider_than_its_window(site: Site, chrome: Chrome, width: int, scheme: str):
    long = "a_scenario_whose_name_goes_on_and_on_and_on_for_a_hundred_characters_" + "x" * 20
    run = make_run([scenario(long)], repeats=30, concurrency=8, name="N" * 120)
    play(run, ["failed", "invalid", "passed"], reason="because " * 40, stage="connect")
    for path in ("/", "/runs/", "/runs/new/", run.get_absolute_url()):
        page = chrome.open(path, width=width, color_scheme=scheme)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{path} is {wide} px wide"


@pytest.mark.slow
def test_the_estimate_appears_while_the_form_is_filled_in(site: Site, chrome: Chrome):
    chrome.expect_problem("htmx:sendAbort", "htmx:afterRequest")  # an estimate under way when the form is sent
    make_run(3)
    page = chrome.open("/runs/new/")
    page.get_by_label("Suite").select_option("suite 1")
    page.get_by_label("Front desk@1").check()
    page.get_by_label("Repeats").fill("5")
    expect(page.locator("#estimate")).to_contain_text("15 trials")
    page.get_by_label("At once").fill("9")
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("alert").last).to_contain_text("less than or equal to 8")
    page.get_by_label("At once").fill("2")
    page.get_by_role("button", name="Start the run").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+/$"))
    live(page)
