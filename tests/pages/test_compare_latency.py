"""The latency view: curves that say what the card says, and how much later each kind of turn is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.test import Client

from runs_app.comparing import turn_times
from runs_app.comparing.choice import Choice
from runs_app.comparing.latency_pictures import latency_pictures
from runs_app.comparing.page import page_of
from runs_app.models import Grading, Run, Trial
from tests.pages.comparing import Result, finished_run, key, side, versions
from tests.pages.test_compare import as_json, figures, words

pytestmark = pytest.mark.django_db


def charts(client: Client, address: str) -> dict[str, list[list[Any]]]:
    return {one["chart"]: one["rows"] for one in as_json(client, f"{address}&view=latency")["charts"]}


def test_a_curve_and_the_card_tell_the_same_percentiles_with_time_outs_among_the_answers(signed_in: Client) -> None:
    """Two of ten gave up after 1 s, when four had been answered: of the six left, four answered later. By Kaplan and
    Meier each of those stands for 1 1/2: half were answered within 1.1 s, where a time-out laid last would say so too,
    and all but none within 1.4 s, which a time-out laid last would never reach."""

    def result(trial: Trial) -> Result:
        place = int(key(trial).rpartition("_")[2])
        if place in (5, 6):
            return Result("failed", "response_timeout")
        return Result(metrics={"response_latency_ms": 100.0 * place if place < 5 else 1_000.0 + 100 * (place - 6)})

    run = finished_run(result, scenarios=10, configurations=versions(mode="audio", timeouts={"turn": 1}))
    document = as_json(signed_in, f"run={run.pk}")
    tails = document["configurations"][0]["tails"]
    rows = {row[0]: row[1] for row in charts(signed_in, f"run={run.pk}")["latency-curve"]}
    assert (rows["50 %"], rows["95 %"]) == (tails["p50"]["value"], tails["p95"]["value"]) == (1_100.0, 1_400.0)


def test_where_nobody_waited_on_the_curve_ends_dotted_at_the_limit_as_the_card_says(signed_in: Client) -> None:
    def result(trial: Trial) -> Result:
        if side(trial) == 2 and key(trial) in ("case_1", "case_2"):
            return Result("failed", "response_timeout")
        return Result(metrics={"response_latency_ms": 500.0})

    run = finished_run(result, scenarios=5, configurations=versions(mode="audio", timeouts={"turn": 8}))
    address = f"run={run.pk}"
    assert "p95 > 8 000 ms" in words(signed_in.get(f"/compare/?{address}"))
    rows = {row[0]: row[1:] for row in charts(signed_in, address)["latency-curve"]}
    assert rows["60 %"] == [500.0, 500.0]
    assert rows["65 %"] == [500.0, "> 8\u202f000 ms"]
    [end] = [
        trace
        for one in figures(signed_in.get(f"/compare/?{address}&view=latency"))
        for trace in one["figure"]["data"]
        if trace["meta"]["role"] == "end"
    ]
    assert (end["x"], end["y"]) == ([500.0, 8_000.0], pytest.approx([60.0, 60.0]))
    curve = figures(signed_in.get(f"/compare/?{address}&view=latency"))[0]["figure"]
    assert curve["layout"]["xaxis"]["range"] == [0, 750.0]  # the limit would press the answers together


def told(run: Run, turns: Mapping[int, Sequence[Mapping[str, Any]]]) -> None:
    """What a grading says of each trial's turns, by the version of its configuration."""
    for trial in run.trials.select_related("configuration_version"):
        own = [{"index": index, **turn} for index, turn in enumerate(turns[side(trial)])]
        Grading.objects.filter(trial=trial).update(turns=own)


def spoken(ms: float | None, **more: Any) -> dict[str, Any]:
    return {"response_latency_ms": ms, "status": "completed", "interrupted": False, "tool_calls": 0, **more}


@pytest.fixture
def run() -> Run:
    run = finished_run(
        lambda trial: Result(metrics={"response_latency_ms": 500.0}), configurations=versions(mode="audio")
    )
    for_a = [spoken(300), spoken(500, tool_calls=1), spoken(400, interrupted=True), spoken(350, tool_calls=1)]
    for_b = [spoken(310), spoken(900, tool_calls=2), spoken(None, status="timeout"), spoken(None, status="closed")]
    told(run, {1: for_a, 2: for_b})
    return run


def test_turns_are_told_apart_by_what_came_before_their_answer(signed_in: Client, run: Run) -> None:
    found = charts(signed_in, f"run={run.pk}")
    assert [name for name in found if name.startswith("latency-shift-")] == [
        "latency-shift-first",
        "latency-shift-later",
        "latency-shift-tool",
    ]
    assert {row[1] for row in found["latency-shift-first"]} == {10.0}
    assert {row[1] for row in found["latency-shift-tool"]} == {400.0}  # what follows an interruption is not among them
    assert {row[1] for row in found["latency-shift-later"]} == {"no value"}  # B timed out in every one
    said = words(signed_in.get(f"/compare/?run={run.pk}&view=latency"))
    assert "B minus A, turns with a tool call" in said
    assert "A: 3 turns; B: 3 turns. 3 scenarios are too few for a band" in said


def test_a_filter_cuts_the_turns_too_and_a_changed_scenario_is_left_out(signed_in: Client, run: Run) -> None:
    said = words(signed_in.get(f"/compare/?run={run.pk}&view=latency&q=case_1"))
    assert "A: 1 turns; B: 1 turns." not in said
    assert "A: 1 turn; B: 1 turn. 1 scenario" in said


def test_turns_of_one_kind_alone_need_no_chart_of_their_own(signed_in: Client) -> None:
    run = finished_run(
        lambda trial: Result(metrics={"response_latency_ms": 500.0}), configurations=versions(mode="audio")
    )
    told(run, {1: [spoken(300)], 2: [spoken(310)]})
    assert list(charts(signed_in, f"run={run.pk}")) == ["latency-curve", "latency-shift"]


def test_the_turns_of_very_many_trials_are_not_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(turn_times, "MOST_TRIALS", 5)
    page = page_of(Choice(runs=(run.pk,)))
    with django_assert_num_queries(0):
        _, shift = latency_pictures(page)
    assert shift.note.endswith("Too many trials to tell their turns apart while you wait.")
