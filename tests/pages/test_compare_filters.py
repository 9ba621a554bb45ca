"""Table, charts, CSV and JSON cut down to tags and to the ways of failing; the cards stay those of all scenarios."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from runs_app.comparing.filters import MOST_LISTED
from runs_app.models import Run, Trial
from tests.pages.comparing import Result, finished_run, key, side, versions
from tests.runs.builders import scenario

pytestmark = pytest.mark.django_db

EARLY = "tool_contract:create_reservation:date:one day early"
SILENT = "response_timeout:::"
TAGS = {"case_1": ["booking", "correction"], "case_2": ["booking"], "case_3": ["weather"], "case_4": []}


def result(trial: Trial) -> Result:
    """case_1 and case_2 fail under the second version alone, case_3 under both."""
    fails = key(trial) == "case_3" or (side(trial) == 2 and key(trial) in ("case_1", "case_2"))
    return Result("failed" if fails else "passed", metrics={"response_latency_ms": 100.0 * int(key(trial)[-1])})


@pytest.fixture
def run() -> Run:
    scenarios = [scenario(name, tags=tags) for name, tags in TAGS.items()]
    run = finished_run(result, scenarios=scenarios, configurations=versions(mode="audio"))
    failed = run.trials.filter(outcome="failed")
    failed.update(failure_kind=EARLY)
    failed.filter(scenario_version__scenario__key="case_3").update(failure_kind=SILENT)
    return run


def document(client: Client, address: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/compare/data/?{address}").json()
    return found


def shown(client: Client, address: str) -> list[str]:
    """Scenarios of the JSON, which are those of the CSV too."""
    names = [row["scenario"] for row in document(client, f"{address}&sort=scenario")["scenarios"]]
    text = client.get(f"/compare/data/?{address}&sort=scenario&format=csv").content.decode()
    assert [row["scenario"] for row in csv.DictReader(io.StringIO(text))] == names
    return names


@pytest.mark.parametrize(
    ("filters", "scenarios"),
    [
        ("", ["case_1", "case_2", "case_3", "case_4"]),
        ("&tag=booking", ["case_1", "case_2"]),
        ("&tag=booking&tag=correction", ["case_1"]),
        ("&tag=booking&tag=weather", []),
        ("&tag=nobody", []),
        (f"&kind={EARLY}", ["case_1", "case_2"]),
        (f"&kind={EARLY}&kind={SILENT}", ["case_1", "case_2", "case_3"]),
        (f"&kind={EARLY}&tag=correction", ["case_1"]),
        ("&kind=assertion", []),
        ("&tag=booking&q=case_2", ["case_2"]),
        ("&tag=booking&show=worse&metric=pass_rate", ["case_1", "case_2"]),
    ],
)
def test_tags_narrow_and_ways_of_failing_add(signed_in: Client, run: Run, filters: str, scenarios: list[str]) -> None:
    assert shown(signed_in, f"run={run.pk}{filters}") == scenarios
    page = signed_in.get(f"/compare/?run={run.pk}{filters}")
    assert sorted(line.split('"')[0] for line in page.content.decode().split('<tr id="')[1:]) == scenarios


def test_the_tags_of_most_scenarios_have_links_and_the_others_are_offered_by_name(signed_in: Client) -> None:
    rare = [f"ticket {n:02}" for n in range(MOST_LISTED)]
    scenarios = [scenario("case_1", tags=["zebra", *rare]), scenario("case_2", tags=["zebra"])]
    run = finished_run(result, scenarios=scenarios, configurations=versions())
    address = f"/compare/?run={run.pk}&q=case&page=2"
    page = signed_in.get(address)
    found = page.context["controls"].filters
    assert [link.text for link in found.tags] == [*rare[:-1], "zebra"]
    assert found.more_tags == (rare[-1],)
    assert ">1 more:<" in page.content.decode()
    form = page.content.decode().split('<label for="more-tags"')[0].rpartition("<form")[2]
    assert ('name="q" value="case"' in form, 'name="page"' in form) == (True, False)
    chosen = signed_in.get(f"{address}&tag={rare[-1]}").context["controls"].filters
    assert (chosen.tags[0].text, chosen.more_tags) == (rare[-1], ())


def test_the_json_says_how_it_is_filtered_and_the_verdicts_stay_those_of_all(signed_in: Client, run: Run) -> None:
    whole, cut = (document(signed_in, f"run={run.pk}{more}") for more in ("", f"&tag=booking&kind={EARLY}"))
    assert (cut["filters"]["tags"], cut["filters"]["kinds"]) == (["booking"], [EARLY])
    assert cut["pairs"] == whole["pairs"]
    assert cut["scenarios"][0]["tags"] == ["booking", "correction"]


@pytest.mark.parametrize("view", ["scatter", "slope", "heatmap"])
def test_charts_draw_what_the_filters_leave(signed_in: Client, run: Run, view: str) -> None:
    charts = document(signed_in, f"run={run.pk}&view={view}&tag=booking")["charts"]
    drawn = {row[0] for chart in charts for row in chart["rows"]}
    assert drawn - {"mean of the scenarios"} == {"case_1", "case_2"}


def test_factors_are_told_by_what_the_filters_leave(signed_in: Client, run: Run) -> None:
    charts = document(signed_in, f"run={run.pk}&view=effects&tag=booking")["charts"]
    assert {row[-1] for chart in charts if chart["chart"] == "effects-pass_rate" for row in chart["rows"]} == {
        "1 pair, 2 scenarios"
    }


def test_the_latency_view_is_of_the_trials_that_the_filters_leave(signed_in: Client, run: Run) -> None:
    curve, shift = document(signed_in, f"run={run.pk}&view=latency&tag=booking")["charts"][:2]
    assert {value for row in curve["rows"] for value in row[1:]} == {100.0, 200.0}
    assert {row[1] for row in shift["rows"]} == {0.0}


def test_a_way_of_failing_is_offered_of_the_two_that_are_held_together(signed_in: Client) -> None:
    run = finished_run(
        lambda trial: Result("failed" if side(trial) == 3 else "passed"), scenarios=2, configurations=versions(3)
    )
    run.trials.filter(outcome="failed").update(failure_kind=EARLY)
    offered = "date: one day early"
    assert offered not in signed_in.get(f"/compare/?run={run.pk}").content.decode()
    assert offered in signed_in.get(f"/compare/?run={run.pk}&vs=Front+desk@3").content.decode()


def test_a_filter_is_a_link_that_a_second_click_takes_out(signed_in: Client, run: Run) -> None:
    page = signed_in.get(f"/compare/?run={run.pk}&tag=booking&page=1").context["controls"]
    booking, correction = page.filters.tags[:2]
    assert (booking.text, booking.is_on, booking.note, booking.href) == ("booking", True, "2", f"?run={run.pk}")
    assert correction.href == f"?run={run.pk}&tag=booking&tag=correction"
    assert [link.text for link in page.filters.on] == ["booking"]
    assert page.unfiltered == f"?run={run.pk}"
    text = signed_in.get(f"/compare/?run={run.pk}&tag=gone").content.decode()
    assert "0 of 4 scenarios" in text
    assert "No scenario fits" in text


def test_a_decision_holds_all_scenarios_whatever_was_filtered(signed_in: Client, run: Run) -> None:
    address = f"{reverse('decide')}?run={run.pk}&a=Front+desk@1&b=Front+desk@2"
    whole, cut = (signed_in.get(f"{address}{more}").context["seen"] for more in ("", f"&tag=booking&kind={EARLY}"))
    assert whole == cut
