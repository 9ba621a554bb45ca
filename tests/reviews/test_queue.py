"""The queue and its filters, previous and next within them, and what saving a review leads to."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from django.http import QueryDict
from django.test import Client

from runs_app.models import Mark, Review, Run, Trial
from runs_app.reviews.wanted import beside, signs_of, trials_of, wanted_of
from runs_app.services.claims import Claim
from runs_app.services.reviewing import assign_reviews, save_review
from tests.pages.playing import begin, end, play
from tests.pages.trials import spoken_trial
from tests.runs.builders import make_run
from tests.support import make_user

pytestmark = pytest.mark.django_db


def finished(outcomes: Sequence[str], **facts: object) -> Run:
    run = make_run(len(outcomes))
    play(run, outcomes, **facts)
    return run


def keys_of(query: str, viewer: User) -> list[str]:
    found = trials_of(wanted_of(QueryDict(query)), viewer)
    return [f"{trial.run_id}:{trial.scenario_version.scenario.key}" for trial in found]


def test_each_filter_narrows_alone_and_together(alice: User) -> None:
    first, second = finished(["failed", "passed", "invalid"]), finished(["failed", "cancelled"])
    assert keys_of("reviewed=any", alice) == [f"{second.pk}:case_1", *[f"{first.pk}:case_{n}" for n in (1, 2, 3)]]
    assert keys_of(f"reviewed=any&run={first.pk}&outcome=failed", alice) == [f"{first.pk}:case_1"]
    assert keys_of(f"reviewed=any&suite={second.suite.name}", alice) == [f"{second.pk}:case_1"]  # type: ignore[union-attr]
    assert keys_of("reviewed=any&q=case_2", alice) == [f"{first.pk}:case_2"]
    assert keys_of("reviewed=any&run=nonsense&outcome=moon&sign=none", alice) == keys_of("reviewed=any", alice)


def test_reviewed_left_and_disagreeing_trials_are_told_apart(alice: User) -> None:
    run = finished(["failed", "failed", "passed", "passed"])
    one, two, three, _ = run.trials.order_by("position")
    save_review(trial=one, user=alice, verdict="failed")
    save_review(trial=two, user=alice, fault="judge")
    save_review(trial=three, user=alice, note="a long pause")
    assert keys_of("reviewed=no", alice) == [f"{run.pk}:case_4"]
    assert keys_of("reviewed=yes", alice) == [f"{run.pk}:case_{n}" for n in (1, 2, 3)]
    assert keys_of("reviewed=disagree", alice) == [f"{run.pk}:case_2"]


def test_what_spoke_too_soon_and_whose_clocks_differ_is_found(alice: User) -> None:
    run = make_run(4)
    for metrics in ({"spoke_too_soon_ms": 400.0}, {"spoke_too_soon_ms": 0.0}, {"latency_difference_ms": -230.0}, {}):
        claim = begin(run)
        play_one(claim, metrics)
    assert keys_of("sign=too-soon", alice) == [f"{run.pk}:case_1"]
    assert keys_of("sign=clocks", alice) == [f"{run.pk}:case_3"]


def test_what_was_not_measured_carries_no_sign(alice: User) -> None:
    run = finished(["failed"], metrics={"spoke_too_soon_ms": None, "latency_difference_ms": None})
    assert keys_of("sign=too-soon", alice) == keys_of("sign=clocks", alice) == []
    assert signs_of(run) == []


def play_one(claim: Claim, metrics: dict[str, float]) -> None:
    end(claim, "passed", metrics=metrics)


def test_a_failed_check_and_a_marked_moment_are_found(alice: User, signed_in: Client) -> None:
    trial = spoken_trial()
    failed = trial.gradings.get().checks.filter(status="failed").first()
    assert failed is not None
    assert keys_of(f"check={failed.check_id}", alice) == keys_of("", alice)
    assert keys_of("check=no_such_check", alice) == []
    assert keys_of("sign=marked", alice) == []
    answer = signed_in.post(f"/trials/{trial.pk}/marks/", {"at_ms": "1234.5", "note": "here"})
    assert (answer.status_code, answer.json()["label"]) == (201, "here")
    assert keys_of("sign=marked", alice) == keys_of("", alice)
    assert signed_in.post(f"/trials/{trial.pk}/marks/", {"at_ms": "soon"}).status_code == 400
    assert signed_in.post(f"/marks/{Mark.objects.get().pk}/remove/").status_code == 302
    assert not Mark.objects.exists()


def test_assigned_trials_are_somebodys_queue(alice: User, signed_in: Client) -> None:
    run, bob = finished(["failed", "failed", "passed"]), make_user("bob")
    answer = signed_in.post("/review/assign/", {"wanted": f"run={run.pk}&outcome=failed&reviewed=no", "person": "bob"})
    assert answer.status_code == 302
    assert keys_of("who=me", bob) == [f"{run.pk}:case_1", f"{run.pk}:case_2"]
    assert keys_of("who=bob", alice) == keys_of("who=me", bob)
    assert keys_of("who=nobody&reviewed=any", alice) == [f"{run.pk}:case_3"]
    assign_reviews(trials=Trial.objects.filter(run=run), person=None, by=alice)
    assert keys_of("who=bob", alice) == []
    assert signed_in.post("/review/assign/", {"wanted": "", "person": "nobody we know"}).status_code == 404


def test_next_is_found_from_a_trial_that_has_left_the_list(alice: User) -> None:
    older, newer = finished(["failed", "failed"]), finished(["failed"])
    first, second = older.trials.order_by("position")
    save_review(trial=first, user=alice, verdict="failed")
    left = trials_of(wanted_of(QueryDict("reviewed=no")), alice)
    assert beside(left, first, "next") == second.pk
    assert beside(left, first, "previous") == newer.trials.get().pk
    assert beside(left, second, "next") is None


def test_saving_goes_to_the_next_one_and_in_the_end_back_to_the_queue(signed_in: Client) -> None:
    run = finished(["failed", "failed"])
    first, second = run.trials.order_by("position")
    wanted = f"run={run.pk}&reviewed=no&queue=1"
    form = {
        "verdict": "failed",
        "fault": "agent",
        "note": "",
        "score:overall": "0.25",
        "then": "next",
        "wanted": wanted,
    }
    answer = signed_in.post(f"/trials/{second.pk}/review/", form)
    assert answer["Location"] == f"/trials/{first.pk}/?{wanted}#review", "the first that is left comes after the last"
    answer = signed_in.post(f"/trials/{first.pk}/review/", form)
    assert answer["Location"].startswith("/review/?")
    page = signed_in.get(answer["Location"]).content.decode()
    assert "All 2 that the filter names are reviewed" in page
    assert Review.objects.get(trial=first).scores == {"overall": 0.25}


def test_what_is_refused_is_shown_again_with_what_was_written(signed_in: Client) -> None:
    trial = finished(["failed"]).trials.get()
    form = {"verdict": "passed", "fault": "agent", "note": "It was fine, I think.", "then": "stay"}
    answer = signed_in.post(f"/trials/{trial.pk}/review/", form)
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "no fault of the agent" in page
    assert "It was fine, I think." in page
    assert not Review.objects.exists()


def test_nothing_said_leaves_the_trial_in_the_queue(signed_in: Client) -> None:
    run = finished(["failed", "failed"])
    first, second = run.trials.order_by("position")
    answer = signed_in.post(f"/trials/{first.pk}/review/", {"then": "next", "wanted": "reviewed=no&queue=1"})
    assert answer["Location"].startswith(f"/trials/{second.pk}/")
    assert not Review.objects.exists()


def test_the_queue_tells_progress_and_agreement(alice: User, signed_in: Client) -> None:
    run = finished(["failed", "failed", "passed", "passed", "passed"])
    for trial, verdict in zip(run.trials.order_by("position"), ("failed", "passed", "passed", "passed"), strict=False):
        save_review(trial=trial, user=alice, verdict=verdict)
    page = html.unescape(signed_in.get("/review/").content.decode())
    assert "4 of 5" in page
    assert "3 of 4" in page
    assert re.search(r"kappa <b>0\.50</b>", page)


def test_the_trial_page_keeps_to_the_filter_and_opens_the_review(signed_in: Client) -> None:
    run = finished(["failed", "passed", "failed"])
    first, _, third = run.trials.order_by("position")
    page = html.unescape(signed_in.get(f"/trials/{first.pk}/?run={run.pk}&outcome=failed").content.decode())
    assert f'id="next" href="/trials/{third.pk}/?run={run.pk}&outcome=failed"' in page


def test_the_same_scenario_in_another_configuration_is_one_key_away(signed_in: Client) -> None:
    from tests.runs.builders import make_configuration

    run = make_run(1, configurations=[make_configuration("Desk A"), make_configuration("Desk B")], repeats=2)
    play(run, ["passed"] * 4)
    here = run.trials.get(configuration_version__configuration__name="Desk A", repeat=2)
    there = run.trials.get(configuration_version__configuration__name="Desk B", repeat=2)
    page = signed_in.get(f"/trials/{here.pk}/").content.decode()
    assert f'id="opposite" href="/trials/{there.pk}/"' in page


@pytest.mark.parametrize("path", ["/review/assign/", "/trials/{}/review/", "/trials/{}/assign/", "/trials/{}/marks/"])
def test_changes_take_post_alone(signed_in: Client, path: str) -> None:
    assert signed_in.get(path.format(1)).status_code == 405


def test_a_runs_page_counts_the_signs_and_leads_to_their_trials(signed_in: Client) -> None:
    run = make_run(3)
    for metrics in ({"spoke_too_soon_ms": 400.0}, {"spoke_too_soon_ms": 90.0}, {"latency_difference_ms": 20.0}):
        play_one(begin(run), metrics)
    page = html.unescape(signed_in.get(run.get_absolute_url()).content.decode())
    assert f'<a href="/review/?run={run.pk}&sign=too-soon&reviewed=any">2 spoke too soon</a>' in page
    assert "with clocks apart" not in page


def test_a_fault_set_from_a_playlist_never_breaks_on_what_was_said_before(alice: User, signed_in: Client) -> None:
    trial = finished(["failed"]).trials.get()
    url = f"/trials/{trial.pk}/fault/"
    assert signed_in.post(url, {"fault": ""}).json()["fault"] == ""
    assert not Review.objects.exists()
    save_review(trial=trial, user=alice, verdict="passed")
    answer = signed_in.post(url, {"fault": "agent"})
    assert (answer.status_code, "no fault of the agent" in answer.json()["error"]) == (400, True)
    assert signed_in.post(url, {"fault": "judge"}).json()["fault"] == "judge"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "who=me",
        "who=nobody&reviewed=any",
        "who=alice&sign=marked&check=spoke_too_soon",
        "sign=clocks&reviewed=disagree&kind=x",
        "run=999999999999&suite=none&q=%FF&page=99",
        "run=-1&outcome=moon&reviewed=moon&queue=0",
    ],
)
def test_every_filter_answers(signed_in: Client, query: str) -> None:
    finished(["failed", "passed"], metrics={"spoke_too_soon_ms": None})
    assert signed_in.get(f"/review/?{query}").status_code == 200
    assert signed_in.get(f"/trials/{Trial.objects.first().pk}/?{query}").status_code == 200  # type: ignore[union-attr]
    assert signed_in.get(f"/runs/?{query}").status_code == 200
