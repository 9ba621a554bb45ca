"""A suite's insight page: what each scenario is good for, the trend with its table, the smoke subset, the baseline."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from runs_app.models import Run
from runs_app.services.runs import start_run
from scenarios_app.models import Suite
from scenarios_app.services.scenarios import find_scenario, save_scenario
from tests.pages.comparing import Result, finish, key, side, versions
from tests.pages.playing import queries_of
from tests.runs.builders import make_suite, scenario

pytestmark = pytest.mark.django_db


def play(suite: Suite, agents: Any, repeats: int = 4) -> Run:
    """`case_1` always passes, `case_2` never, `case_3` by the version, `case_4` by luck."""
    run = start_run(suite=suite, configuration_versions=agents, repeats=repeats, concurrency=1)
    passes = {
        "case_1": lambda trial: True,
        "case_2": lambda trial: False,
        "case_3": lambda trial: side(trial) == 1,
        "case_4": lambda trial: trial.repeat % 2 == 0,
    }
    return finish(run, lambda trial: Result("passed" if passes[key(trial)](trial) else "failed"))


@pytest.fixture
def suite() -> Suite:
    found = make_suite(4)
    play(found, versions(2))
    return found


def address(suite: Suite) -> str:
    return reverse("suite-insight", args=[suite.name])


def test_each_scenario_is_tagged_and_the_telling_ones_come_first(signed_in: Client, suite: Suite):
    rows = signed_in.get(address(suite)).context["rows"]
    assert [(row.item.scenario_id, row.item.tag, row.item.passed, row.item.n) for row in rows] == [
        ("case_3", "discriminating", 4, 8),
        ("case_4", "flaky", 4, 8),
        ("case_2", "always fails", 0, 8),
        ("case_1", "always passes", 8, 8),
    ]
    only = signed_in.get(f"{address(suite)}?tag=flaky").context["rows"]
    assert [row.item.scenario_id for row in only] == ["case_4"]


def test_the_trend_has_a_line_per_version_and_the_same_numbers_as_its_table(signed_in: Client, suite: Suite):
    play(suite, versions(1))
    answer = signed_in.get(address(suite))
    lines = {line["name"]: line["y"] for line in answer.context["figures"][0]["figure"]["data"]}
    assert lines == {"Front desk@1": [0.625, 0.625], "Front desk@2": [0.375]}
    table = answer.content.decode().partition('data-chart="trend"')[2].partition("</table>")[0]
    assert re.findall(r"(\d+)/16", table) == ["10", "6", "10"]
    json.dumps(answer.context["figures"], allow_nan=False)


def test_the_smoke_subset_starts_with_what_tells_most_and_leads_to_a_run_of_it(signed_in: Client, suite: Suite):
    answer = signed_in.get(f"{address(suite)}?minutes=1")
    picks = [pick.scenario_id for pick in answer.context["picks"]]
    assert picks[0] == "case_3"
    form = signed_in.get(answer.context["smoke_url"]).context["form"]
    assert form["scenarios"].value() == picks
    assert form["configurations"].value() == ["Front desk@2"]


@pytest.mark.parametrize("minutes", ["", "0", "x", "999999999999", "-3"])
def test_minutes_that_make_no_sense_are_the_usual_ones_or_the_most(signed_in: Client, suite: Suite, minutes: str):
    assert signed_in.get(f"{address(suite)}?minutes={minutes}").context["minutes"] in (5, 600)


def test_a_scenario_that_changed_begins_anew(signed_in: Client, suite: Suite):
    save_scenario(scenario=find_scenario("case_2"), content=scenario("case_2", input={"text": "Other words."}))
    rows = signed_in.get(address(suite)).context["rows"]
    assert next(row.item.tag for row in rows if row.item.scenario_id == "case_2") == "no verdict"


def test_a_suite_without_a_run_and_one_without_scenarios_say_what_to_do(signed_in: Client):
    assert "No finished run yet" in signed_in.get(address(make_suite(1))).content.decode()
    assert signed_in.get(reverse("suite-insight", args=["nowhere"])).status_code == 404


def test_a_configuration_is_promoted_with_the_reason_and_the_history_stays(signed_in: Client, suite: Suite):
    promote = reverse("suite-baseline", args=[suite.name])
    one, two = signed_in.get(address(suite)).context["candidates"]
    signed_in.post(promote, {"entry": one.pk, "note": "in production"})
    page = signed_in.post(promote, {"entry": two.pk}, follow=True).content.decode()
    assert "Front desk@2 is the baseline of demo now." in page
    assert "in production" in page
    refused = signed_in.post(promote, {"entry": "99"}, follow=True).content.decode()
    assert "Choose a configuration of the newest finished run." in refused
    assert suite.baselines.count() == 2
    assert signed_in.get(promote).status_code == 405


def test_more_runs_cost_no_more_queries(signed_in: Client, suite: Suite):
    first = queries_of(signed_in, address(suite))
    for _ in range(3):
        play(suite, versions(2), repeats=1)
    assert queries_of(signed_in, address(suite)) == first
