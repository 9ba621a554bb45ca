"""A whole grading from stored evidence: the outcome table, the metrics, and that it repeats."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runs_app.grading.assertions import assertion_checks
from runs_app.grading.case import Evidence
from runs_app.grading.grade import GradingResult, grade
from runs_app.grading.metrics import METRICS
from runs_app.realtime.record import STAGES, Ending, Pacing, Record, ToolCall, Usage
from tests.grading.builders import (
    BOOKING,
    PlainJudge,
    audio_record,
    call,
    case,
    expecting,
    record,
    recording,
    scenario,
    spoken,
    turn,
)

NO = json.dumps({"passed": False, "score": 0.25, "rationale": "Confirms the wrong day.", "evidence": []})


def status(result: GradingResult, id: str) -> str:
    return next(check.status for check in result.checks if check.id == id)


def came_to(result: GradingResult) -> tuple[str, str]:
    return (result.outcome.outcome, result.outcome.stage)


async def test_everything_as_expected_passes_with_and_without_a_judge() -> None:
    for judge in (None, PlainJudge()):
        result = await grade(Evidence(scenario(), record(call())), judge=judge)
        assert came_to(result) == ("passed", "")
        assert result.metrics["task_completed"] is True
    assert result.judge_model == "plain-judge"


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ((), "create_reservation was not called"),
        ((call(arguments=BOOKING | {"party_size": 4}),), "create_reservation: party_size: expected 3, got 4"),
        ((call(), call("cancel_reservation", {})), "cancel_reservation was called and not expected"),
    ],
)
async def test_a_failed_required_check_fails_the_trial_and_gives_the_reason(
    made: tuple[ToolCall, ...], reason: str
) -> None:
    result = await grade(Evidence(scenario(), record(*made)), judge=PlainJudge())
    assert result.outcome.outcome == "failed"
    assert result.outcome.reason.startswith(reason)
    assert result.metrics["task_completed"] is False


@pytest.mark.case("B10")
async def test_a_required_call_that_is_missing_fails_although_state_and_judge_like_it() -> None:
    """B10, first: the agent only says that it transfers."""
    transfer = expecting(
        answer="Transfers the caller.",
        tools={"required": [{"name": "transfer_to_person"}]},
        state={"unchanged": True},
    )
    said = record(turns=(turn("Certainly, I'll put you through to a colleague."),))
    result = await grade(Evidence(transfer, said), judge=PlainJudge())
    assert result.metrics["task_completed"] is False
    assert (status(result, "tool_selection"), status(result, "final_state")) == ("failed", "passed")
    assert result.grades[0].score == 1.0
    assert result.metrics["semantic_quality"] == 1.0


@pytest.mark.case("B10")
@pytest.mark.parametrize("expected", [None, {}, {"tools": {"required": [], "prohibited": []}, "state": {}}])
@pytest.mark.parametrize("judge", [None, PlainJudge()])
async def test_a_scenario_that_expects_nothing_is_ungraded_and_never_scored(
    expected: dict[str, Any] | None, judge: PlainJudge | None
) -> None:
    """B10, second and third: no expectations, or an empty block of them."""
    given = scenario(expected={} if expected is None else expected, tags=["booking"])
    result = await grade(Evidence(given, record()), judge=judge)
    assert came_to(result) == ("ungraded", "nothing_expected")
    dimensions = ("delegation_decision", "tool_selection", "parameter_accuracy", "tool_execution", "final_state")
    assert {status(result, id) for id in dimensions} == {"not_applicable"}
    scored = ("task_completed", "tool_accuracy", "delegation_accuracy", "semantic_quality")
    assert {name: result.metrics[name] for name in scored} == dict.fromkeys(scored)


async def test_without_a_judge_an_answer_alone_cannot_be_graded() -> None:
    given = expecting(answer="At ten.")
    assert came_to(await grade(Evidence(given, record()), judge=None)) == ("ungraded", "no_judge")
    assert came_to(await grade(Evidence(given, record()), judge=PlainJudge())) == ("passed", "")


@pytest.mark.parametrize(
    "expected",
    [
        {"tools": {"prohibited": [{"name": "cancel_reservation"}]}},
        {"state": {"unchanged": True}},
        {"delegation": "forbidden"},
    ],
)
async def test_without_a_judge_other_expectations_decide(expected: dict[str, Any]) -> None:
    result = await grade(Evidence(expecting(answer="At ten.", **expected), record()), judge=None)
    assert came_to(result) == ("passed", "")


async def test_the_judges_verdict_on_task_understanding_decides() -> None:
    judge = PlainJudge({"task_understanding": NO})
    result = await grade(Evidence(scenario(), record(call())), judge=judge)
    assert came_to(result) == ("failed", "")
    assert result.outcome.reason == "Confirms the wrong day."


async def test_other_dimensions_are_diagnostic() -> None:
    judge = PlainJudge({"grounded_communication": NO, "context_fidelity": NO})
    result = await grade(Evidence(scenario(), record(call())), judge=judge)
    assert came_to(result) == ("passed", "")
    assert result.metrics["semantic_quality"] == 0.5


async def test_a_judge_error_never_erases_a_deterministic_fail() -> None:
    judge = PlainJudge(errors={"task_understanding": "the judge answered HTTP 500"})
    failed = await grade(Evidence(scenario(), record()), judge=judge)
    assert failed.outcome.outcome == "failed"
    ungraded = await grade(Evidence(scenario(), record(call())), judge=judge)
    assert came_to(ungraded) == ("ungraded", "judge_error")
    assert ungraded.metrics["task_completed"] is None


async def test_a_judge_error_on_another_dimension_does_not_matter_to_the_outcome() -> None:
    judge = PlainJudge(errors={"grounded_communication": "the judge answered HTTP 500"})
    result = await grade(Evidence(scenario(), record(call())), judge=judge)
    assert came_to(result) == ("passed", "")
    assert result.metrics["semantic_quality"] == 1.0  # of the two that were assessed


async def test_no_answer_in_time_is_a_fail_of_its_own_kind() -> None:
    late = turn("", status="timeout", done_ms=None, first_token_ms=None)
    ending = Ending("response_timeout", message="no response.done within 60 s")
    judge = PlainJudge()
    result = await grade(Evidence(scenario(), record(turns=(late,), ending=ending)), judge=judge)
    assert came_to(result) == ("failed", "response_timeout")
    assert result.metrics["task_completed"] is False
    assert result.metrics["turn_latency_ms"] is None
    assert status(result, "conversation_completed") == "failed"
    assert judge.asked == []  # there is nothing to judge, and nothing is scored 0


@pytest.mark.parametrize("stage", STAGES)
async def test_trouble_that_is_not_the_agents_is_invalid_with_its_stage(stage: str) -> None:
    ending = Ending("invalid", stage=stage, message="what happened")
    judge = PlainJudge()
    result = await grade(Evidence(scenario(), record(ending=ending)), judge=judge)
    assert came_to(result) == ("invalid", stage)
    assert result.outcome.reason == "what happened"
    assert {name for name, value in result.metrics.items() if value is not None} <= set(METRICS)
    assert (result.metrics["task_completed"], result.metrics["tool_accuracy"]) == (None, None)
    assert {check.status for check in result.checks if check.id != "run_validity"} == {"not_assessed"}
    assert status(result, "run_validity") == "failed"
    assert judge.asked == []


async def test_a_stopped_trial_is_cancelled_and_nothing_of_it_is_judged() -> None:
    result = await grade(Evidence(scenario(), record(ending=Ending("cancelled"))), judge=PlainJudge())
    assert came_to(result) == ("cancelled", "")
    assert {check.status for check in result.checks} == {"not_assessed"}


@pytest.mark.parametrize(
    ("pacing", "reason", "late_ms"),
    [
        (Pacing(50, 20.0, 312.0, 4_100.0), "312 ms late at 0:04", [3_788, 4_100]),
        (Pacing(50, 90.0, 90.0, 65_000.0, late_chunks=2), "2 of 50 chunks were 60 ms late", [64_910, 65_000]),
        (Pacing(50, 240.0, 250.0, 100.0, late_chunks=1), "", None),
        (Pacing(300, 61.0, 90.0, 100.0, late_chunks=4), "4 of 300 chunks were 60 ms late", [10, 100]),
        (Pacing(300, 59.0, 90.0, 100.0, late_chunks=3), "", None),
        (Pacing(50, 1.0, 2.0, 0.0, 400.0, 7_200.0), "it noticed nothing for 400 ms at 0:07", [6_800, 7_200]),
        (Pacing(0, None, None, None), "", None),
    ],
)
async def test_a_machine_too_busy_makes_the_trial_invalid_and_names_the_moment(
    pacing: Pacing, reason: str, late_ms: list[float] | None
) -> None:
    audio = recording([(0, 1_000)], [(1_800, 3_000)], 3_100)
    result = await grade(Evidence(scenario(), audio_record(call(), pacing=pacing), audio), judge=None)
    assert came_to(result) == (("invalid", "pacing") if reason else ("passed", ""))
    if reason:
        assert result.outcome.reason.startswith(f"this machine was too busy: {reason}")
        (validity,) = [check for check in result.checks if check.id == "run_validity"]
        assert validity.evidence["spans_ms"] == [late_ms]
    burst = replace(audio_record(call(), pacing=pacing), real_time=False)
    assert came_to(await grade(Evidence(scenario(), burst, audio), judge=None)) == ("passed", "")


@pytest.mark.parametrize(
    ("changes", "stage"),
    [
        # read at the rate that the server tells, with a warning; what nobody can read has ended the session itself
        ({"session": {"audio": {"output": {"format": {"type": "audio/pcm", "rate": 16_000}}}}}, ""),
        ({"turns": (spoken(caller=(0, 0)),)}, "internal"),
        ({"turns": ()}, "internal"),
        ({"session": {"audio": {"output": {"format": {"type": "audio/pcm", "rate": 24_000}}}}}, ""),
        ({"session": {"audio": None}, "session_acknowledged": False}, ""),
    ],
)
async def test_validity_is_computed(changes: dict[str, Any], stage: str) -> None:
    audio = recording([(0, 1_000)], [(1_800, 3_000)], 3_100)
    result = await grade(Evidence(scenario(), audio_record(call(), **changes), audio), judge=None)
    assert came_to(result) == (("invalid", stage) if stage else ("passed", ""))


@pytest.mark.case("A03")
async def test_a_reply_that_was_cut_off_is_graded_on_what_was_heard() -> None:
    """A03: max_output_tokens after half a sentence."""
    cut = spoken(status="incomplete", status_reason="max_output_tokens")
    audio = recording([(0, 1_000)], [(1_800, 3_000)], 3_100)
    result = await grade(Evidence(scenario(), audio_record(call(), turns=(cut,)), audio), judge=PlainJudge())
    assert came_to(result) == ("passed", "incomplete")
    assert result.outcome.reason == "incomplete (max_output_tokens)"


@pytest.mark.case("A03")
async def test_a_reply_that_was_filtered_away_is_still_graded() -> None:
    """A03, second script: content_filter with no audio: response_rate 0, latency null, in the denominator."""
    silent = spoken(agent=(), text="", status="incomplete", status_reason="content_filter")
    audio = recording([(0, 1_000)], [], 1_500)
    result = await grade(Evidence(scenario(), audio_record(turns=(silent,)), audio), judge=None)
    assert came_to(result) == ("failed", "incomplete")
    assert result.outcome.graded
    assert result.outcome.reason == "incomplete (content_filter): the agent said nothing"
    assert (result.metrics["response_rate"], result.metrics["response_latency_ms"]) == (0.0, None)
    assert result.responses["no_response_count"] == 1


@pytest.mark.case("A07")
@pytest.mark.parametrize("raw", ['{"guest_name": "Nora"', "", "[1, 2]", '{"a": 1} and that is all'])
async def test_arguments_that_are_no_object_fail_and_are_not_missing(raw: str) -> None:
    """A07: tool_execution and parameter_accuracy fail, the run is graded."""
    made = call(
        arguments_raw=raw, parse_error="not a JSON object", status="failed", error="the arguments are no object"
    )
    result = await grade(Evidence(scenario(), record(replace(made, arguments=None))), judge=None)
    assert (status(result, "tool_execution"), status(result, "parameter_accuracy")) == ("failed", "failed")
    assert result.outcome.outcome == "failed"


async def test_a_clarification_wants_a_question_and_no_action() -> None:
    given = scenario(type="clarification", expected={"answer": "Asks for the name.", "delegation": "forbidden"})
    asks = record(turns=(turn("Gladly. What name should I put it under?"),))
    tells = record(turns=(turn("I cannot do that."),))
    assert came_to(await grade(Evidence(given, asks), judge=None)) == ("passed", "")
    failed = await grade(Evidence(given, tells), judge=None)
    assert failed.outcome.reason == "the agent asked no question"
    acts = await grade(Evidence(given, record(call(), turns=(turn("What name?"),))), judge=None)
    assert status(acts, "clarification_behavior") == "failed"


@pytest.mark.case("E07")
async def test_numbers_that_are_none_never_reach_the_result() -> None:
    """E07: a tool argument NaN, and metrics over nothing."""
    odd = call(arguments=BOOKING | {"party_size": float("nan")}, output={"price": float("inf")})
    result = await grade(Evidence(scenario(), record(odd)), judge=PlainJudge())
    text = json.dumps(result.to_json(), allow_nan=False)
    assert json.loads(text)["metrics"]["response_latency_ms"] is None
    assert status(result, "parameter_accuracy") == "failed"


async def test_the_same_evidence_and_replies_give_the_same_bytes() -> None:
    audio = recording([(0, 1_000)], [(1_800, 3_000)], 3_100)
    evidence = Evidence(scenario(), audio_record(call()), audio, {"hours": "11 to 22"})
    results = [await grade(evidence, judge=PlainJudge()) for _ in range(2)]
    stored = Evidence(
        scenario(), Record.from_json(json.loads(json.dumps(evidence.record.to_json()))), audio.copy(), evidence.facts
    )
    results.append(await grade(stored, judge=PlainJudge()))
    texts = {json.dumps(result.to_json(), sort_keys=False) for result in results}
    assert len(texts) == 1


async def test_every_metric_of_the_catalogue_is_given_and_no_other() -> None:
    audio = recording([(0, 1_000), (2_800, 3_400), (4_300, 4_600)], [(1_800, 3_000), (4_000, 5_000)], 5_100)
    heard = spoken(heard_text="Book a table for Nora on 15 May at six in the evening for free.", endpoint_ms=1_500.0)
    heard = replace(heard, interrupted=True, interrupted_ms=2_790.0, interruption_stop_ms=120.0)
    over = spoken(caller=(2_800, 3_400), agent=((4_000, 5_000),), index=1, interrupted=True)
    murmur = spoken(caller=(4_300, 4_600), agent=(), index=2, caller_text="Mhm.")
    detecting = {"audio": {"input": {"turn_detection": {"type": "semantic_vad"}}}}
    usage = Usage(120, 30, 150, 20, 100, 5, 10, 20)
    full = audio_record(call(), turns=(heard, over, murmur), usage=usage, pacing=Pacing(50, 3.0, 8.0, 40.0))
    full = replace(full, session=detecting, session_seconds=12.0, backend_usage=Usage(30, 6, 36))
    result = await grade(Evidence(scenario(), full, audio), judge=PlainJudge())
    assert list(result.metrics) == list(METRICS)
    assert {name for name, value in result.metrics.items() if value is None} == set()
    assert result.metrics["heard_word_error_rate"] == pytest.approx(1 / 15, abs=1e-4)


async def test_in_text_mode_sound_is_not_measured_and_the_page_is_told_why() -> None:
    result = await grade(Evidence(scenario(), record(call())), judge=None)
    audio_only = [name for name, info in METRICS.items() if info.group == "audio" and name != "spoke_too_soon_ms"]
    assert {name: result.metrics[name] for name in audio_only} == dict.fromkeys(audio_only)
    assert result.metrics["time_to_first_audio_ms"] is None
    assert result.metrics["time_to_first_token_ms"] == 900.0
    assert result.metrics["turn_latency_ms_p95"] == 1_200.0
    assert any(note.startswith("text mode") for note in result.notes)


async def test_the_first_token_is_the_first_delta_of_any_kind() -> None:
    """Transcript at 1,700 ms, audio at 1,800, and the other way round; sent at 1,000."""
    audio = recording([(0, 1_000)], [(1_800, 3_000)], 3_100)
    for text_ms, audio_ms in ((1_700.0, 1_800.0), (1_800.0, 1_700.0)):
        turns = (spoken(first_token_ms=text_ms, first_audio_ms=audio_ms),)
        result = await grade(Evidence(scenario(), audio_record(call(), turns=turns), audio), judge=None)
        assert result.metrics["time_to_first_token_ms"] == 700.0
        assert result.metrics["time_to_first_audio_ms"] == audio_ms - 1_000.0


async def test_unknown_usage_is_null_and_not_zero() -> None:
    result = await grade(Evidence(scenario(), record(call(), usage=Usage())), judge=None)
    assert result.metrics["agent_input_tokens"] is None
    assert "the agent reported no token usage" in result.notes


async def test_two_clocks_that_disagree_are_told() -> None:
    """The first delta arrives at 1,500 ms, its first sound lies at 1,800."""
    audio = recording([(0, 1_000)], [(1_800, 3_000)], 3_100)
    turns = (spoken(agent=((1_500, 3_000),)),)
    result = await grade(Evidence(scenario(), audio_record(call(), turns=turns), audio), judge=None)
    assert result.metrics["event_latency_ms"] == 500.0
    assert result.metrics["latency_difference_ms"] == pytest.approx(300, abs=2)
    assert "the two latency clocks differ by 300 ms" in result.notes


async def test_turn_rows_set_heard_beside_said() -> None:
    heard = spoken(
        caller_text="Table 15 for 3.",
        heard_text="table fifty for 3",
        agent=((1_800, 3_000),),
    )
    audio = recording([(0, 1_000)], [(1_800, 3_000)], 3_100)
    result = await grade(Evidence(scenario(), audio_record(call(), turns=(heard,)), audio), judge=None)
    (row,) = result.turns
    assert (row["word_error_rate"], row["digits_said"], row["digits_heard"]) == (0.25, ["15", "3"], ["3"])
    assert row["digits_differ"] is True
    assert row["response"] == "answered"
    assert row["response_latency_ms"] == result.metrics["response_latency_ms"]


def test_assertions_are_required_checks_with_evidence() -> None:
    given = scenario(
        assertions=[
            {"tool_called": {"name": "create_reservation", "args": {"date": {"$date": "2027-05-15"}}, "times": 1}},
            {"tool_called": {"name": "create_reservation", "times": 2}},
            {"tool_not_called": "cancel_reservation"},
            {"tool_not_called": "create_reservation"},
            {"metric": {"name": "turn_latency_ms_p95", "lt": 1_500, "gte": 0}},
            {"metric": {"name": "turn_latency_ms_p95", "lt": 1_000}},
            {"metric": {"name": "response_latency_ms", "lt": 1_000}},
            {"turns": {"lte": 1}},
            {"turns": {"eq": 2}},
        ]
    )
    the_case = case(given, record(call()))
    checks = assertion_checks(the_case, {"turn_latency_ms_p95": 1_200.0, "response_latency_ms": None, "turns": 1}, {})
    assert [check.id for check in checks] == [f"assertion:{n}" for n in range(1, 10)]
    verdicts = "passed failed passed failed passed failed failed passed failed"
    assert [check.status for check in checks] == verdicts.split()
    assert all(check.required for check in checks)
    assert checks[1].reason == "create_reservation was called 1 time, expected 2 times"
    assert checks[6].reason == "response_latency_ms was not measured; it must be below 1000"
    assert checks[4].reason == "turn_latency_ms_p95 is 1200; it must be below 1500 and at least 0"


async def test_a_failed_assertion_fails_the_trial() -> None:
    given = scenario(assertions=[{"metric": {"name": "turn_latency_ms", "lt": 1}}])
    result = await grade(Evidence(given, record(call())), judge=PlainJudge())
    assert came_to(result) == ("failed", "")
    assert result.outcome.reason == "turn_latency_ms is 1200; it must be below 1"


async def test_an_assertion_alone_is_an_expectation() -> None:
    given = scenario(expected={}, assertions=[{"turns": {"lte": 1}}], tags=["booking"])
    assert came_to(await grade(Evidence(given, record()), judge=None)) == ("passed", "")


async def test_a_silent_recording_grades_without_a_number_that_is_none() -> None:
    audio = np.zeros((24_000, 2), dtype=np.int16)
    result = await grade(Evidence(scenario(), audio_record(call()), audio), judge=None)
    json.dumps(result.to_json(), allow_nan=False)
    assert result.metrics["response_latency_ms"] is None
