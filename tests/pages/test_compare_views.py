"""The comparison's views, open rows and extra repeats: what the server says of them."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from django.test import Client

from runs_app.comparing.heads import Shown
from runs_app.comparing.partings import trials_to_hold
from runs_app.models import Grade, Run, Trial
from tests.grading.builders import BOOKING, call, record, turn
from tests.pages.comparing import Result, finished_run, key, same, side, versions
from tests.pages.test_compare import as_json, figures, numbers, words
from tests.runs.builders import make_configuration, scenario

pytestmark = pytest.mark.django_db

TABLE = re.compile(r'<table class="dense" data-chart-table="([^"]+)">(.*?)</table>', re.DOTALL)
ROW = re.compile(r'<tr><th scope="row"[^>]*>(.*?)</th>(.*?)</tr>', re.DOTALL)
VALUE = re.compile(r'<td class="num"(?: data-value="([^"]+)")?>')


def tables(page: str) -> dict[str, list[tuple[str, list[float | None]]]]:
    """Of each chart: the rows of its table, as numbers."""
    return {
        name: [
            (row, [float(value) if value else None for value in VALUE.findall(cells)])
            for row, cells in ROW.findall(body.partition("<tfoot>")[0])
        ]
        for name, body in TABLE.findall(page)
    }


def varied(trial: Trial) -> Result:
    """Version 2 is better and slower; one scenario has no latency on its side."""
    place = int(key(trial).rpartition("_")[2])
    second = side(trial) == 2
    latency = None if second and place == 2 else 400 + 30 * place + (150 + 10 * place) * second
    passed = second or (place + trial.repeat) % 3
    return Result("passed" if passed else "failed", "", numbers(0.4 + 0.03 * place + 0.1 * second, latency))


@pytest.fixture
def run(db: None) -> Run:
    return finished_run(varied, scenarios=6, repeats=2, configurations=versions(mode="audio"))


def traces(figure: dict[str, Any], role: str) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace["meta"]["role"] == role]


def test_every_view_shows_the_numbers_of_its_charts_in_tables_of_the_same(signed_in: Client, run: Run) -> None:
    for view, count in {"scatter": 4, "slope": 4, "latency": 2, "effects": 4, "heatmap": 1}.items():
        response = signed_in.get(f"/compare/?run={run.pk}&view={view}")
        assert response.status_code == 200
        drawn = {one["id"].removeprefix("chart-"): one["figure"] for one in figures(response)}
        assert len(drawn) == count, view
        assert drawn.keys() == tables(response.content.decode()).keys()


def test_a_point_of_the_scatter_is_a_row_of_its_table(signed_in: Client, run: Run) -> None:
    response = signed_in.get(f"/compare/?run={run.pk}&view=scatter")
    [figure] = [one["figure"] for one in figures(response) if one["id"] == "chart-scatter-response_latency_ms"]
    points = {
        (name, x, y)
        for trace in traces(figure, "values")
        for name, x, y in zip(trace["customdata"], trace["x"], trace["y"], strict=True)
    }
    rows = tables(response.content.decode())["scatter-response_latency_ms"]
    assert points == {(name, a, b) for name, (a, b, _) in rows}
    assert len(points) == 5
    assert "1 of 6 scenarios have no value on one of the sides" in words(response)
    assert [trace["name"] for trace in traces(figure, "values")] == ["worse (5)"]


def test_scenarios_of_the_same_values_share_a_point_that_counts_them(signed_in: Client) -> None:
    run = finished_run(same(semantic_quality=0.5), scenarios=3)
    response = signed_in.get(f"/compare/?run={run.pk}&view=scatter")
    [figure] = [one["figure"] for one in figures(response) if one["id"] == "chart-scatter-semantic_quality"]
    [trace] = traces(figure, "values")
    assert (trace["x"], trace["y"], trace["meta"]["counts"]) == ([0.5], [0.5], [3])
    assert trace["text"] == ["case_1<br>case_2<br>case_3"]


@pytest.mark.case("F03")
def test_heat_map_table_and_export_agree(signed_in: Client, run: Run) -> None:
    """F03: the three views say the same, cell by cell."""
    query = f"run={run.pk}&metric=semantic_quality&sort=scenario"
    response = signed_in.get(f"/compare/?{query}&view=heatmap")
    [figure] = [one["figure"] for one in figures(response)]
    cells = list(zip(*(trace["meta"]["values"] for trace in traces(figure, "cells")), strict=True))
    rows = tables(response.content.decode())["heatmap-semantic_quality"]
    exported = as_json(signed_in, query)["scenarios"]
    assert [name for name, _ in rows] == [one["scenario"] for one in exported]
    assert [tuple(values) for _, values in rows] == cells
    assert cells == [tuple(one["sides"][s]["means"]["semantic_quality"] for s in "AB") for one in exported]


def test_the_latency_view_counts_time_outs_and_says_why_there_is_no_band(signed_in: Client) -> None:
    def result(trial: Trial) -> Result:
        if side(trial) == 2 and key(trial) == "case_1":
            return Result("failed", "response_timeout")
        return varied(trial)

    run = finished_run(result, scenarios=6, repeats=2, configurations=versions(mode="audio"))
    response = signed_in.get(f"/compare/?run={run.pk}&view=latency")
    said = words(response)
    assert "A: 12 trials answered, 0 time-outs; B: 8 trials answered, 2 time-outs" in said
    assert "> 60 000 ms" in said.partition("95 %")[2]
    assert "scenarios are too few for a band; 30 would have one" in said
    curve, shift = (one["figure"] for one in figures(response))
    assert traces(curve, "values")[1]["x"][-1] is None
    assert traces(shift, "band") == []
    rows = tables(response.content.decode())
    assert [row[1][0] for row in rows["latency-shift"]] == traces(shift, "values")[0]["y"]


def test_with_enough_scenarios_the_shift_has_a_band_around_it(signed_in: Client) -> None:
    run = finished_run(
        lambda t: Result("passed", "", numbers(0.5, 500.0 + t.pk * 7919 % 211 + 200 * (side(t) == 2))),
        scenarios=30,
        repeats=2,
        configurations=versions(mode="audio"),
    )
    response = signed_in.get(f"/compare/?run={run.pk}&view=latency")
    [shift] = [one["figure"] for one in figures(response) if one["id"] == "chart-latency-shift"]
    assert len(traces(shift, "band")) == 1
    rows = tables(response.content.decode())["latency-shift"]
    for _, (value, low, high) in rows[1:-1]:  # the ends need more scenarios
        assert value is not None
        assert low is not None
        assert high is not None
        assert low <= value <= high


def test_factors_that_change_alone_are_told_apart_and_others_are_not(signed_in: Client) -> None:
    prompt = versions(1, model="voice-1")
    model = make_configuration("Desk m2", instructions="Be brief.", model="voice-2")
    odd = make_configuration("Odd", instructions="Else.", model="voice-3")
    run = finished_run(
        lambda t: Result("passed", "", numbers(0.75 if t.configuration_version.pk == model.pk else 0.5, None)),
        configurations=[*prompt, model, odd],
    )
    response = signed_in.get(f"/compare/?run={run.pk}&view=effects")
    rows = dict(tables(response.content.decode())["effects-semantic_quality"])
    assert rows["model: voice-1 → voice-2"][0] == pytest.approx(0.25)
    assert rows["model: voice-1 → voice-3"][0] is None
    assert "prompt: prompt@1 of A, B → prompt@1 of C" in rows
    assert "never by itself" in words(response)
    alone = finished_run(same(semantic_quality=0.5), configurations=[*versions(1, endpoint="wss://other.example/v1")])
    assert signed_in.get(f"/compare/?run={alone.pk}&view=effects").status_code == 200


@pytest.mark.parametrize("view", ["table", "scatter", "slope", "latency", "effects", "heatmap"])
def test_a_view_of_nothing_still_answers(signed_in: Client, view: str) -> None:
    empty = finished_run(same("invalid", "connect"))
    one = finished_run(same(semantic_quality=0.5), configurations=versions(1))
    for run in (empty, one):
        assert signed_in.get(f"/compare/?run={run.pk}&view={view}").status_code == 200
        assert signed_in.get(f"/compare/data/?run={run.pk}&view={view}&format=csv").status_code == 200
        as_json(signed_in, f"run={run.pk}&view={view}")


def test_the_csv_of_a_view_holds_the_numbers_of_its_charts_as_filtered(signed_in: Client, run: Run) -> None:
    address = f"/compare/data/?run={run.pk}&view=scatter&q=case_2&format=csv"
    rows = list(csv.reader(io.StringIO(signed_in.get(address).content.decode())))
    assert rows[0] == ["chart", "scenario", "A", "B", "B minus A"]
    assert [row[1] for row in rows if row[0] == "scatter-semantic_quality"] == ["case_2"]
    assert [row for row in rows if row[0] == "scatter-response_latency_ms"] == []  # it has no latency


def test_hidden_columns_and_density_are_in_the_address(signed_in: Client, run: Run) -> None:
    page = signed_in.get(f"/compare/?run={run.pk}").content.decode()
    assert 'class="dense compare normal"' in page
    assert "first divergence</th>" in page
    page = signed_in.get(f"/compare/?run={run.pk}&hide=divergence&hide=tools&density=tight").content.decode()
    assert 'class="dense compare tight"' in page
    assert "first divergence</th>" not in page
    assert ">tools</th>" not in page
    for query in ("hide=beauty", "density=huge", "view=pie"):
        assert signed_in.get(f"/compare/?run={run.pk}&{query}").status_code == 400


def test_two_clicks_on_configurations_pick_the_pair_of_the_table(signed_in: Client) -> None:
    run = finished_run(varied, scenarios=4, configurations=versions(3))
    keys = [str(one.configuration_version_id) for one in run.configurations.all()]
    page = signed_in.get(f"/compare/?run={run.pk}").content.decode()
    assert f"?run={run.pk}&amp;held={keys[1]}" in page
    held = signed_in.get(f"/compare/?run={run.pk}&held={keys[1]}")
    assert "B is held: now choose the one beside it." in words(held)
    assert f"?run={run.pk}&amp;vs={keys[1]}&amp;vs={keys[2]}" in held.content.decode()
    picked = as_json(signed_in, f"run={run.pk}&vs={keys[1]}&vs={keys[2]}&metric=semantic_quality")
    assert picked["compared"] == ["B", "C"]
    assert {round(row["delta"], 9) for row in picked["scenarios"]} == {-0.1}
    for query in (f"vs={keys[0]}&vs={keys[1]}&vs={keys[2]}", f"vs={keys[0]}", "held=nobody"):
        assert signed_in.get(f"/compare/?run={run.pk}&{query}").status_code == 400


def test_what_is_said_of_a_configuration_names_it_by_its_own_letter(signed_in: Client) -> None:
    def result(trial: Trial) -> Result:
        if side(trial) == 3 and key(trial) == "case_1":
            return Result("invalid", "connect") if trial.repeat == 1 else Result("failed")
        return Result("passed")

    run = finished_run(result, scenarios=4, repeats=9, configurations=versions(3))
    page = signed_in.get(f"/compare/?run={run.pk}&vs=Front desk@3").content.decode()
    assert "By its pass counts C is worse here" in page
    assert "with all trials without a verdict against C " in page
    assert "verdict against B " not in page


def test_swapping_keeps_everything_else_of_the_address(signed_in: Client, run: Run) -> None:
    page = signed_in.get(f"/compare/?run={run.pk}&view=slope&sort=scenario&hide=tools").content.decode()
    [swap] = re.findall(r'id="swap" href="([^"]+)"', page)
    for kept in ("view=slope", "sort=scenario", "hide=tools", f"run={run.pk}"):
        assert kept in swap


# open rows


def recorded(trial: Trial, made: Any) -> Trial:
    trial.record = made.to_json()
    trial.save(update_fields=["record"])
    return trial


@pytest.fixture
def two_calls(db: None) -> Run:
    """Two repeats of a scenario: in the second, B sends another date and fails."""
    run = finished_run(
        lambda t: Result("failed" if side(t) == 2 and t.repeat == 2 else "passed"),
        scenarios=[scenario("book")],
        repeats=2,
    )
    for trial in run.trials.select_related("configuration_version"):
        wrong = side(trial) == 2 and trial.repeat == 2
        sent = {**BOOKING, "date": "2027-05-14"} if wrong else BOOKING
        said = "Booked for 14 May." if wrong else "Booked for 15 May."
        recorded(trial, record(call(arguments=sent), turns=(turn(said, heard_text="a table on 15 May"),)))
        grading = trial.gradings.get(current=True)
        Grade.objects.create(
            grading=grading,
            position=0,
            dimension="task_understanding",
            status="failed" if wrong else "passed",
            score=0.0 if wrong else 1.0,
            rationale="The date is wrong." if wrong else "The date is right.",
        )
    return run


def test_the_table_tells_where_the_repeats_with_other_outcomes_part(signed_in: Client, two_calls: Run) -> None:
    said = words(signed_in.get(f"/compare/?run={two_calls.pk}"))
    assert "turn 1: B sent date 2027-05-14, A 2027-05-15" in said


def test_an_open_row_shows_both_sides_with_what_differs_marked(signed_in: Client, two_calls: Run) -> None:
    response = signed_in.get(f"/compare/row/?run={two_calls.pk}&open=book")
    assert response.status_code == 200
    html, said = response.content.decode(), words(response)
    assert "First divergence , turn 1: B sent date 2027-05-14, A 2027-05-15" in said
    assert '<mark class="a">&quot;2027-05-15&quot;</mark>' in html
    assert '<mark class="b">&quot;2027-05-14&quot;</mark>' in html
    assert '<mark class="b">14</mark>' in html
    assert "The date is right." in said
    assert "The date is wrong." in said
    assert "repeat 2, failed" in said
    whole = signed_in.get(f"/compare/?run={two_calls.pk}&open=book")
    assert "First divergence , turn 1" in words(whole)


def test_the_address_says_which_repeats_are_side_by_side(signed_in: Client, two_calls: Run) -> None:
    first = [trial.pk for trial in two_calls.trials.filter(repeat=1)]
    query = "&".join(f"trial={pk}" for pk in first)
    said = words(signed_in.get(f"/compare/row/?run={two_calls.pk}&open=book&{query}"))
    assert "Both did and said the same." in said
    assert said.count("repeat 1, passed") == 2


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("open=nowhere", "no trial of 'nowhere'"),
        ("", "name a run and a scenario"),
        ("open=book&trial=x", "trial: must be the number of a trial"),
    ],
)
def test_a_row_that_cannot_be_opened_says_why(signed_in: Client, two_calls: Run, query: str, problem: str) -> None:
    response = signed_in.get(f"/compare/row/?run={two_calls.pk}&{query}")
    assert response.status_code == 400
    assert problem in response.content.decode()


def test_a_side_without_a_conversation_is_named(signed_in: Client) -> None:
    run = finished_run(same("invalid", "connect"), scenarios=[scenario("book")])
    said = words(signed_in.get(f"/compare/row/?run={run.pk}&open=book"))
    assert "A and B left no conversation of this scenario." in said


def test_repeats_with_other_outcomes_are_held_together_and_what_was_not_graded_stands_back() -> None:
    def shown(repeat: int, outcome: str) -> Shown:
        return Shown(repeat, 1, repeat, outcome, "", "", False, {}, None, None)

    a = [shown(1, "passed"), shown(2, "passed"), shown(3, "invalid")]
    b = [shown(1, "passed"), shown(2, "failed"), shown(3, "failed")]
    chosen = trials_to_hold(a, b)
    assert chosen is not None
    assert [one.repeat for one in chosen] == [2, 2]
    assert trials_to_hold(a, []) is None
    only = trials_to_hold([shown(3, "invalid")], [shown(1, "passed")])
    assert only is not None
    assert [one.outcome for one in only] == ["invalid", "passed"]


# the passport, and the price of certainty


def test_the_passport_names_what_is_not_alike_and_which_way_it_leans(signed_in: Client) -> None:
    first, second = versions(mode="audio")
    one = finished_run(same(semantic_quality=0.5), configurations=[first], real_time=True)
    other = finished_run(same(semantic_quality=1.0), configurations=[second], real_time=False)
    query = f"run={one.pk}&run={other.pk}"
    assert "not alike: pace, runs" in words(signed_in.get(f"/compare/?{query}"))
    [pair] = as_json(signed_in, query)["pairs"]
    stamps = {stamp["name"]: stamp for stamp in pair["passport"]}
    pace = stamps["pace"]
    assert (pace["a"], pace["b"], pace["is_same"]) == ("real time", "not real time", False)
    assert "never interrupted" in pace["bias"]
    assert stamps["caller's voice"]["is_same"] is True
    assert stamps["caller's voice"]["bias"] == ""


def undecided(trial: Trial) -> Result:
    """Repeats that differ much, and a small gain on average."""
    place = int(key(trial).rpartition("_")[2])
    luck = ((place * 7 + trial.repeat * 13 + side(trial) * 5) % 9) / 20
    return Result("passed", "", numbers(0.4 + luck + 0.05 * (side(trial) == 2), None))


OFFER = re.compile(r'<form method="post" action="(/compare/extra/[^"]*)">(.*?)</form>', re.DOTALL)


def test_what_would_tell_can_be_started_with_one_click_and_joins_the_comparison(signed_in: Client) -> None:
    run = finished_run(undecided, scenarios=8, repeats=2)
    page = signed_in.get(f"/compare/?run={run.pk}").content.decode()
    action, form = OFFER.findall(page)[0]
    sent = re.findall(r'name="(with|repeats)" value="([^"]+)"', form)
    [count] = re.findall(r"Run (\d+) more trials", form)
    data = {"with": dict(sent)["with"], "repeats": [value for name, value in sent if name == "repeats"]}
    response = signed_in.post(action.replace("&amp;", "&"), data)
    more = Run.objects.latest("pk")
    assert response.status_code == 302
    assert response.headers["Location"] == f"/compare/?run={run.pk}&run={more.pk}"
    assert more.trials.count() == int(count)
    assert more.trials.count() == 2 * sum(int(value.partition(" ")[0]) for value in data["repeats"])
    after = signed_in.get(response.headers["Location"])
    assert f"Run {run.pk}: more repeats of" in words(after)
    assert "Not all of the runs are over yet" in words(after)


def test_an_offer_that_was_tampered_with_starts_nothing(signed_in: Client) -> None:
    run = finished_run(undecided, scenarios=3, repeats=2)
    key_of_b = run.configurations.last().configuration_version_id  # type: ignore[union-attr]
    for data, problem in (
        ({"with": key_of_b, "repeats": ["x case_1"]}, "repeats: must be a number and a scenario"),
        ({"with": key_of_b, "repeats": ["1 nowhere"]}, "None of the runs holds nowhere"),
        ({"with": key_of_b, "repeats": ["9999 case_1"]}, "repeats"),
        ({"with": "0", "repeats": ["1 case_1"]}, "not among those that are compared"),
        ({"with": key_of_b}, "No repeat of any scenario"),
    ):
        response = signed_in.post(f"/compare/extra/?run={run.pk}", data, follow=True)
        assert "Nothing was started." in words(response)
        assert problem in words(response)
    assert Run.objects.count() == 1
    assert signed_in.get(f"/compare/extra/?run={run.pk}").status_code == 405


def with_usage(trial: Trial) -> Result:
    one = undecided(trial)
    tokens = {"agent_input_text_tokens": 1_000, "agent_input_audio_tokens": 500, "agent_output_text_tokens": 100}
    return Result(one.outcome, "", {**one.metrics, **tokens, "agent_output_audio_tokens": 400})


def test_the_offer_knows_prices_of_the_models_that_it_has_prices_of(signed_in: Client) -> None:
    run = finished_run(with_usage, scenarios=8, repeats=2, configurations=versions(model="gpt-realtime"))
    said = words(signed_in.get(f"/compare/?run={run.pk}"))
    offered = r"would tell a difference of [^:]+: (\d+) trials, .*?. Cost: \$([\d.]+) for the agents"
    assert re.search(offered, said), said
    trials, low = re.findall(offered, said)[0]
    # a trial: 1,000 x 4 + 500 x 32 + 100 x 16 + 400 x 64 = 47,200 millionths of a dollar
    assert float(low) == pytest.approx(int(trials) * 0.0472, abs=0.006)


@pytest.mark.parametrize(
    ("simulated", "said"),
    [
        ({"judge": {"endpoint": "simulator", "model": "judge-1"}}, r"\$[\d.]+ for the agents"),
        ({"endpoint": "simulator"}, "Cost: nothing, the agents are simulated"),
    ],
)
def test_only_a_simulated_agent_is_free(signed_in: Client, simulated: dict[str, Any], said: str) -> None:
    chosen = versions(model="gpt-realtime", **simulated)
    run = finished_run(with_usage, scenarios=8, repeats=2, configurations=chosen)
    assert run.configurations.filter(simulated=True).count() == 2
    assert re.search(said, words(signed_in.get(f"/compare/?run={run.pk}")))


def test_a_model_without_a_price_makes_the_cost_unknown(signed_in: Client) -> None:
    run = finished_run(undecided, scenarios=8, repeats=2)
    assert "Cost: unknown, no price of voice-1" in words(signed_in.get(f"/compare/?run={run.pk}"))


def test_json_with_charts_is_strict(signed_in: Client, run: Run) -> None:
    for view in ("scatter", "slope", "latency", "effects", "heatmap"):
        document = as_json(signed_in, f"run={run.pk}&view={view}")
        assert document["view"] == view
        assert document["charts"]
        json.dumps(document, allow_nan=False)
