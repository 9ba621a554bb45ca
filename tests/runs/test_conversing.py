"""One trial in this process: planning, secrets, speech, the recording and its files, grading."""

from __future__ import annotations

import json

import numpy as np
import pytest
from django.core.files.storage import default_storage

from runs_app.models import Run, Trial
from runs_app.realtime.wav import HEADER_BYTES, wav_bytes
from runs_app.services import conversing, grading
from runs_app.services.artifacts import read_audio
from runs_app.services.claims import claim_grading, claim_trial
from runs_app.services.runs import regrade_trial
from tests.runs import agents
from tests.runs.builders import make_configuration, make_run, scenario
from tests.scripted_events import (
    audio_delta,
    audio_reply,
    call_item,
    call_reply,
    created,
    done,
    text_reply,
    transcript_delta,
)
from tests.scripted_server import Call, Expect, Hang, ScriptedServer, Send, serving_in_thread
from tests.speech_server import Answer, speech_server

pytestmark = pytest.mark.django_db(transaction=True)


def spoken(ms: int) -> Answer:
    """A voice-like tone of this length."""
    return Answer(wav_bytes((9000 * np.sin(np.arange(ms * 24) / 12)).astype("<i2")))


def spoken_pcm(ms: int) -> bytes:
    return (9000 * np.sin(np.arange(ms * 24) / 12)).astype("<i2").tobytes()


def play(run: Run) -> Trial:
    """Claims one trial and plays it, then grades it if it was recorded."""
    claim = claim_trial(run_id=run.pk)
    assert claim
    conversing.hold_conversation(claim)
    mine = claim_grading(trial_id=claim.trial_id)
    if mine is not None:
        grading.grade_claimed(mine)
    return Trial.objects.get(pk=claim.trial_id)


def run_against(server: ScriptedServer, scenarios=1, **more) -> Run:
    return make_run(scenarios, configurations=[make_configuration(endpoint=server.url, **more)])


def test_tools_change_the_state_and_the_verdict_is_stored():
    call = call_item("create_reservation", json.dumps({"guest_name": "Nora", "party_size": 3}))
    script = [
        *agents.UP,
        *agents.ASKED,
        *call_reply([call], "resp_1"),
        *agents.ASKED,
        *text_reply("Done, Nora, a table for three.", "resp_2"),
        Hang(),
    ]
    expected = {
        "answer": "Booked.",
        "tools": {"required": [{"name": "create_reservation", "arguments": {"guest_name": "nora"}}]},
        "state": {"reservation_created": True},
    }
    with serving_in_thread(script) as agent:
        trial = play(run_against(agent, [scenario("book", expected=expected)]))
    assert (trial.outcome, trial.reason) == ("passed", trial.reason)
    assert trial.record["final_state"] == {"reservation_created": True}
    assert trial.tool_accuracy == 1.0
    assert trial.metrics["tool_calls"] == 1
    current = trial.gradings.get(current=True)
    assert current.checks.get(check_id="tool_selection").status == "passed"


def test_a_trial_that_ends_well_leaves_no_complaint(caplog):
    with serving_in_thread(agents.answering()) as agent:
        trial = play(run_against(agent))
    assert trial.lease_expires_at is None
    ours = [record for record in caplog.records if record.name.startswith("runs_app") and "queue" not in record.name]
    assert ours == []


def test_a_failed_trial_says_why_and_grading_again_needs_no_conversation():
    expected = {"answer": "Booked.", "state": {"reservation_created": True}}
    with serving_in_thread(agents.answering()) as agent:
        trial = play(run_against(agent, [scenario("book", expected=expected)]))
        assert trial.outcome == "failed"
        assert trial.reason
        regrade_trial(trial=trial)
        trial.refresh_from_db()
        assert (trial.status, trial.outcome) == ("recorded", "")
        grading.grade_claimed(claim_grading(trial_id=trial.pk))
        assert len(agent.sessions) == 1
    trial.refresh_from_db()
    assert trial.outcome == "failed"
    first, second = trial.gradings.order_by("number")
    assert (first.current, second.current) == (False, True)
    assert first.metrics == second.metrics
    assert [c.reason for c in first.checks.all()] == [c.reason for c in second.checks.all()]


