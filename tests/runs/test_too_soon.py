"""A call whose agent confirms 0.4 s before its tool has answered: held, recorded, graded, found."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.http import QueryDict

from runs_app.listening.sheet import sheet_of
from runs_app.models import Trial
from runs_app.realtime.record import SAMPLES_PER_MS
from runs_app.realtime.speech_edges import voiced
from runs_app.reviews.wanted import trials_of, wanted_of
from runs_app.services.artifacts import read_audio
from tests.realtime.support import chunks, tone
from tests.runs import agents
from tests.runs.builders import make_configuration, make_run, scenario
from tests.runs.test_conversing import play, spoken
from tests.scripted_events import audio_reply, call_item, call_reply
from tests.scripted_server import Expect, Hang, serving_in_thread
from tests.speech_server import speech_server

pytestmark = pytest.mark.django_db(transaction=True)

DELAY_MS = 400
BUSY_MS = 150  # that the answer may come later still on a machine that is busy


def early_script() -> list[Any]:
    """One response that says it is booked and then calls the tool that books."""
    call = call_item("create_reservation", json.dumps({"guest_name": "Nora"}))
    said, called = audio_reply(chunks(tone(1_200)), "Your table is booked."), call_reply([call])
    return [
        *agents.UP,
        Expect("input_audio_buffer.commit"),
        Expect("response.create"),
        *said[:-1],
        *called[1:],
        Expect("conversation.item.create"),
        Expect("response.create"),
        *audio_reply(chunks(tone(600)), "See you on Friday.", "resp_2"),
        Hang(),
    ]


@pytest.fixture
def trial(transactional_db: None) -> Trial:
    booked = {"answer": "Booked.", "tools": {"required": [{"name": "create_reservation"}]}, "delegation": "required"}
    with speech_server([spoken(600)]) as speech, serving_in_thread(early_script()) as agent:
        caller = {"endpoint": speech.url, "model": "tts", "voice": "nora"}
        version = make_configuration(endpoint=agent.url, mode="audio", caller=caller, audio={"real_time": True})
        slow = {"create_reservation": {"mode": "delay", "ms": DELAY_MS}}
        return play(make_run([scenario("book", expected=booked)], configurations=[version], tool_faults=slow))


def test_the_claim_is_bracketed_at_its_samples_fails_its_check_and_is_found(trial: Trial) -> None:
    alice = User.objects.create_user("alice")
    check = trial.gradings.get(current=True).checks.get(check_id="spoke_too_soon")
    assert (check.status, check.required) == ("failed", False)
    (early,) = check.evidence["early"]
    assert DELAY_MS <= early["early_ms"] <= DELAY_MS + BUSY_MS
    assert trial.metrics["spoke_too_soon_ms"] == early["early_ms"]

    audio = read_audio(trial.wav)
    assert audio is not None
    start, end = (round(ms * SAMPLES_PER_MS) for ms in early["bracket_ms"])
    heard = voiced(np.ascontiguousarray(audio[:, 1]))[0]
    assert abs(start - heard.start) <= 5 * SAMPLES_PER_MS, "it begins with the agent's first sound"
    answered_ms = trial.record["tool_calls"][0]["answered_ms"]  # type: ignore[index]
    assert end == round(answered_ms * SAMPLES_PER_MS), "and ends where the tool answered"
    assert trial.events.get(type="tool.result").t_ms == pytest.approx(answered_ms, abs=1)

    sheet = sheet_of(Trial.objects.with_versions().get(pk=trial.pk))
    assert sheet is not None
    (mark,) = [mark for mark in sheet.lanes.of("agent") if mark.kind == "early"]
    assert [mark.start_ms, mark.end_ms] == early["bracket_ms"]
    assert list(trials_of(wanted_of(QueryDict("sign=too-soon")), alice)) == [trial]
    assert list(trials_of(wanted_of(QueryDict("check=spoke_too_soon")), alice)) == [trial]
