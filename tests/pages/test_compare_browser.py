"""The comparison page in a real browser: charts drawn in the colours of the theme, recordings heard, sides changed."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from runs_app.models import Run, Trial
from runs_app.realtime.record import RATE_HZ, Span
from runs_app.realtime.wav import wav_bytes
from tests.browser import Chrome
from tests.grading.builders import call, record, turn
from tests.pages.comparing import Result, finished_run, key, side, versions

pytestmark = pytest.mark.browser

SECONDS = 6
AUDIO = "document.querySelector('#dock [data-part=body] > :not([hidden]) audio')"
PLAYS = f"() => {{ const a = {AUDIO}; return a && !a.paused && a.currentTime > 0.3 }}"


def give_sound(trial: Trial) -> None:
    """A stereo recording: a tone from the caller, then another from the agent."""
    t = np.arange(SECONDS * RATE_HZ) / RATE_HZ
    caller = np.where(t < SECONDS / 2, np.sin(2 * np.pi * 220 * t), 0)
    agent = np.where(t >= SECONDS / 2, np.sin(2 * np.pi * 330 * t), 0)
    samples = (np.stack([caller, agent], axis=1) * 8000).astype(np.int16)
    trial.wav = default_storage.save(f"{trial.folder}/conversation.wav", ContentFile(wav_bytes(samples)))
    trial.save(update_fields=["wav"])


def result(trial: Trial) -> Result:
    place = int(key(trial).rpartition("_")[2])
    second = side(trial) == 2
    if place == 3 and trial.repeat == 2:
        return Result("invalid", "connect") if second else Result("failed", "response_timeout")
    passed = second or (place + trial.repeat) % 3
    return Result(
        "passed" if passed else "failed",
        "",
        {
            "semantic_quality": 0.5 + (0.03 * place if second else 0.02 * (place % 3)),
            "tool_accuracy": None if place == 5 else (1.0 if passed else 0.5),
            "tool_calls": 2,
            "tool_calls_expected": 2,
            "response_latency_ms": None if place == 2 and second else 400 + 30 * place + (180 + 12 * place) * second,
        },
    )


@pytest.fixture
def run(site: Any) -> Run:
    chosen = versions(mode="audio")
    run = finished_run(result, scenarios=8, repeats=3, configurations=chosen, name="Does the correction rule help?")
    for trial in run.trials.select_related("scenario_version__scenario"):
        if key(trial) in ("case_1", "case_2") and trial.outcome != "invalid":
            give_sound(trial)
    return run


def test_a_recording_of_either_side_plays_and_x_changes_the_side_at_the_same_moment(chrome: Chrome, run: Run) -> None:
    page = chrome.open(f"/compare/?run={run.pk}")
    assert page.locator("#dock").is_hidden()
    page.locator("#case_1 [data-side=A][data-repeat='2']").click()
    page.wait_for_function(PLAYS)
    label = page.locator("#dock [data-part=label]:visible")
    assert label.inner_text() == "case_1 · Front desk@1 · repeat 2"
    before = page.evaluate(f"{AUDIO}.currentTime")
    page.keyboard.press("X")
    page.get_by_text("case_1 · Front desk@2 · repeat 2").wait_for()
    page.wait_for_function(f"before => ({PLAYS})() && {AUDIO}.currentTime > before", arg=before)
    assert label.inner_text() == "case_1 · Front desk@2 · repeat 2"
    assert page.locator("#case_1 [data-side=B][data-repeat='2']").get_attribute("aria-pressed") == "true"
    page.keyboard.press(" ")
    assert page.evaluate(f"{AUDIO}.paused")


# The numbers that a chart draws for each scenario, and those of the table below it, as the browser holds them.
DRAWN = """name => document.getElementById(`chart-slope-${name}`).data.filter(t => t.meta.role === 'values')
  .map(t => t.y.map(v => v ?? null))"""
READ = """name => { const rows = [...document.querySelectorAll(`[data-chart-table="slope-${name}"] tbody tr`)];
  return [0, 1].map(side => rows.map(row => { const value = row.cells[side + 1].dataset.value;
    return value === undefined ? null : Number(value); })); }"""
CHARTS = "count => document.querySelectorAll('.plot .main-svg').length >= count"
METRICS = ("semantic_quality", "tool_accuracy", "response_latency_ms", "pass_rate")


def view(page: Any, name: str) -> None:
    page.get_by_role("navigation", name="View").get_by_role("link", name=name, exact=True).click()
    page.wait_for_url("**view=**")


@pytest.mark.slow
def test_charts_match_their_tables_and_take_the_colours_of_the_theme(chrome: Chrome, run: Run) -> None:
    page = chrome.open(f"/compare/?run={run.pk}&view=slope", color_scheme="light")
    page.wait_for_function(CHARTS, arg=8)  # two layers each
    color = """document.querySelector('#chart-slope-response_latency_ms').data
      .find(t => t.meta.role === 'values').marker.color"""
    assert page.evaluate(color) == "#0072b2"
    light = {name: page.evaluate(DRAWN, name) for name in METRICS}
    assert light == {name: page.evaluate(READ, name) for name in METRICS}
    assert None in light["response_latency_ms"][1]
    for scheme, drawn in (("dark", "#56b4e9"), ("light", "#0072b2")):  # as when the system turns by itself
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"drawn => {color} === drawn", arg=drawn)
    page.locator("#theme").click()
    page.wait_for_function(f"drawn => {color} === drawn", arg="#56b4e9")
    assert {name: page.evaluate(DRAWN, name) for name in METRICS} == light


@pytest.mark.slow
@pytest.mark.case("F01")
def test_the_chart_draws_one_point_less_where_a_value_is_missing(chrome: Chrome, run: Run) -> None:
    """F01: seven points and seven strokes of eight scenarios, as one has no latency."""
    page = chrome.open(f"/compare/?run={run.pk}&view=slope")
    page.locator("#chart-slope-response_latency_ms .point").first.wait_for(state="attached")
    drawn = page.evaluate(
        """() => [...document.querySelectorAll('#chart-slope-response_latency_ms .trace.scatter')].map(trace => [
             trace.querySelectorAll('.point').length,
             [...trace.querySelectorAll('.js-line')].filter(line => line.getTotalLength() > 0).length])"""
    )
    assert [points for points, _ in drawn if points > 1] == [8, 7]
    assert sum(strokes for _, strokes in drawn) == 7


@pytest.mark.slow
@pytest.mark.case("F07")
def test_a_comparison_needs_no_other_host_and_few_bytes(chrome: Chrome, run: Run) -> None:
    """F07: everything comes from the site itself, and its scripts are under 600 kB when compressed."""
    page = chrome.open(f"/compare/?run={run.pk}&view=scatter")
    page.wait_for_load_state("networkidle")
    found = page.evaluate("performance.getEntriesByType('resource').map(r => [r.name, r.initiatorType])")
    assert all(name.startswith(chrome.site.url) for name, _ in found)
    assert any(name.endswith("plotly-basic.min.js") for name, _ in found)
    scripts = [name for name, kind in found if kind == "script"]
    assert sum(len(gzip.compress(urlopen(name).read())) for name in scripts) < 600_000


@pytest.mark.slow
def test_views_are_switched_kept_by_the_address_and_lead_back_to_a_row(chrome: Chrome, run: Run) -> None:
    page = chrome.open(f"/compare/?run={run.pk}&sort=scenario&hide=tools&density=tight")
    for name, chart in {
        "A against B": "#chart-scatter-semantic_quality",
        "Slope": "#chart-slope-pass_rate",
        "Latency": "#chart-latency-curve",
        "Factors": "#chart-effects-semantic_quality",
        "Heat map": "#chart-heatmap-semantic_quality",
    }.items():
        view(page, name)
        page.locator(f"{chart} .main-svg").first.wait_for()
        assert page.locator("nav.views [aria-current]").inner_text() == name
    address = page.url
    assert all(part in address for part in ("sort=scenario", "hide=tools", "density=tight", "view=heatmap"))
    again = chrome.open(address.removeprefix(chrome.site.url))
    again.locator("#chart-heatmap-semantic_quality .main-svg").first.wait_for()
    assert again.locator("nav.views [aria-current]").inner_text() == "Heat map"
    view_of_points = chrome.open(f"/compare/?run={run.pk}&view=scatter")
    view_of_points.wait_for_function(CHARTS, arg=8)
    view_of_points.locator("#chart-scatter-response_latency_ms .point").first.click(force=True)
    view_of_points.wait_for_url("**open=case_**")
    view_of_points.locator("tr.opened").wait_for()


@pytest.mark.slow
def test_charts_are_saved_as_pictures(chrome: Chrome, run: Run) -> None:
    page = chrome.open(f"/compare/?run={run.pk}&view=heatmap")
    page.wait_for_function(CHARTS, arg=1)
    for kind, start in {"png": b"\x89PNG", "svg": b"<svg"}.items():
        with page.expect_download() as found:
            page.get_by_role("button", name=f"as {kind.upper()}").first.click()
        assert found.value.suggested_filename == f"chart-heatmap-semantic_quality.{kind}"
        assert Path(found.value.path()).read_bytes().startswith(start)


@pytest.mark.slow
def test_nothing_leaves_a_narrow_screen(chrome: Chrome, run: Run) -> None:
    page = chrome.open(f"/compare/?run={run.pk}&view=slope", width=390, height=844)
    page.wait_for_function(CHARTS, arg=8)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"{chrome.site.url}/compare/?run={run.pk}&open=case_1")
    page.locator("tr.opened").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_counters_of_a_card_filter_and_a_second_click_clears(chrome: Chrome, run: Run) -> None:
    page = chrome.open(f"/compare/?run={run.pk}")
    rows = page.locator("table.compare tbody tr")
    assert rows.count() == 8
    page.get_by_role("region", name="semantic_quality").first.get_by_role("link", name="worse").click()
    page.wait_for_url("**show=worse**")
    assert rows.count() < 8
    page.get_by_role("region", name="semantic_quality").first.get_by_role("link", name="worse").click()
    page.wait_for_url(lambda url: "show=" not in url)
    assert rows.count() == 8


def test_enter_opens_a_row_and_the_address_brings_it_back(chrome: Chrome, run: Run) -> None:
    for trial in run.trials.select_related("scenario_version__scenario", "configuration_version"):
        if key(trial) == "case_1":
            said = "Booked for 14 May." if side(trial) == 2 else "Booked for 15 May."
            made = record(call(), turns=(turn(said, caller=Span(0, 24_000)),), audio_samples=SECONDS * RATE_HZ)
            trial.record = made.to_json()
            trial.save(update_fields=["record"])
    page = chrome.open(f"/compare/?run={run.pk}&sort=scenario")
    opener = page.get_by_role("button", name="Side by side: case_1")
    opener.focus()
    page.keyboard.press("Enter")
    opened = page.locator("tr.opened")
    opened.wait_for()
    assert "A says 15, B says 14" in opened.inner_text()
    assert opener.get_attribute("aria-expanded") == "true"
    assert "open=case_1" in page.url
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.open") == "case_2"
    page.reload()
    opened.wait_for()
    with page.expect_response("**/compare/row/**"):
        opened.locator("[data-pick]").nth(1).click()
    page.wait_for_url("**trial=**")
    page.get_by_role("button", name="Side by side: case_1").press("Enter")
    opened.wait_for(state="detached")
    assert "open=" not in page.url
    page.context.clear_cookies()
    page.get_by_role("button", name="Side by side: case_2").click()
    opened.get_by_text("It could not be fetched: you are signed out: load the page again").wait_for()
