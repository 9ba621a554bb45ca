"""The page of a run as HTML alone: what it says in every state, and what a person may do."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from runs_app.models import Run
from runs_app.plans import Plan
from runs_app.realtime.record import STAGES
from runs_app.run_page import ADVICE
from runs_app.services.runs import cancel_run
from tests.pages.playing import begin, end, play, queries_of, tell, words
from tests.runs.builders import make_configuration, make_run

pytestmark = pytest.mark.django_db


def page(client: Client, run: Run, query: str = "") -> str:
    answer = client.get(run.get_absolute_url() + query)
    assert answer.status_code == 200
    return answer.content.decode()


def two_agents() -> list:
    return [make_configuration(), make_configuration(instructions="Read back.")]


def title(text: str) -> str:
    found = re.search("<title>(.*?)</title>", text)
    assert found
    return found[1]


def test_a_queued_run_says_that_nothing_has_begun(signed_in: Client):
    run = make_run(2, repeats=3, name="Soon")
    text = page(signed_in, run)
    assert title(text) == "0/6 · Soon - Soundcheck"
    assert text.count('class="dot queued"') == 6
    assert "It waits for its turn" in text
    assert reverse("run-cancel", args=[run.pk]) in text


def test_a_run_that_nobody_works_on_says_why(signed_in: Client):
    assert "The run waits: no queue is known" in page(signed_in, make_run(1))


def test_every_state_has_its_shape_its_word_and_its_link(signed_in: Client):
    run = make_run(7, concurrency=8)
    play(run, ["passed", "failed", "ungraded", "cancelled"])
    play(run, ["invalid"], stage="connect", reason="refused")
    begin(run)
    text = page(signed_in, run)
    for state in ("passed", "failed", "ungraded", "cancelled", "invalid", "running", "queued"):
        dot = re.search(f'<a class="dot {state}"(.*?)</a>', text, re.S)
        assert dot, state
        assert f'href="#shape-{state}"' in dot[1]
        assert "repeat 1: " in dot[1]
        assert re.search(r'href="/trials/\d+/"', dot[1])
        assert f'id="shape-{state}"' in text
    assert "(connect)" in text


def test_the_title_says_how_it_stands(signed_in: Client):
    run = make_run(4, name="Night")
    play(run, ["passed", "failed", "invalid"])
    assert title(page(signed_in, run)) == "3/4, 1 failed, 1 invalid · Night - Soundcheck"


def test_numbers_of_configurations_stay_hidden_until_the_run_is_over(signed_in: Client):
    run = make_run(2, configurations=two_agents())
    play(run, ["passed", "passed", "failed"], semantic_quality=0.75, tool_accuracy=1.0)
    text = page(signed_in, run)
    assert 'id="results"' not in text
    assert "differences are shown when the run is over" in text
    assert reverse("compare") + "?run=" not in text
    play(run, ["passed"], semantic_quality=0.5)
    assert 'id="results"' in page(signed_in, run)


def test_the_results_carry_their_denominators(signed_in: Client):
    run = make_run(4, configurations=two_agents())
    for n, outcome in enumerate(["passed", "failed", "passed", "invalid", "failed", "failed", "passed", "passed"]):
        measured = {"semantic_quality": 0.5, "response_latency_ms": 1000.0 + n} if outcome != "invalid" else {}
        end(begin(run), outcome, **measured)
    text = re.sub(r"<[^>]+>|\s+", " ", page(signed_in, run))
    text = re.sub(r"\s+", " ", text)
    assert "Front desk@1 75.0 % 3/4" in text
    assert "Front desk@2 33.3 % 1/3" in text
    assert ".50 3 of 4" in text
    assert "– 0 of 4" in text, "tool_accuracy was not measured"
    assert "1 003 ms 4 of 4" in text
    assert "1 invalid" in text
    assert f"{reverse('compare')}?run={run.pk}" in page(signed_in, run)


def test_all_invalid_says_so_and_why(signed_in: Client):
    run = make_run(3)
    play(run, ["invalid"] * 2, stage="connect", reason="connection refused")
    play(run, ["invalid"], stage="session", reason="no such voice")
    text = page(signed_in, run)
    assert "All 3 trials are invalid: this run says nothing about the agent." in text
    causes = signed_in.get(run.get_absolute_url()).context["causes"]
    assert [(cause.trials, cause.stage, cause.reason) for cause in causes] == [
        (2, "connect", "connection refused"),
        (1, "session", "no such voice"),
    ]
    assert "connection refused" in text
    assert reverse("run-retry", args=[run.pk]) in text


def test_every_stage_has_its_advice():
    assert set(ADVICE) == set(STAGES)


def test_failures_are_listed_with_their_reasons_newest_first(signed_in: Client):
    run = make_run(3)
    play(run, ["failed"], reason="The first.")
    play(run, ["passed"])
    play(run, ["failed"], reason="The <b>last</b>.")
    text = page(signed_in, run)
    assert text.index("The &lt;b&gt;last&lt;/b&gt;.") < text.index("The first.")


def test_the_chosen_trial_shows_its_events_in_plain_words(signed_in: Client):
    run = make_run(2)
    first, second = run.trials.all()
    text = page(signed_in, run, f"?trial={second.pk}")
    assert f'id="live-events" data-trial="{second.pk}"' in text
    assert re.search(f'id="dot-{second.pk}"[^>]*aria-current="true"', text)
    assert not re.search(f'id="dot-{first.pk}"[^>]*aria-current', text)


@pytest.mark.django_db(transaction=True)
def test_events_are_shown_with_time_source_and_words(signed_in: Client):
    run = make_run(1)
    tell(begin(run), words(0, "Good evening, "), words(1, "the <i>Trattoria</i>."))
    text = page(signed_in, run)
    assert text.count("<li data-seq=") == 2
    assert 'title="response.output_audio_transcript.delta">spoken words' in text
    assert "the &lt;i&gt;Trattoria&lt;/i&gt;." in text
    assert "0:00.3" in text


@pytest.mark.django_db(transaction=True)
def test_earlier_events_are_loaded_on_demand_until_the_first(signed_in: Client):
    run = make_run(1)
    claim = begin(run)
    tell(claim, *[words(n, f"word {n}") for n in range(450)])
    shown = page(signed_in, run)
    assert shown.count("<li data-seq=") == 200
    path = reverse("trial-earlier", args=[claim.trial_id])
    assert f"{path}?before=250" in shown
    before = signed_in.get(f"{path}?before=250").content.decode()
    assert before.count("<li data-seq=") == 200
    assert f"{path}?before=50" in before
    last = signed_in.get(f"{path}?before=50").content.decode()
    assert last.count("<li data-seq=") == 50
    assert "Load earlier" not in last
    assert signed_in.get(path).content.decode().count("<li") == 0
    assert signed_in.get(f"{path}?before=x").status_code == 200


@pytest.mark.parametrize("query", ["?trial=x", "?trial=-1", "?trial=99999999999999999999", "?trial=424242", "?trial="])
def test_a_trial_that_is_none_of_this_run_is_ignored(signed_in: Client, query: str):
    run = make_run(1)
    assert f'data-trial="{run.trials.get().pk}"' in page(signed_in, run, query)


def test_a_trial_of_another_run_is_not_shown(signed_in: Client):
    other = make_run(1).trials.get()
    text = page(signed_in, make_run(1), f"?trial={other.pk}")
    assert f'data-trial="{other.pk}"' not in text


@pytest.mark.case("D05")
def test_the_live_parts_come_over_http_too(signed_in: Client):
    """D05: a page whose socket is refused polls these, and each has the id of what it replaces."""
    run = make_run(2)
    play(run, ["failed"])
    text = signed_in.get(reverse("run-live", args=[run.pk])).content.decode()
    for part in ("live-counts", "live-matrix", "live-events"):
        assert f'id="{part}"' in text
    assert "<html" not in text
    assert "hx-swap-oob" not in text


def test_the_findings_come_again_with_the_head(signed_in: Client):
    run = make_run(1)
    play(run, ["failed"])
    text = signed_in.get(reverse("run-findings", args=[run.pk])).content.decode()
    for part in ("run-head", "run-findings", "run-failures"):
        assert text.count(f'id="{part}"') == 1
    assert "Cancel run" not in text
    assert "csrfmiddlewaretoken" not in text, "there is nothing left to post"


def test_without_scripts_the_page_reloads_itself_until_the_run_is_over(signed_in: Client):
    run = make_run(1)
    refresh = '<noscript><meta http-equiv="refresh" content="10"></noscript>'
    assert refresh in page(signed_in, run)
    play(run, ["passed"])
    assert refresh not in page(signed_in, run)


def test_run_again_fills_in_the_form_as_this_run_was(signed_in: Client):
    agents = two_agents()
    plan = Plan(("Faster.",), ("response_latency_ms",), {"response_latency_ms": 50.0})
    way = {"mode": "text", "real_time": False, "stop_after_invalid": 5, "plan": plan}
    run = make_run(1, configurations=agents, repeats=2, concurrency=3, name="Ärger & co", **way)
    link = re.search(r'href="(/runs/new/\?[^"]+)">Run again', page(signed_in, run))
    assert link
    form = signed_in.get(link[1].replace("&amp;", "&")).context["form"]
    assert {name: form[name].value() for name in form.fields} == {
        "suite": str(run.suite),
        "tags": None,
        "scenarios": None,
        "configurations": ["Front desk@1", "Front desk@2"],
        "repeats": "2",
        "concurrency": "3",
        "mode": "text",
        "real_time": "no",
        "seed": "7",
        "tool_faults": None,
        "stop_after_invalid": "5",
        "name": "Ärger & co",
        "hypothesis": "Faster.",
        "primaries": ["response_latency_ms"],
        "margin_semantic_quality": None,
        "margin_tool_accuracy": None,
        "margin_response_latency_ms": "50.0",
        "margin_pass_rate": None,
    }


@pytest.mark.case("D09")
def test_cancelling_ends_what_waits_and_keeps_what_is_done(signed_in: Client):
    """D09 d: the done ones keep their outcome, and the summary is over them alone."""
    run = make_run(8)
    play(run, ["passed", "failed", "passed"])
    answer = signed_in.post(reverse("run-cancel", args=[run.pk]))
    assert answer["Location"] == run.get_absolute_url()
    run.refresh_from_db()
    assert run.status == "cancelled"
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page(signed_in, run)))
    assert "5 cancelled" in text
    assert "66.7 % 2/3" in text
    assert "the numbers cover what was done before" in text


@pytest.mark.case("D09")
def test_cancelling_a_finished_run_is_refused_in_words(signed_in: Client):
    """D09 c: 409, and nothing changes."""
    run = make_run(1, name="Over")
    play(run, ["passed"])
    answer = signed_in.post(reverse("run-cancel", args=[run.pk]))
    assert answer.status_code == 409
    assert "Over is already done." in answer.content.decode()
    program = signed_in.post(reverse("run-cancel", args=[run.pk]), headers={"Accept": "application/json"})
    assert (program.status_code, program.json()) == (409, {"error": "Over is already done."})
    run.refresh_from_db()
    assert (run.status, run.cancel_requested_at) == ("done", None)


def test_cancelling_a_run_under_way_says_that_it_is_being_cancelled(signed_in: Client):
    run = make_run(2)
    begin(run)
    signed_in.post(reverse("run-cancel", args=[run.pk]))
    text = page(signed_in, run)
    assert "Cancelling" in text
    assert "cancelling: what is under way is stopped" in text


def test_invalid_trials_are_tried_again_and_failed_ones_never(signed_in: Client):
    run = make_run(3)
    play(run, ["invalid", "failed", "passed"])
    answer = signed_in.post(reverse("run-retry", args=[run.pk]), follow=True)
    assert "1 invalid trial is tried again." in answer.content.decode()
    assert sorted(run.trials.values_list("outcome", flat=True)) == ["", "failed", "passed"]


def test_a_cancelled_run_is_not_tried_again(signed_in: Client):
    run = make_run(2)
    play(run, ["invalid"])
    cancel_run(run=run)
    assert reverse("run-retry", args=[run.pk]) not in page(signed_in, run)
    answer = signed_in.post(reverse("run-retry", args=[run.pk]))
    assert answer.status_code == 409
    assert "start a new run instead" in answer.content.decode()


def test_the_results_are_there_as_json(signed_in: Client):
    run = make_run(2)
    play(run, ["passed", "failed"])
    answer = signed_in.get(reverse("run-results", args=[run.pk])).json()
    assert answer["run"] == run.pk
    assert answer["configurations"][0]["metrics"]["pass_rate"] == {
        "value": 0.5,
        "n": 2,
        "of": 2,
        "known": 0,
        "new_value": 0.5,
    }


@pytest.mark.parametrize("over", [False, True])
def test_more_trials_cost_no_more_queries(signed_in: Client, over: bool):
    agent = make_configuration()
    small, large = make_run(2, configurations=[agent]), make_run(9, configurations=[agent], repeats=3)
    play(small, ["failed", "invalid"][: 2 if over else 1])
    play(large, (["failed", "invalid", "passed"] * 9)[: 27 if over else 20])
    assert queries_of(signed_in, large.get_absolute_url()) == queries_of(signed_in, small.get_absolute_url()) < 30


def test_each_address_has_its_methods(client: Client, signed_in: Client):
    run = make_run(1)
    for name in ("run", "run-live", "run-findings", "run-results"):
        assert signed_in.post(reverse(name, args=[run.pk])).status_code == 405, name
        assert client.get(reverse(name, args=[run.pk]))["Location"].startswith(reverse("sign-in")), name
        assert signed_in.get(reverse(name, args=[424242])).status_code == 404, name
    for name in ("run-cancel", "run-retry"):
        assert signed_in.get(reverse(name, args=[run.pk])).status_code == 405, name
        assert client.post(reverse(name, args=[run.pk]))["Location"].startswith(reverse("sign-in")), name
    run.refresh_from_db()
    assert run.cancel_requested_at is None
