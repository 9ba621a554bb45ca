"""The demo's files, and what each configuration comes to on each scenario: the table that the demo's tests read."""

from __future__ import annotations

import asyncio
from pathlib import Path

from runs_app.grading.grade import Evidence, GradingResult, grade
from runs_app.grading.judge import open_judge
from runs_app.realtime.application import ApplicationExecutor
from runs_app.realtime.delegation.planning import Address
from runs_app.realtime.plan import build_plan
from runs_app.realtime.script import lines
from runs_app.realtime.session import converse
from scenarios_app.spec.application import parse_applications
from scenarios_app.spec.configuration import Configuration, parse_configurations
from scenarios_app.spec.scenario import Scenario, parse_file
from tests.simulator.wire_client import Simulator, spoken

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
EIGHT = parse_file((FOLDER / "scenarios.json").read_bytes()).scenarios
FULL = EIGHT + parse_file((FOLDER / "full.json").read_bytes()).scenarios
CONVERSATIONS = parse_file((FOLDER / "conversations.json").read_bytes()).scenarios
APPLICATIONS = {one.name: one for one in parse_applications((FOLDER / "applications.json").read_bytes())}
FIRST, SECOND, SLOW, LIVE, LIVE_CLIENT, FAULTY = parse_configurations((FOLDER / "configurations.json").read_bytes())

CORRECTION = "If the caller corrects something, use the corrected value."
CORRECTIONS = {
    "booking_date_corrected",
    "booking_size_corrected_later",
    "clinic_time_corrected",
    "meter_reading_corrected",
    "parcel_day_corrected_after_history",
    "parcel_number_corrected",
}
MISSING = {"booking_name_missing", "clinic_date_missing", "meter_account_missing", "parcel_pickup_name_missing"}
# What no version of Front desk is told to do, and the sentence that would mend it.
UNTAUGHT = {
    "clinic_taken_offers_another_time": "If a wish cannot be met, offer another time.",
    "parcel_system_down_wants_a_person": "Transfer to a person when you cannot help.",
    "meter_system_says_nothing": "Say only what the tools returned.",
}
# Configuration -> the scenarios of demo-full that it fails; it passes every other one.
FAILS = {
    "Front desk@1": CORRECTIONS | MISSING | set(UNTAUGHT) | {one.id for one in CONVERSATIONS},
    "Front desk@2": set(UNTAUGHT),
    "Front desk slow@1": set(UNTAUGHT),
}


def outcomes(scenarios: tuple[Scenario, ...], fails: set[str]) -> dict[str, str]:
    return {one.id: "failed" if one.id in fails else "passed" for one in scenarios}


def with_instructions(instructions: str) -> Configuration:
    return SECOND.model_copy(update={"instructions": instructions})


def without_correction() -> Configuration:
    return with_instructions("\n".join(line for line in SECOND.instructions.splitlines() if line != CORRECTION))


async def graded(
    simulator: Simulator, scenario: Scenario, configuration: Configuration, seed: str, *, aloud: bool = False
) -> GradingResult:
    """One trial of the demo through the real session and the real grading, written or in a burst of speech."""
    return await judged(simulator, await conversed(simulator, scenario, configuration, seed, aloud=aloud))


async def conversed(
    simulator: Simulator,
    scenario: Scenario,
    configuration: Configuration,
    seed: str,
    *,
    aloud: bool = False,
    real_time: bool = False,
) -> Evidence:
    assert scenario.application.ref is not None
    application = APPLICATIONS[scenario.application.ref.name]
    headers = {name: value.replace("{{trial.seed}}", seed) for name, value in configuration.headers.items()}
    plan = build_plan(
        configuration=configuration,
        scenario=scenario,
        application=application,
        url=f"{simulator.ws}{'/v1/live/sessions' if configuration.protocol == 'live' else '/v1/realtime'}",
        headers=headers | {"x-sim-latency-ms": "0", "x-sim-jitter-ms": "0"},
        caller_audio=[await spoken(simulator, line.text) for line in lines(scenario)] if aloud else (),
        executor=ApplicationExecutor(
            application,
            initial_state=scenario.application.initial_state,
            reference_date=scenario.reference_date,
            faults=scenario.tool_faults,
        ),
        mode="audio" if aloud else "text",
        real_time=real_time,
        backend=Address(f"{simulator.http}/v1"),
    )
    conversation = await converse(plan, emit=lambda event: None, stop=asyncio.Event())
    return Evidence(scenario=scenario, record=conversation.record, audio=conversation.audio, facts=application.facts)


async def judged(simulator: Simulator, evidence: Evidence) -> GradingResult:
    """Grading computes for a while: not beside conversations in real time, which it would make late."""
    async with open_judge(endpoint=f"{simulator.http}/v1", model="sim-judge", api_key="none") as judge:
        return await grade(evidence, judge=judge)


async def results(
    simulator: Simulator,
    configuration: Configuration,
    scenarios: tuple[Scenario, ...] = FULL,
    *,
    at_once: int = 8,
    seed: str = "7",
    aloud: bool = False,
) -> dict[str, str]:
    """Scenario -> outcome; one that is neither passed nor failed is told with its reason."""
    places = asyncio.Semaphore(at_once)

    async def outcome(scenario: Scenario) -> str:
        async with places:
            came_to = (await graded(simulator, scenario, configuration, f"{seed}-{scenario.id}", aloud=aloud)).outcome
        return came_to.outcome if came_to.outcome in ("passed", "failed") else str(came_to)

    return dict(zip([one.id for one in scenarios], await asyncio.gather(*map(outcome, scenarios)), strict=True))
