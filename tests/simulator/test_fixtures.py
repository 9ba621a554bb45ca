"""The demo: files that are right, a trade-off that is true, and sentences that do what they say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from runs_app.realtime.application import problems
from runs_app.simulator.instructions import Policy, read_policy
from runs_app.simulator.options import read_options
from scenarios_app.spec.lint import lint, lint_application, lint_configuration
from tests.simulator import demo
from tests.simulator.demo import APPLICATIONS, EIGHT, FAILS, FAULTY, FIRST, FULL, SECOND, SLOW, UNTAUGHT
from tests.simulator.wire_client import Simulator, spoken

SEED_TAGS = {
    "correction", "prior_context", "authorization", "missing_information", "multi_tool", "tool_failure",
    "information", "negation", "numbers",
}  # fmt: skip


def test_the_first_run_has_eight_kinds_of_scenarios() -> None:
    assert [scenario.id for scenario in EIGHT] == [
        "booking_plain",
        "booking_date_corrected",
        "booking_size_corrected_later",
        "booking_name_missing",
        "cancel_for_a_stranger",
        "closing_time_on_sundays",
        "check_then_book",
        "cancel_too_late",
    ]


def test_the_whole_demo_covers_four_domains_and_every_tag_of_the_seed() -> None:
    assert len({scenario.id for scenario in FULL}) == len(FULL) >= 24
    assert {str(scenario.reference_date)[:4] for scenario in FULL} == {"2027"}
    domains = Counter(scenario.application.ref.name for scenario in FULL if scenario.application.ref)
    assert set(domains) == set(APPLICATIONS)
    assert len(domains) == 4
    assert sum(domains.values()) == len(FULL)
    assert min(domains.values()) >= 6
    tags = Counter(tag for scenario in FULL for tag in scenario.tags)
    assert {tag for tag in SEED_TAGS if tags[tag] < 2} == set()
    assert {scenario.id for scenario in FULL if "correction" in scenario.tags} == demo.CORRECTIONS
    assert {scenario.id for scenario in FULL if "missing_information" in scenario.tags} == demo.MISSING


def test_nothing_of_the_demo_deserves_a_remark() -> None:
    assert [remark for scenario in FULL for remark in lint(scenario)] == []
    for application in APPLICATIONS.values():
        assert (lint_application(application), problems(application)) == ([], [])
    assert [remark for one in (FIRST, SECOND, SLOW, FAULTY) for remark in lint_configuration(one)] == []


def test_the_two_versions_differ_in_their_instructions_alone() -> None:
    assert (FIRST.name, SECOND.name) == ("Front desk", "Front desk")
    assert SECOND.model_copy(update={"instructions": FIRST.instructions}) == FIRST
    assert SECOND.instructions.startswith(FIRST.instructions)
    assert read_policy(FIRST.instructions) == Policy(refuse_strangers=True)
    every = Policy(corrected_value=True, read_back=True, refuse_strangers=True, ask_missing=True)
    assert read_policy(SECOND.instructions) == every
    assert SECOND.instructions.splitlines().count(demo.CORRECTION) == 1
    assert read_policy(demo.without_correction().instructions) == replace(every, corrected_value=False)


def test_the_slow_one_is_slow_and_the_faulty_one_faulty_and_nothing_else_differs() -> None:
    for one, name in ((SLOW, "Front desk slow"), (FAULTY, "Front desk faulty")):
        assert one.model_copy(update={"name": SECOND.name, "headers": SECOND.headers}) == SECOND
        assert one.name == name
    assert read_options(SLOW.headers, "").latency_ms > 3 * read_options(SECOND.headers, "").latency_ms
    assert not read_options(SLOW.headers, "").faults.active
    seen = [read_options(FAULTY.headers | {"x-sim-seed": str(seed)}, "").faults.active for seed in range(400)]
    named = {entry.partition("@")[0] for entry in FAULTY.headers["x-sim-fault"].split(",")}
    assert set().union(*seen) == named
    assert 0.2 < sum(not active for active in seen) / len(seen) < 0.7  # many of its calls go well


async def test_the_first_version_fails_corrections_and_what_is_missing(simulator: Simulator) -> None:
    assert await demo.results(simulator, FIRST) == demo.outcomes(FULL, FAILS["Front desk@1"])


@pytest.mark.slow
async def test_the_second_version_passes_what_it_was_taught_at_any_concurrency_and_with_any_seed(
    simulator: Simulator,
) -> None:
    fails = FAILS["Front desk@2"]
    assert await demo.results(simulator, SECOND) == demo.outcomes(FULL, fails)
    some = FULL[::4]
    assert await demo.results(simulator, SECOND, some, at_once=1, seed="another") == demo.outcomes(some, fails)


async def test_without_its_correction_sentence_exactly_the_corrections_are_lost(simulator: Simulator) -> None:
    lost = FAILS["Front desk@2"] | demo.CORRECTIONS
    assert await demo.results(simulator, demo.without_correction()) == demo.outcomes(FULL, lost)


@pytest.mark.slow
async def test_each_sentence_that_is_missing_mends_its_scenario_and_harms_no_other(simulator: Simulator) -> None:
    taught = demo.with_instructions("\n".join([SECOND.instructions, *UNTAUGHT.values()]))
    assert await demo.results(simulator, taught) == demo.outcomes(FULL, set())
    for scenario, sentence in UNTAUGHT.items():
        one = demo.with_instructions(f"{SECOND.instructions}\n{sentence}")
        found = {other.id: await demo.graded(simulator, other, one, "7") for other in FULL if other.id in UNTAUGHT}
        assert {id for id, result in found.items() if result.outcome.outcome == "passed"} == {scenario}


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_every_caller_of_the_demo_is_heard_word_for_word_and_soon_done(simulator: Simulator) -> None:
    said = {scenario.input.text: await spoken(simulator, scenario.input.text) for scenario in FULL}
    for text, samples in said.items():
        async with simulator.session() as wire:
            await wire.setup(audio={"input": {"transcription": {"model": "sim-ear"}}})
            await wire.append(samples)
            await wire.send("input_audio_buffer.commit")
            heard = await wire.until("conversation.item.input_audio_transcription.completed")
        assert heard["transcript"] == text
        assert 1.5 < len(samples) / 24_000 < 10.0


async def test_a_correction_is_used_in_speech_too(simulator: Simulator) -> None:
    scenario = next(one for one in EIGHT if one.id == "booking_date_corrected")
    results = [await demo.graded(simulator, scenario, one, "7", aloud=True) for one in (FIRST, SECOND)]
    assert [result.outcome.outcome for result in results] == ["failed", "passed"]
    assert all(result.metrics["response_latency_ms"] for result in results)
