"""What a machine heard: on the page of a trial, and for the words of a call, by the simulator's own endpoint."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from runs_app.models import Trial
from runs_app.realtime.wav import wav_bytes
from runs_app.services.artifacts import delete_files
from runs_app.simulator.agent_ear import AgentEar
from runs_app.simulator.ear import Ear
from runs_app.simulator.http_reply import HttpReply, RequestError, error_reply
from runs_app.simulator.transcription_api import answer_transcription
from runs_app.simulator.voices import AGENT, CALLER, Voices
from tests.grading import builders as evidence
from tests.pages.trials import broken_trial, record_trial
from tests.runs.builders import make_run
from tests.simulator.http_app import Answer, serving

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
SAID = "Your table is booked for six."
WAIT = "One moment, I am looking."
KEY = "sk-never-on-a-page"


@pytest.fixture(scope="module")
def voices(tmp_path_factory: pytest.TempPathFactory) -> Voices:
    voices = Voices(tmp_path_factory.mktemp("voices"))
    for words in (SAID, WAIT):
        voices.say(words, AGENT)
    return voices


@pytest.fixture(autouse=True)
def storage(settings: Any, tmp_path: Path) -> None:
    """Of each test its own: numbers of trials come again, and what is kept beside their recordings would be found."""
    place = {**settings.STORAGES["default"], "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": place}


@contextlib.contextmanager
def listening(answer: Answer) -> Iterator[str]:
    """The base address of a recogniser on a loop of its own, as the test's client keeps this thread's."""
    loop, base, over = asyncio.new_event_loop(), [""], asyncio.Event()
    ready = threading.Event()

    async def serve() -> None:
        async with serving({"/v1/audio/transcriptions": answer}) as base[0]:
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(30)
    try:
        yield base[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
        loop.close()


@pytest.fixture
def simulator(settings: Any, voices: Voices) -> Iterator[Ear]:
    """The simulator's own recogniser; the ear that is given knows no caller yet."""
    ear, agent_ear = Ear(), AgentEar(voices)

    async def answer(body: bytes) -> HttpReply:
        return await answer_transcription(body, ear=ear, agent_ear=agent_ear)

    with listening(answer) as base_url:
        settings.SIMULATOR_URL = base_url.removesuffix("/v1")
        yield ear


def trial_saying(voices: Voices, words: str) -> Trial:
    """Two turns: in the first the voice says SAID, whatever the agent's side says; in the second it hums."""
    sound = voices.say(SAID, AGENT)
    ms = len(sound) / 24
    audio = evidence.recording([(0, 1_000), (6_000, 7_000)], [(8_000, 9_000)], 9_500)
    audio[48_000 : 48_000 + len(sound), 1] = sound
    turns = (
        evidence.spoken(agent=((2_000, 2_000 + ms),), text=words),
        evidence.spoken(caller=(6_000, 7_000), agent=((8_000, 9_000),), text="Goodbye.", index=1),
    )
    return record_trial(make_run(), evidence.audio_record(turns=turns, audio_samples=len(audio)), audio)


def url(trial: Trial) -> str:
    return f"/trials/{trial.pk}/machine-heard/"


