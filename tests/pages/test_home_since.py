"""Home's "what changed": per suite, the newest finished run against the baseline, or the one before with the agent."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client

from runs_app.models import Run, Trial
from runs_app.services.baselines import promote_baseline
from runs_app.services.runs import cancel_run, start_run
from scenarios_app.models import ConfigurationVersion, Suite
from scenarios_app.services.scenarios import find_scenario, save_scenario
from tests.pages.comparing import Result, Results, finish, key, same, versions
from tests.pages.playing import queries_of
from tests.runs.builders import make_configuration, make_suite, scenario
from tests.support import make_configuration as bare_configuration

pytestmark = pytest.mark.django_db


def run_of(suite: Suite, configurations: Sequence[ConfigurationVersion], results: Results | None, **more: Any) -> Run:
    run = start_run(suite=suite, configuration_versions=configurations, repeats=2, concurrency=2, **more)
    return finish(run, results) if results else run


def failing(*keys: str, outcome: str = "failed") -> Results:
    """The first repeat of these scenarios ends so; all else passes."""
    return lambda trial: Result(outcome if key(trial) in keys and trial.repeat == 1 else "passed")


def said(client: Client) -> str:
    """What the section says, white space as one space."""
    page = client.get("/").content.decode()
    section = page.partition("<h2>What changed</h2>")[2].partition("<h2>Latest runs</h2>")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", section)).replace("\u202f", " ").split())


def test_rates_and_scenarios_that_turned_are_told_with_their_counts(signed_in: Client) -> None:
    suite, (one, two) = make_suite(4), versions()
    before = run_of(suite, [one], failing("case_1"))
    now = run_of(suite, [two], failing("case_2", "case_3"))
    text = said(signed_in)
    assert "Front desk@1 → Front desk@2" in text
    assert "87.5 % 7/8" in text
    assert "75.0 % 6/8" in text
    assert "case_2 1/2, before 2/2 case_3 1/2, before 2/2" in text
    assert "case_1 2/2, before 1/2" in text
    page = signed_in.get("/").content.decode()
    assert f"/compare/?run={before.pk}&amp;run={now.pk}&amp;a=Front+desk%401&amp;b=Front+desk%402" in page
    failed = now.trials.get(scenario_version__scenario__key="case_2", outcome="failed")
    assert f'href="{failed.get_absolute_url()}">case_2</a>' in page


def test_the_same_version_is_held_against_itself_and_has_no_comparison(signed_in: Client) -> None:
    suite, agents = make_suite(2), versions()
    run_of(suite, agents, same("passed"))
    run_of(suite, agents, lambda trial: Result("failed" if trial.configuration_version.number == 2 else "passed"))
    [one] = signed_in.get("/").context["since"]
    assert [(str(pair.before), str(pair.now)) for pair in one.pairs] == [
        ("Front desk@1", "Front desk@1"),
        ("Front desk@2", "Front desk@2"),
    ]
    assert [len(pair.found.newly_failing) for pair in one.pairs] == [0, 2]
    text = said(signed_in)
    assert text.count("the same version") == 2
    assert "simulated" not in text
    assert "Compare" not in text


def test_the_run_before_is_the_newest_with_the_same_configuration_that_was_finished(signed_in: Client) -> None:
    suite, other = make_suite(1), make_configuration("Other desk")
    (agent,) = versions(1)
    wanted = run_of(suite, [agent], same("failed"))
    run_of(suite, [other], same())
    cancel_run(run=run_of(suite, [agent], None))
    run_of(make_suite(1, name="another"), [agent], same())
    now = run_of(suite, [agent, other], same())
    run_of(suite, [agent], None)  # goes on
    [one] = signed_in.get("/").context["since"]
    assert one.now == now
    assert one.before.pk != wanted.pk  # the other desk's run is newer, and has a configuration in common
    assert [str(pair.now) for pair in one.pairs] == ["Other desk@1"]
    run_of(suite, [agent], same())
    [one] = signed_in.get("/").context["since"]
    assert (one.before, [str(pair.now) for pair in one.pairs]) == (now, ["Front desk@1"])


@pytest.mark.parametrize(
    "way", [{"mode": "audio"}, {"protocol": "live", "backend": {"mode": "responses", "model": "m"}}]
)
def test_what_is_not_comparable_is_not_told(signed_in: Client, way: dict[str, Any]) -> None:
    suite, spoken = make_suite(2), bare_configuration(**way)  # Live is spoken without saying so
    run_of(suite, [spoken], same(), real_time=True)
    run_of(suite, [spoken], same("failed"), real_time=False)
    text = said(signed_in)
    assert "not comparable some trials ran in real time and some did not" in text
    assert "%" not in text
    assert "case_1" not in text


def test_another_judge_is_not_comparable(signed_in: Client) -> None:
    suite, (agent,) = make_suite(1), versions(1)
    for model in ("judge-1", "judge-2"):
        run = run_of(suite, [agent], same())
        for trial in run.trials.all():
            trial.gradings.filter(current=True).update(judge_model=model, rubric_version="1")
    assert "graded by different judges or rubrics (judge-1 · 1, judge-2 · 1)" in said(signed_in)


def test_a_scenario_that_changed_is_left_out_and_named_and_many_of_them_end_it(signed_in: Client) -> None:
    suite, (agent,) = make_suite(6), versions(1)
    run_of(suite, [agent], same())
    change("case_6")
    run_of(suite, [agent], failing("case_6"))
    text = said(signed_in)
    assert "100.0 % 10/10 100.0 % 10/10" in text
    assert "Left out, as the content changed: case_6" in text
    change("case_1")
    change("case_2")
    run_of(suite, [agent], same())
    assert "not comparable 2 of 6 shared scenarios differ in content" in said(signed_in)


def change(name: str) -> None:
    content = scenario(name, input={"text": f"Something else ({name})."})
    save_scenario(scenario=find_scenario(name), content=content)


def test_trials_without_a_verdict_are_counted_beside_the_rate(signed_in: Client) -> None:
    suite, (agent,) = make_suite(2), versions(1)
    run_of(suite, [agent], same())
    run_of(suite, [agent], failing("case_1", outcome="invalid"))
    text = said(signed_in)
    assert "100.0 % 3/3, 1 of 4 without a verdict none none" in text


def test_what_a_simulator_made_is_labelled(signed_in: Client) -> None:
    suite, (agent,) = make_suite(1), versions(1, endpoint="simulator")
    run_of(suite, [agent], same())
    run_of(suite, [agent], same())
    assert "Front desk@1 simulated the same version" in said(signed_in)


def test_a_first_run_is_told_that_there_is_nothing_to_hold_it_against(signed_in: Client) -> None:
    run_of(make_suite(1), versions(1), same())
    assert "No suite has two finished runs with a configuration in common yet." in said(signed_in)


def test_larger_runs_more_suites_and_more_configurations_cost_no_more_queries(signed_in: Client) -> None:
    (agent,) = versions(1)
    small = make_suite(1, name="small")
    for _ in range(2):
        run_of(small, [agent], same())
    first = queries_of(signed_in, "/")
    agents = [agent, *(make_configuration(f"Desk {n}") for n in range(4))]
    for name in ("one", "two"):
        suite = make_suite(3, name=name)
        for _ in range(2):
            run_of(suite, agents, same())
    assert queries_of(signed_in, "/") == first
    assert len(signed_in.get("/").context["since"]) == 3
    assert "2 more configurations in common" in said(signed_in)
    assert Trial.objects.count() > 100


def test_a_suite_with_a_baseline_is_held_against_it(signed_in: Client) -> None:
    suite, (one, two) = make_suite(2), versions(2)
    first = run_of(suite, [one], same())
    run_of(suite, [two], same())
    promote_baseline(suite=suite, configuration_version=one, run=first)
    now = run_of(suite, [two], failing("case_1"))
    [found] = signed_in.get("/").context["since"]
    assert (found.before, found.now) == (first, now)
    assert [(str(pair.before), str(pair.now)) for pair in found.pairs] == [("Front desk@1", "Front desk@2")]
    assert "against the baseline Front desk@1 in" in said(signed_in)
    assert "case_1 1/2, before 2/2" in said(signed_in)


def test_the_baseline_of_the_same_run_is_nearest(signed_in: Client) -> None:
    suite, agents = make_suite(1), versions(2)
    first = run_of(suite, [agents[0]], same("failed"))
    promote_baseline(suite=suite, configuration_version=agents[0], run=first)
    both = run_of(suite, agents, same())
    [found] = signed_in.get("/").context["since"]
    assert (found.before, found.now, len(found.pairs)) == (both, both, 1)
    assert f"/compare/?run={both.pk}&amp;a=Front+desk%401" in signed_in.get("/").content.decode()


def test_a_run_of_the_baseline_alone_is_held_against_the_one_before(signed_in: Client) -> None:
    suite, (agent,) = make_suite(1), versions(1)
    first = run_of(suite, [agent], same())
    promote_baseline(suite=suite, configuration_version=agent, run=first)
    run_of(suite, [agent], same())
    [found] = signed_in.get("/").context["since"]
    assert (found.before, found.baseline) == (first, None)
