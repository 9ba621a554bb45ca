"""CRAWL's file tree of a run: valid against its schemas, readable by nobody else, never written into another."""

from __future__ import annotations

import json
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runs_app.models import Run, Trial
from runs_app.realtime.record import STAGES, Ending, Event, Record
from runs_app.recorder.recording import kept
from runs_app.reporting.crawl.tree import NotEmpty, write_tree
from scenarios_app.spec import jsontext
from scenarios_app.spec.scenario import parse_file
from tests.grading import builders as evidence
from tests.pages.comparing import Result, finished_run, key, versions
from tests.pages.trials import SOUND, record_trial
from tests.reporting.crawl_schemas import check_tree
from tests.runs.builders import make_configuration, make_run, scenario

pytestmark = pytest.mark.django_db

BOOKS = {"answer": "Booked.", "tools": {"required": [{"name": "create_reservation", "arguments": evidence.BOOKING}]}}
EVENTS = [
    Event(0, -120.5, "harness", "internal", "session.opened", {"url": "wss://agent.example"}),
    Event(1, -80.0, "caller", "sent", "session.update", {"session": {"instructions": "x" * 2_000}}),
    Event(2, 0.0, "caller", "internal", "turn.started", {"turn": 0, "text": "A table for Nora"}),
    Event(3, 1_200.0, "tool", "internal", "tool.called", {"name": "create_reservation"}),
    Event(4, 1_800.0, "agent", "received", "response.output_audio.delta", {"delta": {"bytes": 960}}),
]


LINES = [jsontext.dumps(kept(event)) for event in EVENTS]


def told(run: Run, record: Record, audio: Any = None) -> Trial:
    return record_trial(run, record, audio, lines=LINES)


def spoken(run: Run) -> Trial:
    """The next trial of the run as a call that was held, with its events and its sound."""
    called = evidence.call(turn=0, called_ms=1_200.0, answered_ms=1_500.0)
    return told(run, evidence.audio_record(called, audio_samples=len(SOUND), session={"id": "sess_1"}), SOUND)


def one_of_each() -> Run:
    """Passed with sound, failed, failed by time-out, invalid before and after a word, ungraded, cancelled."""
    wishes = [{"expected": BOOKS}, {"expected": BOOKS}] + [{"expected": {"answer": "Booked."}}] * 5
    run = make_run([scenario(f"case_{n}", **wish) for n, wish in enumerate(wishes, 1)])
    assert spoken(run).outcome == "passed"
    assert told(run, evidence.record()).outcome == "failed"
    late = Ending("response_timeout", message="no answer within 60 s")
    silent = evidence.turn("", status="timeout", done_ms=None)
    assert told(run, evidence.record(turns=(silent,), ending=late)).stage == "response_timeout"
    away = Ending("invalid", stage="connect", message="nobody listens")
    told(run, evidence.record(turns=(), ending=away))
    cut = Ending("invalid", stage="socket_closed", message="closed")
    told(run, evidence.audio_record(ending=cut, audio_samples=len(SOUND)), SOUND)
    assert told(run, evidence.record()).outcome == "ungraded"
    told(run, evidence.record(ending=Ending("cancelled", message="stopped on request")))
    run.refresh_from_db()
    assert run.is_over
    return run


