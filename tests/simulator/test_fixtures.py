"""The demo: files that are right, a trade-off that is true, and a correction sentence that does what it says."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from runs_app.grading.grade import Evidence, GradingResult, grade
from runs_app.grading.judge import open_judge
from runs_app.realtime.application import ApplicationExecutor, problems
from runs_app.realtime.plan import build_plan
from runs_app.realtime.session import converse
from runs_app.simulator.instructions import Policy, read_policy
from scenarios_app.spec.application import Application, parse_applications
from scenarios_app.spec.configuration import Configuration, parse_configurations
from scenarios_app.spec.lint import lint, lint_application, lint_configuration
from scenarios_app.spec.scenario import Scenario, parse_file
from tests.simulator.wire_client import Simulator, spoken

Json = Any
DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
SCENARIOS = parse_file((DEMO / "scenarios.json").read_bytes()).scenarios
APPLICATIONS = parse_applications((DEMO / "applications.json").read_bytes())
FIRST, SECOND = parse_configurations((DEMO / "configurations.json").read_bytes())
CORRECTION = "If the caller corrects something, use the corrected value."

CORRECTIONS = {scenario.id for scenario in SCENARIOS if "correction" in scenario.tags}


def test_the_demo_has_eight_kinds_of_scenarios_in_one_year() -> None:
    assert [scenario.id for scenario in SCENARIOS] == [
        "booking_plain",
        "booking_date_corrected",
        "booking_size_corrected_later",
        "booking_name_missing",
        "cancel_for_a_stranger",
        "closing_time_on_sundays",
        "check_then_book",
        "cancel_too_late",
    ]
    assert {str(scenario.reference_date)[:4] for scenario in SCENARIOS} == {"2027"}
    assert len(CORRECTIONS) == 2


def test_nothing_of_the_demo_deserves_a_remark() -> None:
    (application,) = APPLICATIONS
    assert [remark for scenario in SCENARIOS for remark in lint(scenario)] == []
    assert lint_application(application) == []
    assert problems(application) == []
    assert [*lint_configuration(FIRST), *lint_configuration(SECOND)] == []


def test_the_two_versions_differ_in_their_instructions_alone() -> None:
    assert (FIRST.name, SECOND.name) == ("Front desk", "Front desk")
    assert SECOND.model_copy(update={"instructions": FIRST.instructions}) == FIRST
    assert SECOND.instructions.startswith(FIRST.instructions)
    assert read_policy(FIRST.instructions) == Policy(refuse_strangers=True)
    every = Policy(corrected_value=True, read_back=True, refuse_strangers=True, ask_missing=True)
    assert read_policy(SECOND.instructions) == every
    assert SECOND.instructions.splitlines().count(CORRECTION) == 1
    assert read_policy(without_correction().instructions) == replace(every, corrected_value=False)


def without_correction() -> Configuration:
    lines = [line for line in SECOND.instructions.splitlines() if line != CORRECTION]
    return SECOND.model_copy(update={"instructions": "\n".join(lines)})


async def graded(
    simulator: Simulator, scenario: Scenario, configuration: Configuration, seed: str, *, aloud: bool = False
) -> GradingResult:
    """One trial of the demo through the real session and the real grading, written or in a burst of speech."""
    application: Application = APPLICATIONS[0]
    headers = {name: value.replace("{{trial.seed}}", seed) for name, value in configuration.headers.items()}
    plan = build_plan(
        configuration=configuration,
        scenario=scenario,
        application=application,
        url=f"{simulator.ws}/v1/realtime",
        headers=headers | {"x-sim-latency-ms": "0", "x-sim-jitter-ms": "0"},
        caller_audio=await spoken(simulator, scenario.input.text) if aloud else None,
        executor=ApplicationExecutor(
            application, initial_state=scenario.application.initial_state, reference_date=scenario.reference_date
        ),
        mode="audio" if aloud else "text",
        real_time=False,
    )
    conversation = await converse(plan, emit=lambda event: None, stop=asyncio.Event())
    async with open_judge(endpoint=f"{simulator.http}/v1", model="sim-judge", api_key="none") as judge:
        evidence = Evidence(
            scenario=scenario, record=conversation.record, audio=conversation.audio, facts=application.facts
        )
        return await grade(evidence, judge=judge)


async def failures(
    simulator: Simulator, configuration: Configuration, *, at_once: int = 8, seed: str = "7"
) -> set[str]:
    """The scenarios that a configuration fails; every other one it passes."""
    places = asyncio.Semaphore(at_once)

    async def outcome(scenario: Scenario) -> str:
        async with places:
            result = await graded(simulator, scenario, configuration, f"{seed}-{scenario.id}")
            assert result.outcome.outcome in ("passed", "failed"), result.outcome
            return result.outcome.outcome

    outcomes = await asyncio.gather(*map(outcome, SCENARIOS))
    return {scenario.id for scenario, came_to in zip(SCENARIOS, outcomes, strict=True) if came_to == "failed"}


async def test_the_first_version_fails_corrections_and_what_is_missing(simulator: Simulator) -> None:
    assert await failures(simulator, FIRST) == CORRECTIONS | {"booking_name_missing"}


async def test_the_second_version_passes_all_at_any_concurrency_and_with_any_seed(simulator: Simulator) -> None:
    assert await failures(simulator, SECOND) == set()
    assert await failures(simulator, SECOND, at_once=1, seed="another") == set()


async def test_without_its_correction_sentence_exactly_the_corrections_are_lost(simulator: Simulator) -> None:
    assert await failures(simulator, without_correction()) == CORRECTIONS


async def test_every_caller_of_the_demo_is_heard_word_for_word_and_soon_done(simulator: Simulator) -> None:
    said = {scenario.input.text: await spoken(simulator, scenario.input.text) for scenario in SCENARIOS}
    for text, samples in said.items():
        async with simulator.session() as wire:
            await wire.setup(audio={"input": {"transcription": {"model": "sim-ear"}}})
            await wire.append(samples)
            await wire.send("input_audio_buffer.commit")
            heard = await wire.until("conversation.item.input_audio_transcription.completed")
        assert heard["transcript"] == text
        assert 2.0 < len(samples) / 24_000 < 8.0


async def test_a_correction_is_used_in_speech_too(simulator: Simulator) -> None:
    scenario = next(one for one in SCENARIOS if one.id == "booking_date_corrected")
    results = [await graded(simulator, scenario, one, "7", aloud=True) for one in (FIRST, SECOND)]
    assert [result.outcome.outcome for result in results] == ["failed", "passed"]
    assert all(result.metrics["response_latency_ms"] for result in results)
