"""The failure playlist: what it holds, of each failure which part, and where somebody left off."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import QueryDict
from django.test import Client

from runs_app.listening.playlist import BadPlaylist, asked_of, playlist_of
from runs_app.models import PlaylistPlace, Run, Trial
from runs_app.services.results import close_run
from tests.grading import builders as evidence
from tests.pages.comparing import versions
from tests.pages.trials import SOUND, record_trial
from tests.runs.builders import make_run

pytestmark = pytest.mark.django_db


def wrong_call(called_ms: float = 4_000.0) -> Any:
    """A tool that nobody expected is called, and changes what should have stayed."""
    return evidence.call(turn=0, called_ms=called_ms, answered_ms=called_ms + 500.0)


def failing_run(count: int = 2, *, silent: int = 0) -> Run:
    run = make_run(count + silent)
    sound = evidence.recording([(0, 1_000)], [(1_800, 9_000)], 10_000)
    for n in range(count):
        called = wrong_call(4_000.0 + 500 * n)
        record_trial(run, evidence.audio_record(called, audio_samples=len(sound)), sound)
    for _ in range(silent):
        record_trial(run, evidence.record(wrong_call()))
    assert set(run.trials.values_list("outcome", flat=True)) == {"failed"}
    return run


def asked(text: str) -> Any:
    return playlist_of(asked_of(QueryDict(text)))


def test_each_failure_comes_with_the_place_of_what_failed_and_three_seconds_around_it() -> None:
    run = failing_run(2)
    windows = [(item.window.start_ms, item.window.end_ms) for item in asked(f"run={run.pk}").items]
    assert windows == [(1_000.0, 7_500.0), (1_500.0, 8_000.0)]


def test_a_failure_without_a_recording_is_told_and_not_played() -> None:
    found = asked(f"run={failing_run(1, silent=2).pk}")
    assert (len(found.items), len(found.silent)) == (1, 2)


def test_a_passed_trial_is_in_no_playlist() -> None:
    run = make_run()
    trial = record_trial(run, evidence.audio_record(audio_samples=len(SOUND)), SOUND)
    Trial.objects.filter(pk=trial.pk).update(outcome="passed")
    assert asked(f"trial={trial.pk}").items == ()


def test_it_narrows_by_kind_configuration_and_trial() -> None:
    run = failing_run(2)
    first, second = run.trials.all()
    Trial.objects.filter(pk=first.pk).update(failure_kind="parameter_accuracy:book:date:one day early")
    kind = asked("kind=parameter_accuracy:book:date:one day early")
    assert [item.trial.pk for item in kind.items] == [first.pk]
    assert "one day early" in kind.title
    assert [item.trial.pk for item in asked(f"trial={second.pk}").items] == [second.pk]
    assert len(asked(f"configuration={first.configuration_version_id}").items) == 2
    assert asked("configuration=999999").items == ()
    assert asked(f"kind=&run={run.pk}").title.startswith("failed before kinds of failures were kept · ")


@pytest.mark.parametrize("text", ["run=x", "run=-1", "run=there is no", "trial=9999999999999999999", "configuration=²"])
def test_an_address_that_is_no_number_is_refused_by_its_part(text: str, signed_in: Client) -> None:
    with pytest.raises(BadPlaylist, match=text.partition("=")[0]):
        asked_of(QueryDict(text))
    assert signed_in.get(f"/playlist/?{text}").status_code == 400


def test_a_run_that_is_not_there_is_404(signed_in: Client) -> None:
    answer = signed_in.get("/playlist/?run=999999")
    assert answer.status_code == 404
    assert "there is no run 999999" in answer.content.decode()


def test_it_begins_where_the_listener_left_off(signed_in: Client, alice: User) -> None:
    run = failing_run(3)
    second = run.trials.all()[1]
    page = signed_in.get(f"/playlist/?run={run.pk}")
    key = page.context["playlist"].asked.key
    assert page.context["begin"] == 0
    assert signed_in.post("/playlist/place/", {"playlist": key, "trial": second.pk}).status_code == 204
    page = signed_in.get(f"/playlist/?run={run.pk}")
    assert page.context["begin"] == 1
    assert "You left off here" in page.content.decode()
    assert signed_in.get("/playlist/").context["begin"] == 0  # another playlist
    signed_in.post("/playlist/place/", {"playlist": key})
    assert not PlaylistPlace.objects.filter(listener=alice).exists()


def test_a_place_needs_a_playlist_and_a_trial_that_is_there(signed_in: Client) -> None:
    assert signed_in.post("/playlist/place/", {"playlist": "short", "trial": 1}).status_code == 400
    assert signed_in.post("/playlist/place/", {"playlist": "a" * 64, "trial": 999}).status_code == 404
    assert signed_in.get("/playlist/place/").status_code == 405


def test_a_fault_is_kept_as_a_review_and_can_be_taken_back(signed_in: Client, alice: User) -> None:
    trial = failing_run(1).trials.get()
    assert signed_in.post(f"/trials/{trial.pk}/fault/", {"fault": "caller"}).json()["fault"] == "caller"
    review = trial.reviews.get(current=True)
    assert (review.fault, review.reviewer) == ("caller", alice)
    assert 'data-set="caller"' in signed_in.get("/playlist/").content.decode()
    assert signed_in.post(f"/trials/{trial.pk}/fault/", {"fault": ""}).json()["fault"] == ""


def test_a_fault_that_nobody_knows_and_a_trial_that_goes_on_are_refused(signed_in: Client) -> None:
    trial = failing_run(1).trials.get()
    assert signed_in.post(f"/trials/{trial.pk}/fault/", {"fault": "moon"}).status_code == 400
    queued = make_run().trials.get()
    assert signed_in.post(f"/trials/{queued.pk}/fault/", {"fault": "agent"}).status_code == 409


def test_an_empty_playlist_says_so(signed_in: Client) -> None:
    assert "Nothing failed here" in signed_in.get("/playlist/").content.decode()


def test_pages_offer_the_playlist_with_how_many_it_plays(signed_in: Client) -> None:
    run = failing_run(2, silent=1)
    for path in ("/", run.get_absolute_url()):
        shown = signed_in.get(path).content.decode()
        assert "Play 2 failures" in shown
        assert f'href="/playlist/?run={run.pk}"' in shown


def test_a_comparison_plays_what_failed_under_its_configurations(signed_in: Client) -> None:
    run = make_run(1, configurations=versions())
    sound = evidence.recording([(0, 1_000)], [(1_800, 9_000)], 10_000)
    for _ in range(2):
        record_trial(run, evidence.audio_record(wrong_call(), audio_samples=len(sound)), sound)
    close_run(run_id=run.pk)
    shown = signed_in.get(f"/compare/?run={run.pk}")
    play = shown.context["play"]
    assert play.count == 2
    assert "Play 2 failures" in shown.content.decode()
    assert len(signed_in.get(play.url).context["playlist"].items) == 2