def plain(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_a_press_shows_where_the_voice_says_something_else_and_it_is_kept(
    signed_in: Client, simulator: Ear, voices: Voices
) -> None:
    trial = trial_saying(voices, "Your table is booked for seven.")
    before = signed_in.get(trial.get_absolute_url()).content.decode()
    assert "Have it written down" in before
    assert "turn 1" not in plain(before.partition('id="machine-heard"')[2].partition("<section")[0])
    part = signed_in.post(url(trial), headers=HTMX).content.decode()
    assert """<del title="the agent's words">seven</del>""" in part
    assert '<ins title="heard">six</ins>' in part
    assert "the machine caught no words; the agent's side says: Goodbye." in plain(part)
    assert "Other words in 1 of 2 turns" in plain(part)
    after = signed_in.get(trial.get_absolute_url()).content.decode()
    assert "Other words in 1 of 2 turns" in plain(after)
    assert "Ask again" in after
    assert signed_in.post(url(trial)).headers["Location"] == f"/trials/{trial.pk}/#machine-heard"
    assert default_storage.listdir(trial.folder)[1].count("machine-heard.json") == 1
    heard = evidence.recording([], [(2_000, 3_000), (8_000, 9_000)], 9_500)
    default_storage.delete(trial.wav)
    default_storage.save(trial.wav, ContentFile(wav_bytes(heard)))
    part = signed_in.post(url(trial), headers=HTMX).content.decode()
    assert "It has no words of any turn, so this answer is not kept" in plain(part)
    assert signed_in.post(url(trial), headers={"Accept": "application/json"}).json()["error"].startswith("No words")
    assert "Other words in 1 of 2 turns" in plain(signed_in.get(trial.get_absolute_url()).content.decode())
    delete_files(trial_id=trial.pk)
    assert signed_in.get(trial.get_absolute_url()).status_code == 200


def test_a_voice_that_is_cut_at_every_breath_is_heard_whole_and_apart_from_what_came_before_a_call(
    signed_in: Client, simulator: Ear, voices: Voices
) -> None:
    first, then = voices.say(WAIT, AGENT), voices.say(SAID, AGENT)
    audio = evidence.recording([(0, 1_000)], [], 8_000)
    audio[48_000 : 48_000 + len(first), 1] = first
    late = 48_000 + len(first) + 4_800
    audio[late : late + len(then), 1] = then
    pieces = (
        (2_000, 2_000 + len(first) / 24),
        *((late / 24 + at, late / 24 + end) for at, end in ((0, 500), (520, 900), (980, len(then) / 24))),
    )
    turn = evidence.spoken(agent=pieces, text=f"{WAIT} {SAID}")
    call = evidence.call(turn=0, called_ms=2_100.0, answered_ms=2_200.0)
    record = evidence.audio_record(call, turns=(turn,), audio_samples=len(audio))
    part = signed_in.post(url(record_trial(make_run(), record, audio)), headers=HTMX).content.decode()
    assert f"turn 1 · the same words: {WAIT} {SAID}" in plain(part)


def test_the_same_words_are_told_to_be_the_same(signed_in: Client, simulator: Ear, voices: Voices) -> None:
    part = signed_in.post(url(trial_saying(voices, SAID.upper())), headers=HTMX).content.decode()
    assert f"turn 1 · the same words: {SAID}" in plain(part)
    assert "The same words in every turn in which any were caught" in plain(part)


def test_what_nobody_can_hear_says_why(signed_in: Client, settings: Any, voices: Voices) -> None:
    settings.SIMULATOR_URL = ""
    trial = trial_saying(voices, SAID)
    part = signed_in.post(url(trial), headers=HTMX)
    assert "TRANSCRIPTION_ENDPOINT: no simulator runs" in part.content.decode()
    assert signed_in.post(url(trial), headers={"Accept": "text/html"}).status_code == 409
    broken = signed_in.post(url(broken_trial()), headers={"Accept": "application/json"})
    assert "no recording in which the agent says anything" in broken.json()["error"]
    assert signed_in.post("/trials/999999/machine-heard/").status_code == 404
    assert signed_in.get(url(trial)).status_code == 405


def test_a_refusal_is_told_without_the_key_and_nothing_is_kept(
    signed_in: Client, settings: Any, voices: Voices, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(body: bytes) -> HttpReply:
        return error_reply(RequestError(f"the key {KEY} is not known"), 401)

    monkeypatch.setenv("EAR_KEY", KEY)
    settings.TRANSCRIPTION_SECRET = "EAR_KEY"
    trial = trial_saying(voices, SAID)
    with listening(refuse) as base_url:
        settings.TRANSCRIPTION_ENDPOINT = base_url
        part = signed_in.post(url(trial), headers=HTMX).content.decode()
        assert "TRANSCRIPTION_SECRET: there is no secret EAR_KEY" in plain(part)
        settings.SOUNDCHECK_SECRETS = f"EAR_KEY={base_url.removesuffix('/v1')}"
        part = signed_in.post(url(trial), headers=HTMX).content.decode()
    assert plain(part).count("answered HTTP 401: the key [key] is not known") == 2
    assert KEY not in part
    assert "Have it written down" in signed_in.get(trial.get_absolute_url()).content.decode()


def cut(samples: np.ndarray, **more: Any) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("call.wav", wav_bytes(samples)), "id": "cut", **more}


def test_the_words_of_a_call_are_filled_in_when_they_were_heard(
    signed_in: Client, simulator: Ear, voices: Voices, tmp_path: Path
) -> None:
    words = "A table for two on August 6."
    sound = voices.say(words, CALLER)
    simulator.remember(words, sound)
    quiet = np.zeros(24_000, np.int16)
    sent = {"start_s": "1", "text": ""}
    told = signed_in.post("/from-call/words/", cut(np.concatenate([quiet, sound]), **sent))
    assert told.json() == {"text": words}
    page = signed_in.post("/from-call/words/", cut(sound), headers={"Accept": "text/html"})
    assert f">{words}</textarea>" in page.content.decode()
    kept = signed_in.post("/from-call/words/", cut(sound, text="Mine."), headers={"Accept": "text/html"})
    assert ">Mine.</textarea>" in kept.content.decode()


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (cut(evidence.tone(900)), "no words were caught in it"),
        ({"id": "cut"}, "choose the call's recording"),
        (cut(evidence.tone(900), start_s="soon"), "must be a number of seconds"),
        (cut(np.zeros(24_000, np.int16)), "nobody is heard in it"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_words_that_cannot_be_filled_in_are_left_empty_and_it_is_said(
    signed_in: Client, simulator: Ear, sent: dict[str, Any], reason: str
) -> None:
    answer = signed_in.post("/from-call/words/", sent)
    assert answer.status_code == 422
    assert reason in answer.json()["error"]
    again = {name: value for name, value in sent.items() if name != "file"}
    page = signed_in.post("/from-call/words/", again, headers={"Accept": "text/html"})
    assert page.status_code == 422
    assert "No words were written down" in page.content.decode()


def test_a_call_too_large_for_words_is_a_413(signed_in: Client, settings: Any) -> None:
    settings.IMPORT_LIMIT_MB = 1
    answer = signed_in.post("/from-call/words/", cut(np.zeros(600_000, np.int16)))
    assert answer.status_code == 413


def test_a_form_of_another_site_sends_no_call(alice: User) -> None:
    stranger = Client(enforce_csrf_checks=True)
    stranger.force_login(alice)
    assert stranger.post("/from-call/words/", cut(evidence.tone(900))).status_code == 403
    assert stranger.post("/from-call/", cut(evidence.tone(900))).status_code == 403
