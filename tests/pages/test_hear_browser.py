"""Hear it, the microphone, and cutting a call, as people use them in a browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from runs_app.realtime.wav import read_wav, wav_bytes
from scenarios_app.models import Recording, Scenario, ScenarioVersion
from tests.browser import Chrome, Site
from tests.services import eventually
from tests.site.axe import looks
from tests.speech_server import Answer, speech_server
from tests.support import make_configuration, make_scenario

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WAIT_MS = 30_000
RATE_HZ = 8_000


def tone(hz: float, seconds: float, rate_hz: int = 24_000) -> np.ndarray:
    return (9000 * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate_hz)) / rate_hz)).astype(np.int16)


def plays(page: Page) -> None:
    page.wait_for_function("() => document.querySelector('[data-hear-sound] audio').currentTime > 0", timeout=WAIT_MS)


def wave_is_drawn(page: Page, selector: str) -> bool:
    drawn = "c => c.width > 0 && c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v > 0)"
    return bool(page.locator(selector).evaluate(drawn))


def test_unsaved_words_are_heard_in_the_editor_and_a_recording_takes_their_place(
    site: Site, chrome: Chrome, tmp_path: Path
) -> None:
    make_scenario()
    with speech_server([Answer(wav_bytes(tone(300, 2.0)))]) as speech:
        make_configuration(caller={"endpoint": speech.url, "model": "tts", "voice": "nora"})
        page = chrome.open("/scenarios/book_table/edit/", permissions=["microphone"])
        page.get_by_label("Caller says").fill("Words that nobody saved.")
        page.locator("[name=hear_condition]").select_option("noisy")
        page.get_by_role("button", name="Hear it").click()
        expect(page.locator("[data-hear-says]")).to_contain_text("noise 10 dB under the voice", timeout=WAIT_MS)
        plays(page)
        assert wave_is_drawn(page, "[data-hear-sound] canvas")
        assert speech.asked[0]["json"]["input"] == "Words that nobody saved."
        chrome.expect_problem("status of 422")
        page.get_by_label("Caller says").fill("")
        page.get_by_role("button", name="Hear it").click()
        expect(page.locator("[data-hear-says]")).to_contain_text("write the words first", timeout=WAIT_MS)
        page.get_by_label("Caller says").fill("Recorded words.")

    page.get_by_text("Recorded words instead of a voice").click()
    page.get_by_role("button", name="Record here").click()
    expect(page.locator("[data-record-says]")).to_contain_text("Recording: 1.", timeout=WAIT_MS)
    page.get_by_role("button", name="Stop and add").click()
    expect(page.locator("[data-record-says]")).to_contain_text("It counts once you save", timeout=WAIT_MS)
    eventually(lambda: '"sha256"' in page.locator("#json-now").inner_text(), what="the site read the JSON")
    page.get_by_role("button", name="Hear it").click()
    expect(page.locator("[data-hear-says]")).to_contain_text("Recording microphone-", timeout=WAIT_MS)
    page.get_by_role("button", name="Save version 2").last.click()
    page.wait_for_url("**/scenarios/book_table/")
    said = ScenarioVersion.objects.get(number=2).content["input"]
    assert said["text"] == "Recorded words."
    assert said["recordings"][0]["sha256"] == Recording.objects.get().sha256
    assert Recording.objects.get().duration_ms > 900


def test_the_microphone_and_files_make_recordings_of_a_scenario_and_refusals_are_said(
    site: Site, chrome: Chrome, tmp_path: Path
) -> None:
    make_scenario()
    page = chrome.open("/scenarios/book_table/")
    page.get_by_role("button", name="Record here").click()
    expect(page.locator("[data-record-says]")).to_contain_text("may not use the microphone", timeout=WAIT_MS)
    (tmp_path / "nora.wav").write_bytes(wav_bytes(tone(300, 1.0)))
    page.get_by_label("A recording").set_input_files(tmp_path / "nora.wav")
    page.get_by_role("button", name="Add the file").click()
    expect(page.get_by_role("status").first).to_contain_text("Version 2: Recording nora.wav", timeout=WAIT_MS)
    page.get_by_role("button", name="Hear it").click()
    expect(page.locator("[data-hear-says]")).to_contain_text(
        "Recording nora, 1.0 s. Nothing is added to it.", timeout=WAIT_MS
    )
    plays(page)
    assert looks(page) == []
    page.get_by_role("button", name="Remove nora").click()
    expect(page.get_by_role("status").first).to_contain_text("Version 3 is without it", timeout=WAIT_MS)


def test_a_scenario_is_cut_out_of_a_call_by_keyboard(site: Site, chrome: Chrome, tmp_path: Path) -> None:
    both = np.zeros((10 * RATE_HZ, 2), dtype=np.int16)
    both[2 * RATE_HZ : 5 * RATE_HZ, 1] = tone(500, 3, RATE_HZ)
    (tmp_path / "call.wav").write_bytes(wav_bytes(both, rate_hz=RATE_HZ))
    page = chrome.open("/from-call/")
    page.get_by_label("The recording of the call").set_input_files(tmp_path / "call.wav")
    expect(page.locator("[data-cut-says]")).to_contain_text("call.wav: 10.0 s, 2 channels", timeout=WAIT_MS)
    page.get_by_label("Channel of the caller").select_option("2")
    eventually(lambda: wave_is_drawn(page, "[data-cut-wave] canvas"), what="the wave of the channel")
    start, end = page.get_by_role("slider").all()
    start.focus()
    for keys in ("Shift+ArrowRight", "Shift+ArrowRight", "ArrowRight", "ArrowRight", "Control+ArrowLeft"):
        page.keyboard.press(keys)
    end.focus()
    page.keyboard.press("Home")
    assert float(end.get_attribute("aria-valuenow") or 0) == pytest.approx(2.29)
    for _ in range(2):
        page.keyboard.press("Shift+ArrowRight")
    assert page.get_by_label("from").input_value() == "2.19"
    page.get_by_role("button", name="Hear the cut").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible(timeout=WAIT_MS)
    page.get_by_label("What the caller says").fill("A table for Nora, please.")
    page.get_by_label("Id", exact=True).fill("from_call")
    assert looks(page) == []
    page.get_by_role("button", name="Save the scenario").click()
    page.wait_for_url("**/scenarios/from_call/edit/")
    latest = Scenario.objects.get(key="from_call").latest
    assert latest is not None
    assert latest.content["input"]["recordings"][0]["metadata"]["channel"] == "2"
    assert Recording.objects.get().duration_ms == pytest.approx(2100, abs=1)
    assert read_wav(wav_bytes(both, rate_hz=RATE_HZ)).rate_hz == Recording.objects.get().rate_hz
