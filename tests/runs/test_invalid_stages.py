"""Every way in which a trial says nothing about the agent: by a fault of the simulator where one does it, else by a
scripted server, a speech service or our own trouble. The last test holds the list against `record.STAGES`."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from runs_app import loop
from runs_app.models import Run, Trial
from runs_app.realtime.record import STAGES
from runs_app.services.sweeping import sweep
from scenarios_app.services.applications import import_applications
from scenarios_app.services.configurations import find_configuration_version, import_configurations
from tests.runs import agents
from tests.runs.builders import make_configuration, make_run, scenario
from tests.runs.test_conversing import play, run_against, spoken
from tests.runs.test_sweeping import lost_once
from tests.scripted_events import audio_reply, call_item, call_reply, error, session_created
from tests.scripted_server import Call, Close, Expect, Hang, Send, Session, Step, serving_in_thread
from tests.simulator import demo
from tests.simulator.wire_client import Simulator
from tests.speech_server import error_answer, speech_server

pytestmark = pytest.mark.django_db(transaction=True)

BY_FAULT = {
    "connect": "refuse_503",
    "authorisation": "refuse_401",
    "provider_limit": "refuse_429",
    "session_expired": "session_expired",
    "response_failed": "server_error",
    "socket_closed": "close_1011",
}
BY_SCRIPT: dict[str, list[Step]] = {
    "session": [Send(session_created()), Expect("session.update"), Send(error("invalid_value")), Hang()],
    "error_event": [*agents.UP, *agents.ASKED, Send(error("server_error")), Hang()],
    "message_too_big": [*agents.UP, *agents.ASKED, Close(1009, "too big")],
}
BY_HAND = {"configuration", "speech", "caller_audio", "caller", "pacing", "tool_sandbox", "worker_lost", "internal"}
BY_HAND |= {"delegation"}
# No code ends a trial so: frames that nobody understands are counted, and what is missing then ends the turn in time.
NEVER = {"protocol"}


def faulty(backend: dict[str, str] | None = None, **headers: str) -> Run:
    """One written trial of the demo's faulty Front desk, with faults of the test's own choice."""
    import_applications(data=(demo.FOLDER / "applications.json").read_bytes())
    content = json.loads((demo.FOLDER / "configurations.json").read_text())[-1]
    assert content["name"] == "Front desk faulty"
    content |= {"headers": {**content["headers"], **headers}, "backend": backend}
    import_configurations(data=json.dumps([content]).encode())
    booking = json.loads((demo.FOLDER / "scenarios.json").read_text())["scenarios"][0]
    return make_run([booking], configurations=[find_configuration_version(content["name"])], mode="text")


@pytest.mark.parametrize(("stage", "fault"), [*BY_FAULT.items(), ("provider_limit", "session_limit")])
def test_a_fault_of_the_simulator_ends_in_its_stage(
    simulator: Simulator, settings: Any, stage: str, fault: str
) -> None:
    settings.SIMULATOR_URL = simulator.http
    trial = play(faulty(**{"x-sim-fault": fault}))
    assert (trial.outcome, trial.stage) == ("invalid", stage), trial.reason
    assert trial.reason


def test_without_a_fault_the_same_trial_is_judged(simulator: Simulator, settings: Any) -> None:
    settings.SIMULATOR_URL = simulator.http
    assert play(faulty(**{"x-sim-fault": ""})).outcome == "passed"


@pytest.mark.parametrize(
    ("model", "came_to"),
    [("sim-clerk:latency-ms=0", ("passed", "")), ("sim-clerk:fault=server_error", ("invalid", "delegation"))],
)
def test_delegation_the_backend_behind_the_voice_does_its_task_or_fails(
    simulator: Simulator, settings: Any, model: str, came_to: tuple[str, str]
) -> None:
    settings.SIMULATOR_URL = simulator.http
    trial = play(faulty(backend={"mode": "responses", "model": model}, **{"x-sim-fault": ""}))
    assert (trial.outcome, trial.stage) == came_to, trial.reason


@pytest.mark.parametrize(("stage", "script"), BY_SCRIPT.items())
def test_a_server_that_misbehaves_ends_in_its_stage(stage: str, script: list[Step]) -> None:
    with serving_in_thread(script) as agent:
        trial = play(run_against(agent))
    assert (trial.outcome, trial.stage) == ("invalid", stage), trial.reason


def test_configuration_a_simulator_is_meant_and_none_runs(settings: Any) -> None:
    settings.SIMULATOR_URL = ""
    assert stage_of(play(faulty())) == "configuration"


def spoken_trial(speech_url: str, agent: Any, **audio: Any) -> Trial:
    caller = {"endpoint": speech_url, "model": "tts", "voice": "nora"}
    return play(run_against(agent, mode="audio", caller=caller, audio={"real_time": False, **audio}))


def test_speech_the_service_refuses_and_caller_audio_the_service_sends_a_click() -> None:
    with serving_in_thread(agents.answering()) as agent:
        with speech_server([error_answer(401, "no such key")]) as speech:
            assert stage_of(spoken_trial(speech.url, agent)) == "speech"
        with speech_server([spoken(60)]) as speech:
            assert stage_of(spoken_trial(speech.url, agent)) == "caller_audio"


def test_pacing_this_machine_is_busy_while_the_caller_speaks() -> None:
    busy = threading.Event()

    async def be_busy(_: Session) -> None:
        loop.conversations.call_soon(lambda: busy.wait(0.6))

    reply = audio_reply([b"\x00\x10" * 2400], "Booked.")
    first = [Expect("input_audio_buffer.append"), Call(be_busy), Expect("input_audio_buffer.commit")]
    script = [*agents.UP, *first, Expect("response.create"), *reply, Hang()]
    with serving_in_thread(script) as agent, speech_server([spoken(1500)]) as speech:
        trial = spoken_trial(speech.url, agent, real_time=True)
    assert stage_of(trial) == "pacing"
    assert "too busy" in trial.reason


def test_tool_sandbox_a_template_of_the_application_goes_wrong() -> None:
    call = call_item("lookup", "{}")
    script = [*agents.UP, *agents.ASKED, *call_reply([call], "resp_1"), Hang()]
    answer = {"result": {"id": "{{ 1 // 0 }}"}}
    tool = {"name": "lookup", "description": "", "parameters": {"type": "object"}, "answers": [answer]}
    import_applications(data=json.dumps([{"name": "Broken", "tools": [tool]}]).encode())
    with serving_in_thread(script) as agent:
        version = make_configuration(endpoint=agent.url, application={"name": "Broken"})
        trial = play(make_run([scenario("book")], configurations=[version]))
    assert stage_of(trial) == "tool_sandbox"


def test_worker_lost_the_third_worker_is_gone() -> None:
    run = make_run()
    for _ in range(3):
        trial = lost_once(run)
        sweep()
    trial.refresh_from_db()
    assert stage_of(trial) == "worker_lost"


def test_internal_the_recording_cannot_be_stored(settings: Any, tmp_path: Any) -> None:
    blocked = tmp_path / "a file where a folder should be"
    blocked.write_text("")
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(blocked)}}
    settings.STORAGES = {**settings.STORAGES, "default": backend}
    with serving_in_thread(agents.answering()) as agent:
        assert stage_of(play(run_against(agent))) == "internal"


def stage_of(trial: Trial) -> str:
    assert trial.outcome == "invalid", (trial.outcome, trial.reason)
    assert trial.reason
    return str(trial.stage)


def test_every_stage_has_its_test_here() -> None:
    reached = [*BY_FAULT, *BY_SCRIPT, *BY_HAND, *NEVER]
    assert sorted(reached) == sorted(STAGES)
    tests = [name for name in globals() if name.startswith("test_")]
    assert {stage for stage in BY_HAND if not any(stage in name for name in tests)} == set()