def test_audio_is_recorded_in_stereo_with_peaks_and_the_whole_timeline():
    tone = (8000 * np.sin(np.arange(24_000) / 10)).astype("<i2")
    reply = audio_reply([tone.tobytes()], "Your table is booked.")
    script = [*agents.UP, Expect("input_audio_buffer.commit"), Expect("response.create"), *reply, Hang()]
    with speech_server([spoken(600)]) as speech, serving_in_thread(script) as agent:
        caller = {"endpoint": speech.url, "model": "tts", "voice": "nora"}
        audio = {"real_time": False}
        trial = play(run_against(agent, mode="audio", caller=caller, audio=audio))
    assert trial.outcome == "passed", (trial.stage, trial.reason)
    assert trial.wav == f"trials/{trial.pk}/1/audio.wav"
    samples = read_audio(trial.wav)
    assert samples.shape[1] == 2
    assert samples.shape[0] == trial.record["audio_samples"]
    assert np.array_equal(samples[-24_000:, 1], tone)
    assert default_storage.size(trial.wav) == HEADER_BYTES + samples.size * 2
    with default_storage.open(trial.peaks) as file:
        drawn = json.load(file)
    assert len(drawn["agent"]["high"]) == -(-len(samples) // 240)
    with default_storage.open(trial.events_file) as file:
        lines = [json.loads(line) for line in file]
    assert [line["seq"] for line in lines] == list(trial.events.values_list("seq", flat=True))
    assert trial.response_latency_ms is not None


def test_a_provider_that_demands_a_key_gets_it_and_another_origin_does_not(settings, monkeypatch):
    monkeypatch.setenv("SHOP_KEY", "sk-very-secret")
    headers = {"Authorization": "Bearer {{secrets.SHOP_KEY}}", "x-seed": "{{trial.seed}}"}
    with serving_in_thread(agents.answering()) as agent, serving_in_thread(agents.answering()) as stranger:
        settings.SOUNDCHECK_SECRETS = f"SHOP_KEY=ws://127.0.0.1:{agent.port}"
        trial = play(run_against(agent, headers=headers))
        assert trial.outcome == "passed"
        assert agent.sessions[0].headers["Authorization"] == "Bearer sk-very-secret"
        assert agent.sessions[0].headers["x-seed"] == str(trial.seed)
        other = play(run_against(stranger, headers=headers))
        assert stranger.sessions == []
        assert stranger.upgrades == []
    assert (other.outcome, other.stage) == ("invalid", "configuration")
    assert "SHOP_KEY may not be sent" in other.reason
    everything = json.dumps([trial.record, list(trial.events.values_list("payload", flat=True)), other.reason])
    assert "sk-very-secret" not in everything
    assert "sk-very-secret" not in default_storage.open(trial.events_file).read().decode()


def test_the_simulator_is_named_when_none_runs(settings):
    settings.SIMULATOR_URL = ""
    trial = play(make_run(1, configurations=[make_configuration(endpoint="simulator")]))
    assert (trial.outcome, trial.stage) == ("invalid", "configuration")
    assert "no simulator runs" in trial.reason


def test_the_word_simulator_means_the_one_that_runs(settings):
    with serving_in_thread(agents.answering()) as agent:
        settings.SIMULATOR_URL = f"http://127.0.0.1:{agent.port}"
        trial = play(make_run(1, configurations=[make_configuration(endpoint="simulator")]))
    assert trial.outcome == "passed"
    assert agent.sessions[0].path == "/v1/realtime?model=voice-1"


def test_a_refused_connection_is_not_the_agents_failure():
    with serving_in_thread(agents.answering(), refuse=429) as agent:
        trial = play(run_against(agent))
    assert (trial.outcome, trial.stage) == ("invalid", "provider_limit")
    assert trial.gradings.get().outcome == "invalid"
    assert trial.record["ending"]["kind"] == "invalid"


@pytest.mark.case("A13")
def test_caller_audio_that_is_too_short_opens_no_session_and_is_spoken_again_the_next_time():
    """A13 on the road of a trial: invalid (caller_audio), and nothing of it in the cache."""
    reply = audio_reply([b"\x00\x10" * 2400], "Booked.")
    script = [*agents.UP, Expect("input_audio_buffer.commit"), Expect("response.create"), *reply, Hang()]
    with speech_server([spoken(60), spoken(400)]) as speech, serving_in_thread(script) as agent:
        more = {"caller": {"endpoint": speech.url, "model": "tts", "voice": "nora"}, "audio": {"real_time": False}}
        trial = play(run_against(agent, mode="audio", **more))
        assert (trial.outcome, trial.stage) == ("invalid", "caller_audio")
        assert trial.reason == "caller audio 60 ms (minimum 100 ms)"
        assert agent.sessions == []
        assert play(run_against(agent, mode="audio", **more)).outcome == "passed"


def test_fresh_audio_is_spoken_once_for_each_run_that_asks():
    reply = audio_reply([b"\x00\x10" * 2400], "Booked.")
    script = [*agents.UP, Expect("input_audio_buffer.commit"), Expect("response.create"), *reply, Hang()]
    with speech_server([spoken(300)]) as speech, serving_in_thread(script) as agent:
        caller = {"endpoint": speech.url, "model": "tts", "voice": "nora"}
        version = make_configuration(endpoint=agent.url, mode="audio", caller=caller, audio={"real_time": False})
        usual = make_run(1, configurations=[version], repeats=2)
        play(usual), play(usual)
        assert len(speech.asked) == 1
        fresh = make_run(1, configurations=[version], repeats=2, refresh_audio=True)
        play(fresh), play(fresh)
        assert len(speech.asked) == 2


def test_a_judge_that_cannot_be_asked_leaves_the_trial_ungraded_with_the_reason(settings):
    settings.SIMULATOR_URL = ""
    judge = {"endpoint": "simulator", "model": "sim-judge"}
    with serving_in_thread(agents.answering()) as agent:
        trial = play(run_against(agent, judge=judge))
    assert (trial.outcome, trial.stage) == ("ungraded", "judge_error")
    assert trial.semantic_quality is None
    errors = trial.gradings.get().grades.exclude(judge_error="").values_list("judge_error", flat=True)
    assert all("no simulator runs" in error for error in errors)
    assert errors


def test_the_run_decides_on_mode_and_real_time():
    with serving_in_thread(agents.answering()) as agent:
        version = make_configuration(endpoint=agent.url, mode="audio")
        run = make_run(1, configurations=[version], mode="text", real_time=False)
        trial = play(run)
    assert trial.record["mode"] == "text"
    assert trial.record["real_time"] is False
    assert trial.metrics["response_latency_ms"] is None


def test_a_trial_that_was_taken_over_meanwhile_leaves_no_trace():
    taken = []

    async def take_over(session) -> None:
        from asgiref.sync import sync_to_async

        def another_worker() -> None:
            Trial.objects.update(status="queued", lease_expires_at=None)
            taken.append(claim_trial(run_id=Run.objects.get().pk))

        await sync_to_async(another_worker, thread_sensitive=False)()

    with serving_in_thread([*agents.UP, *agents.ASKED, Call(take_over), Hang()]) as agent:
        run = run_against(agent)
        claim = claim_trial(run_id=run.pk)
        conversing.hold_conversation(claim)
        assert len(agent.sessions) == 1
    trial = run.trials.get()
    assert (trial.status, trial.attempt, trial.record, trial.outcome) == ("running", 2, None, "")
    assert not trial.gradings.exists()
    assert not default_storage.exists(f"trials/{trial.pk}/1/events.jsonl")


def test_a_fault_of_ours_ends_one_trial_as_internal(settings, tmp_path):
    blocked = tmp_path / "a file where a folder should be"
    blocked.write_text("")
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(blocked)},
        },
    }
    with serving_in_thread([*agents.answering()]) as agent:
        trial = play(run_against(agent))
    assert (trial.outcome, trial.stage) == ("invalid", "internal")
    assert "NotADirectoryError" in trial.reason or "FileExistsError" in trial.reason


