"""What the new-run form says before anything is spent: the smallest difference it can tell, and the cost."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from runs_app.models import Run, Trial
from scenarios_app.models import ConfigurationVersion
from tests.pages.comparing import Result, Results, finished_run, key, side, versions
from tests.pages.playing import queries_of
from tests.runs.builders import make_configuration, make_suite, scenario

pytestmark = pytest.mark.django_db
URL = "/runs/new/"

# of (configuration version, scenario): both repeats. Variance inside 0.02, 0, 0.02, 0.02 -> 0.015; the differences
# 0.3 and 0.1 vary by 0.02, of which 0.015 are luck
QUALITY = {(1, "case_1"): (0.0, 0.2), (1, "case_2"): (0.1, 0.1), (2, "case_1"): (0.3, 0.5), (2, "case_2"): (0.1, 0.3)}
TOKENS = {
    "agent_input_text_tokens": 1_000,
    "agent_input_audio_tokens": 500,
    "agent_output_text_tokens": 100,
    "agent_output_audio_tokens": 400,
}  # of gpt-realtime: 1,000 x 4 + 500 x 32 + 100 x 16 + 400 x 64 = 47,200 millionths of a dollar


def told(**metrics: float) -> Results:
    def of(trial: Trial) -> Result:
        quality = QUALITY[side(trial), key(trial)][trial.repeat - 1]
        return Result("passed", "", {"semantic_quality": quality, **metrics})

    return of


def estimate(client: Client, run: Run, **data: str | list[str]) -> str:
    assert run.suite is not None
    labels = [str(one.configuration_version) for one in run.configurations.all()]
    filled = {"suite": run.suite.name, "configurations": labels, "repeats": "2", "concurrency": "4", **data}
    text = client.post(reverse("run-estimate"), filled).content.decode()
    return " ".join(text.replace("<b>", "").replace("</b>", "").split())


def test_the_form_says_what_it_can_tell_by_what_earlier_runs_of_the_suite_were_like(signed_in: Client) -> None:
    run = finished_run(told(), scenarios=2, repeats=2)
    said = estimate(signed_in, run, primaries=["semantic_quality"])
    # two scenarios: (t.975,1 = 12.706 + t.8,1 = 1.376) x sqrt(0.005 + 2 x 0.015 / 2) / sqrt(2) = 1.41
    assert '<span class="mono">semantic_quality</span> 1.41' in said
    assert "tool_accuracy" not in said, "it does not decide"
    assert f'As far as 8 trials of <a href="{run.get_absolute_url()}">' in said
    # four metrics share the level: t(1 - .05 / 8, 1) = 50.923, and all passed or nothing was measured
    said = estimate(signed_in, run)
    assert '<span class="mono">semantic_quality</span> 5.23' in said
    assert '<span class="mono">tool_accuracy</span> <span class="muted">not known yet: no earlier trial has' in said
    assert (
        '<span class="mono">pass_rate</span> <span class="muted">not known yet: earlier trials did not differ' in said
    )


def test_a_timed_out_trial_counts_at_its_limit_where_the_scenario_itself_asks_for_audio(signed_in: Client) -> None:
    def slow(trial: Trial) -> Result:
        if trial.repeat == 2:
            return Result("failed", "response_timeout")
        return Result("passed", "", {"response_latency_ms": 1_000.0})

    spoken = [scenario("case_1", mode="audio"), scenario("case_2", mode="audio")]
    run = finished_run(slow, scenarios=spoken, repeats=2, configurations=versions(1))
    said = estimate(signed_in, run, primaries=["response_latency_ms"])
    assert '<span class="mono">response_latency_ms</span> at least ' in said, "one value a scenario tells nothing"


def test_a_margin_below_it_is_told_how_many_scenarios_it_takes(signed_in: Client) -> None:
    run = finished_run(told(), scenarios=2, repeats=2)
    said = estimate(signed_in, run, primaries=["semantic_quality"], margin_semantic_quality="0.1")
    assert "more than the margin that you set: that takes about 18 scenarios" in said
    assert "margin that you set" not in estimate(signed_in, run, primaries=["semantic_quality"])


def test_without_a_run_that_went_this_way_nothing_is_guessed(signed_in: Client) -> None:
    make_suite(2)
    make_configuration()
    page = signed_in.get(f"{URL}?suite=demo&configurations=Front+desk@1").content.decode()
    assert "not known yet: no run of this suite so far" in page
    assert "Cost: unknown, no price of voice-1" in page
    run = finished_run(told(), scenarios=2, repeats=2)
    assert "not known yet: no run of this suite in this mode and pace so far" in estimate(signed_in, run, mode="audio")
    by_hand = estimate(signed_in, run, suite="", scenarios=["case_1", "case_2"], primaries=["semantic_quality"])
    assert "1.41" in by_hand, "without a suite, by the runs of these scenarios"


def agents() -> list[ConfigurationVersion]:
    return versions(model="gpt-realtime")


def test_the_cost_goes_by_the_usage_of_earlier_trials_and_the_dated_table(signed_in: Client) -> None:
    run = finished_run(told(**TOKENS), scenarios=2, repeats=2, configurations=agents())
    # 2 scenarios x 2 configurations x 5 repeats x $0.0472
    assert "Cost: $0.94 for the agents, at prices of 20" in estimate(signed_in, run, repeats="5")
    make_configuration(model="gpt-realtime", instructions="Never ran.")
    said = estimate(signed_in, run, repeats="5", configurations=["Front desk@3"])
    assert "Cost: $0.47 for the agents" in said, "an earlier version of the same model stands for it"


def test_a_cost_that_is_not_known_says_why(signed_in: Client) -> None:
    run = finished_run(told(), scenarios=2, repeats=2, configurations=agents())
    assert "Cost: unknown, Front desk@1 told no usage so far" in estimate(signed_in, run)
    free = make_configuration("Simulated", endpoint="simulator")
    assert "Cost: nothing, the agents are simulated" in estimate(signed_in, run, configurations=[str(free)])


def test_a_part_of_the_cost_is_told_as_a_part(signed_in: Client) -> None:
    run = finished_run(told(**TOKENS), scenarios=2, repeats=2, configurations=agents())
    dark = make_configuration("Dark", model="voice-1")
    said = estimate(signed_in, run, configurations=["Front desk@1", str(dark)])
    assert "Cost: $0.19 and more: no price of voice-1" in said


def test_more_trials_cost_no_more_queries(signed_in: Client) -> None:
    address = f"{URL}?suite=%s&configurations=Front+desk@1&configurations=Front+desk@2"
    small = finished_run(told(**TOKENS), scenarios=2, repeats=1, configurations=agents())
    first = queries_of(signed_in, address % small.suite)
    large = finished_run(
        told(**TOKENS), scenarios=2, repeats=2, configurations=list(ConfigurationVersion.objects.all())
    )
    assert queries_of(signed_in, address % large.suite) == first