def by_id(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {result["scenario_id"]: result for result in document["results"]}


def test_a_run_with_every_outcome_is_valid_against_the_schemas(tmp_path: Path) -> None:
    run = one_of_each()
    folders = write_tree(run, tmp_path / "out")
    assert [folder.name for folder in folders] == ["Front-desk-v1"]
    document = check_tree(folders[0])
    assert document["summary"] == {"total": 7, "passed": 1, "failed": 2, "infrastructure_errors": 4}
    found = by_id(document)
    errors = {key: (result["error"] or {}).get("stage") for key, result in found.items()}
    assert errors == {
        "case_1": None,
        "case_2": None,
        "case_3": None,
        "case_4": "session_start",
        "case_5": "response_collection",
        "case_6": "semantic_judge",
        "case_7": "example_execution",
    }
    ours = {key: (result["soundcheck"]["outcome"], result["soundcheck"]["stage"]) for key, result in found.items()}
    assert ours["case_3"] == ("failed", "response_timeout")
    assert ours["case_5"] == ("invalid", "socket_closed")
    assert found["case_3"]["observability"]["completion"]["termination_reason"] == "response_timeout"
    assert document["soundcheck"]["notice"].startswith("Not redacted")
    assert document["soundcheck"]["simulated"] is False
    assert found["case_4"]["artifacts"]["conversation_audio"] is None
    assert found["case_5"]["artifacts"]["conversation_audio"] is not None


def test_every_stage_of_an_invalid_trial_becomes_one_that_crawl_knows(tmp_path: Path) -> None:
    run = make_run([scenario(f"case_{n}") for n in range(len(STAGES))])
    for stage in STAGES:
        told(run, evidence.record(turns=(), ending=Ending("invalid", stage=stage, message="not the agent's doing")))
    [folder] = write_tree(run, tmp_path / "out")
    results = check_tree(folder)["results"]
    assert {result["soundcheck"]["stage"] for result in results} == set(STAGES)


def test_the_latency_of_crawl_is_the_unrefined_one(tmp_path: Path) -> None:
    run = make_run([scenario(expected=BOOKS)])
    trial = spoken(run)
    result = check_tree(write_tree(run, tmp_path / "out")[0])["results"][0]
    audio = result["metrics"]["audio"]
    assert audio["response_latency_ms"] == trial.metrics["response_latency_unrefined_ms"]
    assert audio["response_latency_ms"] is not None
    assert result["soundcheck"]["metrics"]["response_latency_ms"] == trial.response_latency_ms
    assert audio["response_opportunities"]["response_count"] == 1
    assert result["metrics"]["consumption"]["frontend"]["audio_duration_ms"] == len(SOUND) / 24
    assert result["metrics"]["task"]["tool_calls"] == {"actual": 1, "expected": 1}
    assert result["observability"]["tools"]["matched_count"] == 1


def test_the_sounds_are_the_channels_of_the_call(tmp_path: Path) -> None:
    run = make_run([scenario("call", expected=BOOKS)])
    spoken(run)
    folder = write_tree(run, tmp_path / "out")[0] / "audio" / "call"

    def samples(name: str) -> Any:
        with wave.open(str(folder / f"{name}.wav")) as sound:
            return np.frombuffer(sound.readframes(sound.getnframes()), dtype="<i2")

    assert np.array_equal(samples("conversation").reshape(-1, 2), SOUND)
    assert np.array_equal(samples("output"), SOUND[:, 1])
    assert np.array_equal(samples("input"), SOUND[:24_000, 0])  # the caller spoke for a second


def test_transcript_and_events_read_as_crawl_writes_them(tmp_path: Path) -> None:
    run = make_run([scenario("call", expected=BOOKS)])
    spoken(run)
    folder = write_tree(run, tmp_path / "out")[0]
    lines = (folder / "audio/call/conversation.transcript.txt").read_text().splitlines()
    assert lines[0].startswith("USER 0..1000ms: Book a table for Nora")
    assert lines[1] == "DELEGATION 1200ms: target=direct"
    assert lines[2].startswith('TOOL 1200ms: name=create_reservation status=completed arguments={"guest_name": "Nora"')
    assert lines[3] == f"ASSISTANT 1800..3000ms: {evidence.REPLY}"
    events = [json.loads(line) for line in (folder / "events/call.jsonl").read_text().splitlines()]
    assert [event["event_time_ms"] for event in events[:3]] == [0.0, 40.5, 120.5]
    places = [(event["source"], event["direction"]) for event in events[:5]]
    assert places == [
        ("evaluator", "internal"),
        ("live_frontend", "client_to_server"),
        ("caller_audio", "internal"),
        ("assistant_application", "application_internal"),
        ("live_frontend", "server_to_client"),
    ]
    assert len(events[1]["event"]["session"]["instructions"]) < 850
    assert [event["type"] for event in events[5:]] == ["evaluation.checks.assessed", "evaluation.outcome.assessed"]


def test_repeats_and_configurations_have_folders_of_their_own(tmp_path: Path) -> None:
    chosen = [*versions(2), make_configuration("Front-desk"), make_configuration("接待")]
    run = finished_run(lambda trial: Result(), scenarios=2, configurations=chosen, repeats=2)
    folders = write_tree(run, tmp_path / "out")
    assert [folder.name for folder in folders] == [
        "Front-desk-v1-r1",
        "Front-desk-v1-r2",
        "Front-desk-v2-r1",
        "Front-desk-v2-r2",
        "Front-desk-v1-3-r1",
        "Front-desk-v1-3-r2",
        "configuration-v1-r1",
        "configuration-v1-r2",
    ]
    for folder in folders:
        document = check_tree(folder)
        assert document["run"]["id"] == folder.name
        assert list(by_id(document)) == ["case_1", "case_2"]
        assert document["soundcheck"]["repeat"] == int(folder.name[-1])


def test_the_scenarios_as_run_lie_beside_and_are_named_as_the_dataset(tmp_path: Path) -> None:
    run = finished_run(lambda trial: Result(), scenarios=2, configurations=versions(1))
    folder = write_tree(run, tmp_path / "out")[0]
    dataset = Path(check_tree(folder)["run"]["dataset"])
    assert dataset == (tmp_path / "out" / "scenarios.json").resolve()
    assert [item.id for item in parse_file(dataset.read_bytes()).scenarios] == ["case_1", "case_2"]


def test_a_simulated_run_says_so(tmp_path: Path) -> None:
    agent = make_configuration(endpoint="simulator")
    run = finished_run(lambda trial: Result(), scenarios=1, configurations=[agent])
    document = check_tree(write_tree(run, tmp_path / "out")[0])
    assert document["run"]["execution_mode"] == "offline_fixture"
    assert document["soundcheck"]["simulated"] is True
    assert document["results"][0]["soundcheck"]["simulated"] is True


def test_assertions_stand_among_the_checks_and_under_our_key(tmp_path: Path) -> None:
    wanted = [{"turns": {"lte": 1}}, {"tool_not_called": "create_reservation"}]
    run = make_run([scenario(expected=BOOKS, assertions=wanted)])
    spoken(run)
    result = check_tree(write_tree(run, tmp_path / "out")[0])["results"][0]
    checks = {check["id"]: check["status"] for check in result["assessment"]["checks"]}
    assert (checks["assertion:1"], checks["assertion:2"]) == ("passed", "failed")
    assert result["soundcheck"]["assertions"][1]["reason"] == "create_reservation was called 1 time"


def test_a_folder_that_holds_something_is_refused_and_links_are_never_followed(tmp_path: Path) -> None:
    run = finished_run(lambda trial: Result(), scenarios=1, configurations=versions(1))
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for place in (taken, taken / "mine.txt", tmp_path / "link"):
        with pytest.raises(NotEmpty, match="there already"):
            write_tree(run, place)
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]
    assert not (tmp_path / "elsewhere").exists()
    assert write_tree(run, tmp_path / "deep" / "new")


def test_a_recording_that_is_gone_is_left_out(tmp_path: Path) -> None:
    run = make_run([scenario(expected=BOOKS)])
    spoken(run)
    Trial.objects.filter(run=run).update(wav="trials/0/0/audio.wav", events_file="trials/0/0/events.jsonl")
    found = check_tree(write_tree(run, tmp_path / "out")[0])["results"][0]["artifacts"]
    assert (found["conversation_audio"], found["events"]) == (None, None)
    assert found["details"] is not None


def test_more_trials_cost_no_more_queries_each(tmp_path: Path, django_assert_max_num_queries: Any) -> None:
    run = finished_run(
        lambda trial: Result("passed" if key(trial) else "failed"), scenarios=12, configurations=versions(1)
    )
    with django_assert_max_num_queries(60):
        write_tree(run, tmp_path / "out")