def test_a_script_of_two_turns_is_spoken_broken_into_and_shown(client, admin_user):
    """The second turn is said over the reply to the first; every turn has its words, its sound and its numbers."""
    cut = {"status_details": {"type": "cancelled", "reason": "client_cancelled"}}
    script = [
        *agents.UP,
        Expect("response.create"),
        Send(created("resp_1")),
        Send(transcript_delta("We have a table at", "resp_1")),
        Send(audio_delta(spoken_pcm(900), "resp_1")),
        Expect("conversation.item.truncate"),
        Send(done("resp_1", "cancelled", **cut)),
        Expect("response.create"),
        *audio_reply([spoken_pcm(300)], "For four, then.", "resp_2"),
        Hang(),
    ]
    said = {"text": "A table, please.", "turns": [{"text": "For four!", "interrupt_after_ms": 300}]}
    talk = scenario("talk", interaction="multi_turn", input=said)
    with speech_server([spoken(300), spoken(400)]) as speech, serving_in_thread(script) as agent:
        caller = {"endpoint": speech.url, "model": "tts", "voice": "nora"}
        trial = play(run_against(agent, [talk], mode="audio", caller=caller))
        assert [request["json"]["input"] for request in speech.asked] == ["A table, please.", "For four!"]
    assert trial.status == "done", trial.reason
    first, second = trial.record["turns"]
    assert (first["caller_text"], second["caller_text"]) == ("A table, please.", "For four!")
    assert (first["interrupted"], first["status"], second["interrupted"]) == (True, "cancelled", False)
    assert second["caller"]["end"] - second["caller"]["start"] == 400 * 24
    rows = trial.gradings.get(current=True).turns
    assert [row["interrupted"] for row in rows] == [True, False]
    assert rows[0]["agent_stop_ms"] is not None
    assert trial.metrics["interruptions"] == 1
    assert trial.metrics["interruption_stop_ms_max"] == first["interruption_stop_ms"]
    assert trial.metrics["turns"] == 2
    lines = default_storage.open(trial.events_file).read().decode().splitlines()
    turns = [json.loads(line)["payload"]["turn"] for line in lines if json.loads(line)["type"] == "turn.started"]
    assert turns == [0, 1]
    client.force_login(admin_user)
    page = client.get(trial.get_absolute_url()).content.decode()
    for words in ("A table, please.", "We have a table at", "For four!", "For four, then.", "talked over it from"):
        assert words in page
