"""Hear it, recordings on the page of a scenario, and a scenario out of a call: what the site does about them."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
import soundfile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from runs_app.realtime.wav import read_wav, wav_bytes
from runs_app.services.audition import voices
from scenarios_app.models import Scenario, ScenarioVersion
from scenarios_app.services.recordings import read_recording_file
from tests.authoring.pages import inputs
from tests.runs.builders import make_run
from tests.speech_server import Answer, speech_server
from tests.support import make_configuration, make_scenario, scenario_json

pytestmark = pytest.mark.django_db

RATE_HZ = 8_000


def tone(hz: float, seconds: float, rate_hz: int = 24_000) -> np.ndarray:
    return (9000 * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate_hz)) / rate_hz)).astype(np.int16)


def call() -> bytes:
    """Ten seconds, 8 kHz stereo: the caller is on the right, 500 Hz from 2 s to 5 s."""
    both = np.zeros((10 * RATE_HZ, 2), dtype=np.int16)
    both[:, 0] = tone(900, 10, RATE_HZ)
    both[2 * RATE_HZ : 5 * RATE_HZ, 1] = tone(500, 3, RATE_HZ)
    return wav_bytes(both, rate_hz=RATE_HZ)


def post(signed_in: Client, **fields: Any) -> Any:
    return signed_in.post("/hear/", fields)


def test_what_stands_in_the_editor_is_spoken_by_the_chosen_voice_and_kept(
    signed_in: Client, settings: Any, tmp_path: Any
) -> None:
    settings.DATA_DIR = tmp_path
    make_scenario()
    with speech_server([Answer(wav_bytes(tone(300, 0.6)))]) as speech:
        make_configuration(caller={"endpoint": speech.url, "model": "tts", "voice": "nora"})
        editor = inputs(signed_in.get("/scenarios/book_table/edit/"))
        editor["text"] = "Not saved yet."
        heard = signed_in.post("/hear/", {**editor, "hear_voice": "Front desk", "hear_condition": "clean"})
        again = signed_in.post("/hear/", {**editor, "hear_voice": "Front desk", "hear_condition": "noisy"})
        assert len(speech.asked) == 1
        assert speech.asked[0]["json"]["input"] == "Not saved yet."
    assert heard["Content-Type"] == "audio/wav"
    assert np.array_equal(np.rint(read_wav(heard.content).samples[:, 0] * 32_768), tone(300, 0.6))
    facts = json.loads(heard["X-Heard"])
    assert (facts["ms"], facts["turn"], facts["turns"], facts["line"]) == (600, 1, 1, "")
    assert json.loads(again["X-Heard"])["line"] == "noise 10 dB under the voice"
    assert len(again.content) == len(heard.content)
    assert again.content != heard.content
    assert ScenarioVersion.objects.count() == 1


def test_the_voice_of_what_was_called_last_is_offered_first() -> None:
    make_configuration("A new one", caller={"voice": "nora"})
    make_run(configurations=[make_configuration("Front desk", caller={"voice": "amir"})])
    assert [voice.value for voice in voices()][:2] == ["Front desk", "A new one"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"text": " "}, "nothing to say yet"),
        ({"hear_voice": "Nobody"}, "there is no configuration Nobody"),
        ({"hear_condition": "muddy"}, 'there is no condition "muddy"'),
        ({"hear_voice": "Front desk"}, "cannot be reached"),
    ],
)
def test_what_cannot_be_heard_says_why(signed_in: Client, fields: dict[str, str], reason: str) -> None:
    make_scenario()
    make_configuration(caller={"endpoint": "http://127.0.0.1:9/v1", "model": "tts", "voice": "nora"})
    editor = inputs(signed_in.get("/scenarios/book_table/edit/"))
    answer = signed_in.post("/hear/", {**editor, **fields})
    assert answer.status_code == 422
    assert reason in answer.json()["error"]


def test_a_file_is_added_heard_and_removed_by_versions(signed_in: Client) -> None:
    make_scenario()
    stereo = np.stack([tone(300, 0.5), tone(600, 0.5)], axis=1)
    file = SimpleUploadedFile("Nora's call.WAV", wav_bytes(stereo))
    page = signed_in.post("/scenarios/book_table/recordings/", {"file": file, "channel": "2"}, follow=True)
    assert "Version 2: Recording Nora&#x27;s call.WAV; channel 2 of 2." in page.content.decode()
    (entry,) = ScenarioVersion.objects.get(number=2).content["input"]["recordings"]
    assert (entry["id"], entry["path"], entry["channel"]) == ("Nora-s-call", "recordings/Nora-s-call.wav", 2)
    assert read_recording_file(entry["sha256"]) == wav_bytes(stereo)
    sound = signed_in.get(f"/recordings/{entry['sha256']}.wav?channel=2")
    assert np.array_equal(np.rint(read_wav(sound.content).samples[:, 0] * 32_768), tone(600, 0.5))
    assert json.loads(post(signed_in, hear_scenario="book_table")["X-Heard"])["recording"] == "Nora-s-call"

    page = signed_in.post("/scenarios/book_table/recordings/remove/", {"id": "Nora-s-call"}, follow=True)
    assert "Version 3 is without it" in page.content.decode()
    assert "recordings" not in ScenarioVersion.objects.get(number=3).content["input"]
    assert signed_in.get("/scenarios/book_table/versions/2/").content.decode().count("<audio") == 1
    assert signed_in.get(f"/recordings/{entry['sha256']}.wav?channel=3").status_code == 404


@pytest.mark.parametrize(
    ("data", "channel", "reason"),
    [
        (b"hello", "", "this is not audio that can be read"),
        (wav_bytes(np.zeros(24_000, dtype=np.int16)), "", "nobody is heard in it"),
        (wav_bytes(np.stack([tone(300, 0.5), np.zeros(12_000, np.int16)], axis=1)), "2", "nobody is heard in it"),
        (wav_bytes(tone(300, 0.5)), "2", "it has no channel 2"),
    ],
)
def test_a_file_that_is_refused_changes_nothing_and_says_why(
    signed_in: Client, data: bytes, channel: str, reason: str
) -> None:
    make_scenario()
    file = SimpleUploadedFile("nora.wav", data)
    page = signed_in.post("/scenarios/book_table/recordings/", {"file": file, "channel": channel}, follow=True)
    assert "nora.wav: cannot be a caller&#x27;s words" in page.content.decode()
    assert reason in page.content.decode()
    assert ScenarioVersion.objects.count() == 1


def test_a_recording_that_a_turn_plays_is_not_removed_under_it(signed_in: Client) -> None:
    said = {"text": "A", "recordings": [{"id": "r", "path": "r.wav"}], "turns": [{"recording": "r"}]}
    make_scenario("talk", interaction="multi_turn", input=said)
    page = signed_in.post("/scenarios/talk/recordings/remove/", {"id": "r"}, follow=True)
    assert "plays r: change it first" in page.content.decode()
    assert signed_in.post("/scenarios/talk/recordings/remove/", {"id": "other"}).status_code == 404


def test_a_recording_goes_into_what_is_being_written_and_is_no_version_yet(signed_in: Client) -> None:
    make_scenario(input={"text": "A", "recordings": [{"id": "nora", "path": "audio/nora.wav"}]})
    editor = inputs(signed_in.get("/scenarios/book_table/edit/"))
    lacking = SimpleUploadedFile("nora.wav", wav_bytes(tone(300, 0.5)))
    answer = signed_in.post("/recordings/typed/", {**editor, "recording": lacking}).json()
    assert "nora.wav is in. It counts once you save." in answer["says"]
    (entry,) = json.loads(answer["text"])["input"]["recordings"]
    assert (entry["path"], len(entry["sha256"])) == ("audio/nora.wav", 64)

    other = SimpleUploadedFile("other.wav", wav_bytes(np.stack([tone(300, 0.5), tone(600, 0.5)], axis=1)))
    answer = signed_in.post("/recordings/typed/", {**editor, "recording": other, "recording_channel": "2"}).json()
    assert [one["id"] for one in json.loads(answer["text"])["input"]["recordings"]] == ["nora", "other"]
    assert json.loads(answer["text"])["input"]["recordings"][1]["channel"] == 2
    assert ScenarioVersion.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "choose a file first"),
        ({"recording": SimpleUploadedFile("x.wav", b"hello")}, "x.wav: cannot be a caller's words"),
        ({"view": "json", "text_json": "{", "recording": SimpleUploadedFile("x.wav", b"")}, "mend what cannot be read"),
        (
            {
                "view": "json",
                "text_json": '{"input": {"recordings": 7}}',
                "recording": SimpleUploadedFile("x.wav", wav_bytes(tone(300, 0.5))),
            },
            "input.recordings: must be a list",
        ),
    ],
)
def test_what_cannot_go_into_the_editor_says_why(signed_in: Client, fields: dict[str, Any], reason: str) -> None:
    make_scenario()
    editor = inputs(signed_in.get("/scenarios/book_table/edit/"))
    answer = signed_in.post("/recordings/typed/", {**editor, **fields})
    assert answer.status_code == 422
    assert reason in answer.json()["error"]


def test_a_scenario_is_cut_out_of_a_call(signed_in: Client) -> None:
    sent = {
        "file": SimpleUploadedFile("call.wav", call()),
        "channel": "2",
        "start_s": "2,5",
        "end_s": "4.5",
        "id": "from_call",
        "text": "A table for Nora.",
    }
    answer = signed_in.post("/from-call/", sent)
    assert (answer.status_code, answer["Location"]) == (302, "/scenarios/from_call/edit/")
    latest = Scenario.objects.get(key="from_call").latest
    assert latest is not None
    (entry,) = latest.content["input"]["recordings"]
    assert entry["metadata"] == {"call": "call.wav", "channel": "2", "from_s": "2,5", "to_s": "4.5"}
    samples, rate_hz = soundfile.read(io.BytesIO(read_recording_file(entry["sha256"])), dtype="int16")
    assert (rate_hz, samples.shape) == (RATE_HZ, (2 * RATE_HZ,))
    assert np.array_equal(samples, tone(500, 3, RATE_HZ)[RATE_HZ // 2 : RATE_HZ // 2 + 2 * RATE_HZ])
    assert latest.title == "A table for Nora."


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"file": None}, "choose the call&#x27;s recording"),
        ({"text": ""}, "input.text"),
        ({"id": "no spaces please"}, "letters, digits"),
        ({"id": "book_table"}, "there is a scenario book_table already"),
        ({"start_s": "soon"}, "must be a number of seconds"),
        ({"start_s": "5", "end_s": "4"}, "must come after the beginning"),
        ({"start_s": "11"}, "it begins at 11 s, and the call is 10.0 s long"),
        ({"channel": "3"}, "it has no channel 3: it has 2"),
        ({"start_s": "6", "end_s": "8", "channel": "2"}, "nobody is heard in it"),
        ({"file": SimpleUploadedFile("call.wav", b"RIFF....")}, "cannot be cut so"),
    ],
)
def test_what_is_wrong_with_a_cut_is_said_and_the_words_are_not_lost(
    signed_in: Client, changed: dict[str, Any], reason: str
) -> None:
    make_scenario()
    sent = {"file": SimpleUploadedFile("call.wav", call()), "id": "cut", "text": "Words of mine.", **changed}
    answer = signed_in.post("/from-call/", {name: value for name, value in sent.items() if value is not None})
    assert answer.status_code == 422
    assert reason in answer.content.decode()
    assert ("Words of mine." in answer.content.decode()) is (changed.get("text") is None)
    assert not Scenario.objects.filter(key="cut").exists()


def test_the_controls_stand_alone_without_javascript(signed_in: Client) -> None:
    make_scenario()
    page = signed_in.get("/hear/?scenario=book_table")
    assert inputs(page)["hear_scenario"] == "book_table"
    assert signed_in.get("/hear/?scenario=none").status_code == 404
    sent = {**inputs(page), "hear_condition": "muddy"}
    refused = signed_in.post("/hear/", sent, headers={"Accept": "text/html"})
    assert refused.status_code == 422
    assert "there is no condition &quot;muddy&quot;" in refused.content.decode()
    assert scenario_json()["input"]["text"] in signed_in.get("/scenarios/book_table/").content.decode()


@pytest.mark.parametrize("address", ["abc.wav", f"{'A' * 64}.wav", f"{'a' * 64}.wav?channel=0"])
def test_the_sound_of_what_can_be_no_recording_is_not_found(signed_in: Client, address: str) -> None:
    answer = signed_in.get(f"/recordings/{address}")
    assert answer.status_code == 404
    assert "no such recording" in answer.content.decode()


def test_names_that_no_database_looks_for_are_not_found(signed_in: Client) -> None:
    make_scenario()
    assert signed_in.post("/hear/", {"hear_scenario": "\0"}).status_code == 404
    answer = signed_in.post("/hear/", {"hear_scenario": "book_table", "hear_voice": "\0"})
    assert (answer.status_code, answer.json()["error"]) == (422, "there is no configuration \ufffd")
