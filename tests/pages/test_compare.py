"""The comparison page and its exports, in every state that a run can be in."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from typing import Any

import pytest
from django.test import Client

from runs_app.comparing.words import interval_text
from runs_app.models import Run, RunConfiguration, Trial
from runs_app.services.runs import cancel_run
from tests.pages.comparing import Result, finish, finished_run, key, same, side, versions
from tests.runs.builders import make_configuration, make_run, scenario
from tests.support import make_user

pytestmark = pytest.mark.django_db


def words(response: Any) -> str:
    """What a reader sees, white space as one space."""
    text = re.sub(r"<(script|style)\b.*?</\1>", "", response.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).replace("\u202f", " ").split())


def strict_json(response: Any) -> Any:
    def refuse(text: str) -> None:
        raise AssertionError(f"{text} is not JSON")

    return json.loads(response.content, parse_constant=refuse)


def as_json(client: Client, query: str) -> Any:
    response = client.get(f"/compare/data/?{query}")
    assert response.status_code == 200, response.content
    return strict_json(response)


def figures(response: Any) -> list[dict[str, Any]]:
    found = re.search(r'<script id="figures"[^>]*>(.*?)</script>', response.content.decode(), re.DOTALL)
    assert found is not None
    return list(json.loads(found[1]))


def as_csv(client: Client, query: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get(f"/compare/data/?{query}&format=csv").content.decode())))


def numbers(quality: float | None, latency: float | None, accuracy: float | None = 1.0) -> dict[str, float | None]:
    return {"semantic_quality": quality, "response_latency_ms": latency, "tool_accuracy": accuracy}


def better_and_slower(trial: Trial) -> Result:
    """Version 2 is better and slower in every scenario, by amounts that vary a little."""
    place = int(key(trial).rpartition("_")[2])
    gain = 0.302 + 0.01 * place if side(trial) == 2 else 0.0
    return Result(
        "passed", "", numbers(0.4 + gain, (400 + 5 * place) * (1.3 + 0.01 * place if side(trial) == 2 else 1))
    )


def test_nothing_chosen_lists_runs_of_two_configurations(signed_in: Client) -> None:
    assert "Nothing to compare yet" in words(signed_in.get("/compare/"))
    both = finished_run(same(), configurations=versions())
    alone = make_run(1, configurations=versions(1), name="alone")
    response = signed_in.get("/compare/")
    assert f"?run={both.pk}" in response.content.decode()
    assert f"?run={alone.pk}" not in response.content.decode()
    newer = finished_run(same(), configurations=versions())
    page = signed_in.get("/compare/").content.decode()
    assert page.index(f"?run={newer.pk}") < page.index(f"?run={both.pk}")


def test_the_page_is_for_signed_in_people_and_for_reading_only(client: Client, signed_in: Client) -> None:
    assert Client().get("/compare/").status_code == 302
    assert Client().get("/compare/data/").status_code == 302
    assert signed_in.post("/compare/").status_code == 405


@pytest.mark.parametrize(
    ("query", "status", "problem"),
    [
        ("run=999999", 404, "there is no run 999999"),
        ("run=seven", 400, "run: must be the number of a run, not 'seven'"),
        ("run={run}&a=Nobody@1", 400, "a: no configuration 'Nobody@1' in the chosen runs"),
        ("run={run}&b=17000", 400, "b: no configuration '17000' in the chosen runs"),
        ("run={run}&vs=9999", 400, "vs: '9999' is not among"),
        ("run={run}&metric=beauty", 400, "metric: must be one of semantic_quality"),
        ("run={run}&sort=beauty", 400, "sort: must be one of delta"),
        ("run={run}&show=all", 400, "show: must be one of better"),
    ],
)
def test_a_bad_address_says_which_part_is_wrong(signed_in: Client, query: str, status: int, problem: str) -> None:
    query = query.format(run=finished_run(same()).pk)
    response = signed_in.get(f"/compare/?{query}")
    assert response.status_code == status
    assert problem in words(response)
    assert problem in strict_json(signed_in.get(f"/compare/data/?{query}"))["error"]


def test_a_clear_gain_is_better_and_a_clear_loss_is_worse(signed_in: Client) -> None:
    run = finished_run(better_and_slower, scenarios=8, repeats=2)
    [pair] = as_json(signed_in, f"run={run.pk}")["pairs"]
    assert pair["metrics"]["semantic_quality"]["verdict"]["word"] == "Better"
    assert pair["metrics"]["response_latency_ms"]["verdict"]["word"] == "Worse"
    assert pair["metrics"]["tool_accuracy"]["verdict"]["word"] == "Can't tell"
    text = words(signed_in.get(f"/compare/?run={run.pk}"))
    assert "Better +.35 [+.32, +.37] · p < .001 · n 8 pairs" in text
    assert "Worse +34 % (+146 ms)" in text
    assert "8 better" in text
    assert "prompt +1 −0 lines" in text
    assert "8 of 8 scenarios paired · same scenario versions" in text


def test_configurations_can_be_named_by_label(signed_in: Client) -> None:
    run = finished_run(better_and_slower, scenarios=4)
    data = as_json(signed_in, f"run={run.pk}&a=Front desk@2&b=Front desk@1")
    assert [(one["configuration"], one["version"]) for one in data["configurations"]] == [("A", 2), ("B", 1)]


@pytest.mark.case("B12")
def test_limits_of_the_provider_stay_out_of_the_rate_and_time_outs_stay_in(signed_in: Client) -> None:
    """B12: 6 pass, 2 fail, 2 refused: 75.0 % (6/8). 6 pass, 2 fail, 2 that never answer: 60.0 % (6/10)."""

    def result(trial: Trial) -> Result:
        place = int(key(trial).rpartition("_")[2])
        if place <= 6:
            return Result("passed")
        if place <= 8:
            return Result("failed")
        return Result("invalid", "rate_limit") if side(trial) == 1 else Result("failed", "response_timeout")

    run = finished_run(result, scenarios=10)
    text = words(signed_in.get(f"/compare/?run={run.pk}"))
    assert "75.0 % A (6/8), 2 of 10 invalid" in text
    assert "60.0 % B (6/10), 2 of 10 timed out" in text
    data = as_json(signed_in, f"run={run.pk}")
    first, second = (one["metrics"]["pass_rate"] for one in data["configurations"])
    assert (first["value"], first["n"], first["of"], first["words"]) == (0.75, 8, 10, "75.0 % (6/8), 2 of 10 invalid")
    assert (second["value"], second["n"], second["timeouts"]) == (0.6, 10, 2)
    assert first["invalid_stages"] == {"rate_limit": 2}


@pytest.mark.case("F01")
def test_a_missing_value_is_a_gap_and_never_zero(signed_in: Client) -> None:
    """F01: 400, null, 520, 610: the mean is 510, the table says "no value", and the other series has no data."""
    latency = {"case_1": 400.0, "case_2": None, "case_3": 520.0, "case_4": 610.0}
    run = finished_run(
        lambda trial: Result("passed", "", numbers(None, latency[key(trial)] if side(trial) == 1 else None)),
        scenarios=4,
    )
    response = signed_in.get(f"/compare/?run={run.pk}&view=slope")
    [chart] = [one["figure"] for one in figures(response) if one["id"] == "chart-slope-response_latency_ms"]
    first, second = (trace for trace in chart["data"] if trace["meta"]["role"] == "values")
    assert first["y"] == [400, None, 520, 610]
    assert second["name"] == "B Front desk@2 (no data)"
    [centre] = [t for t in chart["data"] if t["meta"]["role"] == "centre" and t["name"].startswith("A")]
    assert centre["y"] == [510]
    text = words(response)
    assert "case_2 no value no value" in text
    assert "510 ms A n 3 of 4 trials" in text
    data = as_json(signed_in, f"run={run.pk}")
    assert [one["sides"]["A"]["means"]["response_latency_ms"] for one in data["scenarios"]] == [400, None, 520, 610]
    cells = {row["scenario"]: row["A response_latency_ms"] for row in as_csv(signed_in, f"run={run.pk}")}
    assert cells == {"case_1": "400.0", "case_2": "", "case_3": "520.0", "case_4": "610.0"}


@pytest.fixture
def two_runs(db: None) -> tuple[Run, Run]:
    """A: five scenarios x 3 repeats. B: the same five x 1, plus one that A never ran."""
    first, second = versions()
    shared = [scenario(f"case_{n}") for n in range(1, 6)]
    passes = {"case_1": 0, "case_2": 1, "case_3": 2, "case_4": 3, "case_5": 3}
    of_a = finished_run(
        lambda t: Result("passed" if t.repeat <= passes[key(t)] else "failed", "", numbers(t.repeat / 4, 500.0)),
        scenarios=shared,
        configurations=[first],
        repeats=3,
    )
    of_b = finished_run(
        lambda t: Result("passed" if key(t) != "case_5" else "failed", "", numbers(0.75, 600.0)),
        scenarios=[*shared, scenario("extra")],
        configurations=[second],
    )
    return of_a, of_b


@pytest.mark.case("F03")
def test_rows_join_on_the_scenario_and_repeats_are_averaged_first(signed_in: Client, two_runs: tuple[Run, Run]) -> None:
    """F03: 5 pairs; A averages 3 repeats, B has 1; the extra scenario stands once, with a dash, outside the totals."""
    query = "&".join(f"run={run.pk}" for run in two_runs)
    data = as_json(signed_in, f"{query}&sort=scenario&metric=pass_rate")
    [pair] = data["pairs"]
    assert (pair["paired"], pair["of"], pair["only_b"]) == (5, 6, ["extra"])
    paired = pair["metrics"]["pass_rate"]["paired"]
    assert paired["n"] == 5
    assert paired["mean_a"] == pytest.approx((0 + 1 / 3 + 2 / 3 + 1 + 1) / 5)
    assert paired["mean_b"] == pytest.approx(0.8)
    by_id = {row["scenario"]: row for row in data["scenarios"]}
    assert list(by_id) == ["case_1", "case_2", "case_3", "case_4", "case_5", "extra"]
    assert [(row["sides"]["A"]["n"], row["sides"]["B"]["n"]) for row in by_id.values()] == [(3, 1)] * 5 + [(0, 1)]
    assert by_id["case_2"]["delta"] == pytest.approx(2 / 3)
    assert by_id["extra"]["delta"] is None


@pytest.mark.case("F03")
def test_page_and_csv_agree_with_the_json(signed_in: Client, two_runs: tuple[Run, Run]) -> None:
    """F03: the three views say the same."""
    query = "&".join(f"run={run.pk}" for run in two_runs) + "&sort=scenario&metric=pass_rate"
    rows = as_csv(signed_in, query)
    data = as_json(signed_in, query)["scenarios"]
    assert [(row["scenario"], row["A n"], row["B n"]) for row in rows] == [
        (one["scenario"], str(one["sides"]["A"]["n"]), str(one["sides"]["B"]["n"])) for one in data
    ]
    assert [row["difference pass_rate"] for row in rows] == [
        "" if d["delta"] is None else str(d["delta"]) for d in data
    ]
    text = words(signed_in.get(f"/compare/?{query}"))
    assert "5 of 6 scenarios paired" in text
    assert "only B: extra" in text
    assert text.count("only B ran it: outside the totals") == 1
    assert "Title of case_2 +66.7 pp n 3 n 1" in text


@pytest.mark.case("F03")
def test_swapping_the_sides_only_flips_signs(signed_in: Client, two_runs: tuple[Run, Run]) -> None:
    """F03: A against B and B against A."""
    query = "&".join(f"run={run.pk}" for run in two_runs)
    straight = as_json(signed_in, f"{query}&a=Front desk@1&b=Front desk@2")
    swapped = as_json(signed_in, f"{query}&a=Front desk@2&b=Front desk@1")
    [there], [back] = straight["pairs"], swapped["pairs"]
    turned = {"Better": "Worse", "Worse": "Better"}
    for name, one in there["metrics"].items():
        other = back["metrics"][name]
        assert one["paired"]["difference"] == pytest.approx(-other["paired"]["difference"])
        assert one["paired"]["n"] == other["paired"]["n"]
        assert one["paired"]["p_value"] == pytest.approx(other["paired"]["p_value"])
        assert turned.get(one["verdict"]["word"], one["verdict"]["word"]) == other["verdict"]["word"]
        assert (one["better"], one["worse"], one["same"]) == (other["worse"], other["better"], other["same"])
    assert [row["scenario"] for row in straight["scenarios"]] == [row["scenario"] for row in swapped["scenarios"]]
    for row, mirror in zip(straight["scenarios"], swapped["scenarios"], strict=True):
        assert mirror["delta"] == (None if row["delta"] is None else pytest.approx(-row["delta"]))


def test_a_scenario_that_changed_between_the_runs_is_named_and_kept_out(signed_in: Client) -> None:
    first, second = versions()
    before = [scenario(f"case_{n}") for n in range(1, 7)]
    after = [*before[:5], {**before[5], "input": {"text": "Another sentence."}}]
    one = finished_run(same(semantic_quality=0.5), scenarios=before, configurations=[first])
    other = finished_run(same(semantic_quality=0.75), scenarios=after, configurations=[second])
    query = f"run={one.pk}&run={other.pk}"
    [pair] = as_json(signed_in, query)["pairs"]
    assert (pair["paired"], pair["changed"]) == (5, ["case_6"])
    text = words(signed_in.get(f"/compare/?{query}"))
    assert "content differs: case_6" in text
    assert "the scenario differs between the sides: outside the totals" in text


def test_while_a_run_goes_on_there_are_counts_and_no_difference(signed_in: Client) -> None:
    run = make_run(4, configurations=versions())
    finish(run, lambda trial: better_and_slower(trial) if key(trial) != "case_4" else None)
    response = signed_in.get(f"/compare/?run={run.pk}")
    text = words(response)
    assert response.status_code == 200
    assert "the verdict comes when it ends" in text
    assert "A Front desk@1 3 of 4 0" in text
    assert not re.search("Better|Worse|Can't tell|semantic_quality", text)
    assert "plotly" not in response.content.decode()
    data = as_json(signed_in, f"run={run.pk}")
    assert data["state"] == "running"
    assert "pairs" not in data
    assert as_csv(signed_in, f"run={run.pk}") == []


def test_the_page_that_waits_reloads_when_the_run_is_over(signed_in: Client) -> None:
    run = make_run(1, configurations=versions())
    query = f"/compare/?run={run.pk}"
    assert "HX-Refresh" not in signed_in.get(query, headers={"HX-Request": "true"}).headers
    finish(run, same())
    assert signed_in.get(query, headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"


@pytest.mark.parametrize(
    ("outcome", "stage", "said"),
    [
        ("invalid", "connect", "No trial was graded: 6 invalid."),
        ("ungraded", "no_judge", "No trial was graded: 6 ungraded."),
        ("cancelled", "", "No trial was graded: 6 cancelled."),
    ],
)
def test_without_a_graded_trial_the_cards_say_so(signed_in: Client, outcome: str, stage: str, said: str) -> None:
    run = finished_run(same(outcome, stage))
    response = signed_in.get(f"/compare/?run={run.pk}")
    assert response.status_code == 200
    assert words(response).count(said) == 4
    [pair] = as_json(signed_in, f"run={run.pk}")["pairs"]
    assert {one["verdict"]["word"] for one in pair["metrics"].values()} == {"Can't tell"}


def test_one_configuration_alone_shows_its_numbers(signed_in: Client) -> None:
    run = finished_run(same(semantic_quality=0.75), configurations=versions(1))
    response = signed_in.get(f"/compare/?run={run.pk}")
    assert response.status_code == 200
    assert "One configuration alone" in words(response)
    assert ".75 A n 3 of 3 trials" in words(response)
    assert as_json(signed_in, f"run={run.pk}")["pairs"] == []


def test_a_cancelled_run_is_compared_as_far_as_it_came(signed_in: Client) -> None:
    run = make_run(3, configurations=versions())
    finish(run, lambda trial: Result("passed") if key(trial) == "case_1" else None)
    cancel_run(run=run)
    text = words(signed_in.get(f"/compare/?run={run.pk}"))
    assert "was cancelled: what is compared is what was done until then" in text
    assert "100.0 % A (1/1), 2 of 3 cancelled" in text


def test_text_mode_says_why_there_is_no_latency(signed_in: Client) -> None:
    run = finished_run(same(semantic_quality=0.5))
    assert "Text mode: nothing was spoken, so there is no latency to measure." in words(
        signed_in.get(f"/compare/?run={run.pk}")
    )


def test_a_real_time_run_and_a_burst_are_not_comparable(signed_in: Client) -> None:
    first, second = versions(mode="audio")
    one = finished_run(same(semantic_quality=0.5), configurations=[first], real_time=True)
    other = finished_run(same(semantic_quality=1.0), configurations=[second], real_time=False)
    [pair] = as_json(signed_in, f"run={one.pk}&run={other.pk}")["pairs"]
    assert {m["verdict"]["word"] for m in pair["metrics"].values()} == {"Not comparable"}
    assert "some trials ran in real time and some did not" in words(
        signed_in.get(f"/compare/?run={one.pk}&run={other.pk}")
    )


def test_scores_of_different_judges_are_not_comparable_and_latency_still_is(signed_in: Client) -> None:
    run = finished_run(better_and_slower, scenarios=8)
    for trial in run.trials.all():
        model = f"judge-{trial.configuration_version.number}"
        trial.gradings.filter(current=True).update(judge_model=model, rubric_version="1")
    [pair] = as_json(signed_in, f"run={run.pk}")["pairs"]
    quality = pair["metrics"]["semantic_quality"]["verdict"]
    assert quality["word"] == "Not comparable"
    assert quality["reason"] == "graded by different judges or rubrics (judge-1 · 1, judge-2 · 1)"
    assert pair["metrics"]["response_latency_ms"]["verdict"]["word"] == "Worse"


def test_more_configurations_each_stand_against_the_first(signed_in: Client) -> None:
    run = finished_run(better_and_slower, scenarios=6, configurations=versions(4))
    data = as_json(signed_in, f"run={run.pk}")
    assert [(pair["a"], pair["b"]) for pair in data["pairs"]] == [("A", "B"), ("A", "C"), ("A", "D")]
    assert list(data["scenarios"][0]["sides"]) == ["A", "B", "C", "D"]
    assert data["compared"] == ["A", "B"]
    picked = as_json(signed_in, f"run={run.pk}&vs=Front desk@4")
    assert picked["compared"] == ["A", "D"]
    assert picked["scenarios"][0]["delta"] == 0
    two = as_json(signed_in, f"run={run.pk}&vs=Front desk@4&vs=Front desk@2")
    assert two["compared"] == ["B", "D"]
    assert [(pair["a"], pair["b"]) for pair in two["pairs"]] == [("A", "B"), ("A", "C"), ("A", "D")]
    assert two["scenarios"][0]["delta"] < -0.3
    assert words(signed_in.get(f"/compare/?run={run.pk}")).count("n 6 pairs") >= 9


def test_each_configuration_says_what_it_tests_and_what_of_it_differs_from_the_baseline(signed_in: Client) -> None:
    other = make_configuration("Other desk", instructions="Be brief.", model="voice-2")
    run = finished_run(same(), configurations=[*versions(), other])
    response = signed_in.get(f"/compare/?run={run.pk}")
    said = words(response)
    (tools,) = set(re.findall(r"tools [0-9a-f]{6}", said))
    assert f"A prompt@1 · voice-1 · server's voice · {tools} B" in said
    assert f"B prompt@2 · voice-1 · server's voice · {tools} C" in said
    assert f"C prompt@1 · voice-2 · server's voice · {tools}" in said
    marked = re.findall(r'<b title="differs from the baseline">([^<]*)</b>', response.content.decode())
    assert marked == ["prompt@2", "voice-2"]  # the other's prompt is the baseline's text
    assert [one["factors"]["prompt"] for one in as_json(signed_in, f"run={run.pk}")["configurations"]] == [
        "prompt@1",
        "prompt@2",
        "prompt@1",
    ]


def test_a_critical_scenario_that_newly_always_fails_is_never_hidden(signed_in: Client) -> None:
    listed = [scenario(f"case_{n}") for n in range(1, 6)]
    listed[2] |= {"critical": True, "mode": "text"}
    run = finished_run(
        lambda t: Result("failed" if side(t) == 2 and key(t) == "case_3" else "passed", "", {"semantic_quality": 0.5}),
        scenarios=listed,
    )
    assert as_json(signed_in, f"run={run.pk}")["critical"] == [{"letter": "B", "scenario": "case_3"}]
    for metric in ("pass_rate", "semantic_quality"):  # its quality is the same
        response = signed_in.get(f"/compare/?run={run.pk}&metric={metric}")
        assert "B fails case_3 every time, and A did not" in words(response)
        assert words(response).index("case_3 critical") < words(response).index("Title of case_1")


def test_filter_search_and_sort_are_in_the_address(signed_in: Client) -> None:
    quality = {"case_1": 0.1, "case_2": -0.2, "case_3": 0.0, "case_4": 0.4}
    run = finished_run(
        lambda t: Result("passed", "", numbers(0.5 + (quality[key(t)] if side(t) == 2 else 0.0), 500.0)), scenarios=4
    )

    def ids(query: str) -> list[str]:
        return [
            row["scenario"] for row in as_json(signed_in, f"run={run.pk}&metric=semantic_quality&{query}")["scenarios"]
        ]

    assert ids("") == ["case_4", "case_2", "case_1", "case_3"]
    assert ids("show=better") == ["case_4", "case_1"]
    assert ids("show=worse") == ["case_2"]
    assert ids("show=same") == ["case_3"]
    assert ids("sort=-scenario") == ["case_4", "case_3", "case_2", "case_1"]
    assert ids("sort=b") == ["case_2", "case_3", "case_1", "case_4"]
    assert ids("q=CASE_2") == ["case_2"]
    assert "No scenario fits" in words(signed_in.get(f"/compare/?run={run.pk}&q=nothing"))


def test_every_repeat_is_a_link_with_its_outcome(signed_in: Client) -> None:
    outcomes = iter(["passed", "failed", "invalid", "ungraded", "cancelled", "passed"])
    run = finished_run(lambda trial: Result(next(outcomes)), scenarios=1, repeats=3)
    page = signed_in.get(f"/compare/?run={run.pk}").content.decode()
    for trial in run.trials.all():
        assert f'class="repeat {trial.outcome}" href="/trials/{trial.pk}/"' in page
        assert f'href="#shape-{trial.outcome}"' in page


def test_tools_are_counted_over_the_graded_repeats(signed_in: Client) -> None:
    def result(trial: Trial) -> Result:
        if trial.repeat == 3:
            return Result("invalid", "connect")
        made = {1: (2, 1.0), 2: (3, 0.3333)}[trial.repeat]
        return Result("passed", "", {"tool_calls": made[0], "tool_accuracy": made[1], "tool_calls_expected": 2})

    run = finished_run(result, scenarios=1, repeats=3, configurations=versions(1))
    [row] = as_json(signed_in, f"run={run.pk}")["scenarios"]
    assert (row["sides"]["A"]["tools_matched"], row["sides"]["A"]["tools_expected"]) == (3, 4)


def test_what_a_simulator_made_is_labelled_on_page_and_exports(signed_in: Client) -> None:
    run = finished_run(same())
    assert "simulated" not in words(signed_in.get(f"/compare/?run={run.pk}"))
    RunConfiguration.objects.filter(run=run).update(simulated=True)
    assert "simulated" in words(signed_in.get(f"/compare/?run={run.pk}"))
    assert as_json(signed_in, f"run={run.pk}")["simulated"] is True
    assert {row["simulated"] for row in as_csv(signed_in, f"run={run.pk}")} == {"yes"}


def test_a_title_that_looks_like_a_formula_is_text_in_the_csv_and_markup_is_text_on_the_page(signed_in: Client) -> None:
    evil = '=HYPERLINK("http://evil.example")<script>alert(1)</script>'
    run = finished_run(same(semantic_quality=0.5), scenarios=[scenario("case_1", title=evil)])
    [row] = as_csv(signed_in, f"run={run.pk}")
    assert row["title"] == f"'{evil}"
    assert row["A semantic_quality"] == "0.5"
    assert "<script>alert(1)" not in signed_in.get(f"/compare/?run={run.pk}").content.decode()


def test_the_number_of_queries_does_not_grow_with_the_run(
    signed_in: Client, django_assert_max_num_queries: Any, django_assert_num_queries: Any
) -> None:
    small = finished_run(better_and_slower, scenarios=2)
    with django_assert_max_num_queries(18) as captured:
        signed_in.get(f"/compare/?run={small.pk}")
    large = finished_run(better_and_slower, scenarios=12, repeats=3, configurations=versions(4))
    with django_assert_num_queries(len(captured)):
        signed_in.get(f"/compare/?run={large.pk}")
    with django_assert_max_num_queries(8):
        signed_in.get(f"/compare/data/?run={large.pk}")


def test_only_what_shows_charts_loads_chart_code(signed_in: Client) -> None:
    run = finished_run(same(semantic_quality=0.5))
    assert "plotly-basic.min.js" in signed_in.get(f"/compare/?run={run.pk}&view=slope").content.decode()
    compared, heard = f"/compare/?run={run.pk}", f"/trials/{run.trials.first().pk}/"
    for path in (compared, "/", "/runs/", f"/runs/{run.pk}/", heard, "/compare/", "/scenarios/"):
        assert "plotly" not in signed_in.get(path).content.decode()


def test_a_person_who_was_never_here_is_sent_to_sign_in() -> None:
    make_user("bob")
    assert "/sign-in/" in Client().get("/compare/?run=1").headers["Location"]


def test_a_time_out_counts_at_its_limit_and_the_card_says_so(signed_in: Client) -> None:
    def result(trial: Trial) -> Result:
        if side(trial) == 1 and (key(trial), trial.repeat) == ("case_3", 1):
            return Result("failed", "response_timeout")
        return better_and_slower(trial)

    run = finished_run(result, scenarios=8, repeats=2, configurations=versions(mode="audio"))
    text = words(signed_in.get(f"/compare/?run={run.pk}"))
    assert "The percentage counts 1 time-out at the limit; the ms leave them out." in text
    [pair] = as_json(signed_in, f"run={run.pk}")["pairs"]
    latency = pair["metrics"]["response_latency_ms"]
    assert latency["paired"]["difference"] > 100
    assert latency["ratio"]["value"] < 1.1
    assert latency["verdict"]["word"] == "Can't tell"


def test_an_interval_of_shares_ends_where_differences_do() -> None:
    assert interval_text("pass_rate", -1.338, 1.588) == "[\u2212100.0\u202fpp, +100.0\u202fpp]"
    assert interval_text("response_latency_ms", -2.0, 3.0).startswith("[\u22122")
