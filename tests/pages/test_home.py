"""Home: what runs, what failed last, the latest numbers, and what to do when there is nothing."""

from __future__ import annotations

from datetime import date

import pytest
from django.test import Client
from django.urls import reverse

from runs_app.models import KnownFailure
from runs_app.services.known_failures import mark_known, usual_expiry
from runs_app.services.runs import cancel_run
from scenarios_app.services.scenarios import find_scenario
from tests.pages.playing import begin, play, queries_of
from tests.runs.builders import make_configuration, make_run, make_suite

pytestmark = pytest.mark.django_db


def page(client: Client) -> str:
    answer = client.get(reverse("home"))
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_empty_site_says_what_to_do_next(signed_in: Client):
    text = page(signed_in)
    assert "From nothing to a comparison" in text
    assert reverse("run-new") in text
    assert "What failed last" not in text


def test_the_steps_tick_off_what_is_there(signed_in: Client):
    make_suite(1)
    steps = {step["name"]: step["done"] for step in signed_in.get("/").context["steps"]}
    assert steps == {"scenarios": True, "suite": True, "configuration": False, "run": False}


def test_a_run_under_way_is_shown_with_its_progress_and_without_its_pass_rate(signed_in: Client):
    run = make_run(2, name="Watch me")
    play(run, ["passed"])
    begin(run)
    text = page(signed_in)
    assert "Running now" in text
    assert "Watch me" in text
    assert "1/2" in text
    assert "100.0" not in text


def test_a_finished_run_shows_its_rate_with_the_denominator(signed_in: Client):
    play(make_run(4), ["passed", "failed", "passed", "invalid"])
    text = page(signed_in)
    assert "66.7" in text
    assert "2/3, 1 of 4 without a verdict" in text


def test_what_failed_last_links_to_its_trial_and_says_why(signed_in: Client):
    run = make_run(1)
    play(run, ["failed"], reason="The table was booked for five.")
    trial = run.trials.get()
    text = page(signed_in)
    assert f'href="{trial.get_absolute_url()}"' in text
    assert "The table was booked for five." in text


def test_a_dead_endpoint_does_not_hide_what_else_failed(signed_in: Client):
    play(make_run(1), ["failed"], reason="A real failure.")
    play(make_run(12), ["invalid"] * 12, stage="connect", reason="connection refused")
    text = page(signed_in)
    assert "A real failure." in text
    assert "and 11 more like it" in text


def test_a_cancelled_run_is_listed_as_such(signed_in: Client):
    run = make_run(2)
    cancel_run(run=run)
    assert "cancelled" in page(signed_in)


def test_more_runs_and_trials_cost_no_more_queries(signed_in: Client):
    agent = make_configuration()
    play(make_run(1, configurations=[agent]), ["failed"])
    first = queries_of(signed_in, "/")
    for _ in range(4):
        play(make_run(3, configurations=[agent]), ["passed", "failed", "invalid"])
    assert queries_of(signed_in, "/") == first


def test_strangers_are_sent_to_sign_in(client: Client):
    answer = client.get("/")
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("sign-in"))


def test_home_takes_no_post(signed_in: Client):
    assert signed_in.post("/").status_code == 405


def test_what_fails_is_told_as_problems_new_ones_first_and_known_ones_apart(signed_in: Client):
    run = make_run(3)
    play(run, ["failed", "failed", "passed"], reason="A day early.")
    kinds = {"case_1": "tool_contract:book:date:one day early", "case_2": "assistant_responded:::"}
    for name, kind in kinds.items():
        run.trials.filter(scenario_version__scenario__key=name).update(failure_kind=kind)
    text = page(signed_in)
    assert "2 failures = 2 problems" in text
    assert text.count("A day early.") == 2
    [mark] = mark_known(scenarios=[find_scenario("case_1")], ticket="BUG-7", expires_on=usual_expiry())
    text = page(signed_in)
    assert "1 new, 1 known" in text
    assert "book date: one day early" not in text
    assert "the agent said nothing" in text
    assert text.count("A day early.") == 1
    KnownFailure.objects.update(expires_on=date(2020, 1, 1))
    text = page(signed_in)
    assert "1 mark of a known failure has" in text
    assert "book date: one day early" in text
    KnownFailure.objects.update(expires_on=usual_expiry())
    play(make_run(1), ["passed"])
    text = page(signed_in)
    assert "1 known failure passes" in text
    assert mark.get_absolute_url() in text
