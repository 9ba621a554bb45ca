"""The trial page answers in every state that a trial can be in."""

from __future__ import annotations

import pytest
from django.test import AsyncClient, Client
from django.urls import reverse

from runs_app.models import Grading, Trial
from runs_app.realtime.record import Ending
from runs_app.services import artifacts, claims
from scenarios_app.spec import jsontext
from tests.grading import builders as evidence
from tests.pages.trials import SOUND, broken_trial, record_trial, spoken_trial
from tests.runs.builders import make_run

pytestmark = pytest.mark.django_db


def page(client: Client, trial: Trial, query: str = "") -> str:
    answer = client.get(f"/trials/{trial.pk}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_spoken_trial_shows_both_sides_the_tool_and_the_gap(signed_in: Client) -> None:
    shown = page(signed_in, spoken_trial())
    assert "Book a table for Nora" in shown
    assert "create_reservation" in shown
    assert "800 ms" in shown  # from the caller's last sound at 1.0 s to the agent's first at 1.8 s
    assert reverse("trial-audio", args=[Trial.objects.get().pk]) in shown


def test_the_lanes_carry_gap_and_tool_in_ms_of_the_recording(signed_in: Client) -> None:
    shown = page(signed_in, spoken_trial())
    assert 'style="--s:1200.0;--e:1500.0"' in shown  # the tool
    assert 'style="--s:1000.0;--e:1800.0"' in shown  # the gap
    assert 'data-duration="3400" data-audio="3400"' in shown


def test_a_queued_trial_says_that_it_waits(signed_in: Client) -> None:
    assert "waits for its turn" in page(signed_in, make_run().trials.get())


def test_a_running_trial_points_to_the_live_page(signed_in: Client) -> None:
    run = make_run()
    claims.claim_trial(run_id=run.pk)
    trial = run.trials.get()
    assert f"/runs/{run.pk}/?trial={trial.pk}" in page(signed_in, trial)


def test_a_recorded_trial_is_shown_before_it_is_graded(signed_in: Client) -> None:
    trial = record_trial(make_run(), evidence.audio_record(audio_samples=len(SOUND)), SOUND, grade=False)
    shown = page(signed_in, trial)
    assert "Graded when the conversation is over" in shown
    assert "Book a table for Nora" in shown


def test_an_invalid_trial_names_the_stage_and_has_no_recording(signed_in: Client) -> None:
    shown = page(signed_in, broken_trial())
    assert "nobody listens at the endpoint" in shown
    assert "connect" in shown
    assert "There is no recording" in shown
    assert "<audio" not in shown


def test_text_mode_says_why_nothing_can_be_heard(signed_in: Client) -> None:
    shown = page(signed_in, record_trial(make_run(), evidence.record()))
    assert "Text mode: nothing was spoken" in shown
    assert "<audio" not in shown


def test_a_cancelled_trial_keeps_what_was_said(signed_in: Client) -> None:
    record = evidence.audio_record(audio_samples=len(SOUND), ending=Ending("cancelled", message="stopped by alice"))
    shown = page(signed_in, record_trial(make_run(), record, SOUND))
    assert "cancelled" in shown
    assert "stopped by alice" in shown


def test_unknown_events_and_warnings_are_listed(signed_in: Client) -> None:
    record = evidence.record(unknown_events={"vendor.hint": 3}, warnings=("dangling_audio_byte=1",))
    shown = page(signed_in, record_trial(make_run(), record))
    assert "vendor.hint × 3" in shown
    assert "dangling_audio_byte=1" in shown


def test_markup_in_what_was_said_stays_text(signed_in: Client) -> None:
    hostile = '<script>alert("x")</script>'
    called = evidence.unreadable_call(hostile)
    record = evidence.record(called, turns=(evidence.turn(hostile),))
    assert hostile not in page(signed_in, record_trial(make_run(), record))


def test_an_older_grading_can_be_looked_at(signed_in: Client) -> None:
    trial = spoken_trial()
    Grading.objects.filter(trial=trial).update(current=False)
    Grading.objects.create(trial=trial, attempt=1, number=2, outcome="passed", reason="", rubric_version="newer")
    assert "?grading=1#verdict" in page(signed_in, trial)
    assert "application_state" in page(signed_in, trial, "?grading=1")


def test_what_another_attempt_was_graded_is_not_laid_over_this_recording(signed_in: Client) -> None:
    trial = spoken_trial()
    assert "800 ms</span>" in page(signed_in, trial)
    Trial.objects.filter(pk=trial.pk).update(attempt=2)
    shown = page(signed_in, trial)
    assert "800 ms</span>" not in shown
    assert "This is what attempt 1 was graded" in shown


def test_neighbours_are_those_of_the_run_in_order(signed_in: Client) -> None:
    run = make_run(3)
    first, second, third = run.trials.all()
    shown = page(signed_in, second)
    assert f'id="previous" href="/trials/{first.pk}/"' in shown
    assert f'id="next" href="/trials/{third.pk}/"' in shown


def test_a_trial_that_is_not_there_is_404(signed_in: Client) -> None:
    assert signed_in.get("/trials/999999/").status_code == 404
    assert signed_in.get("/trials/999999/trial.json").status_code == 404


@pytest.mark.parametrize("name", ["trial", "trial-audio", "trial-player", "trial-peaks", "trial-events", "trial-json"])
def test_a_stranger_is_sent_to_sign_in(client: Client, name: str) -> None:
    answer = client.get(reverse(name, args=[spoken_trial().pk]))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/")


@pytest.mark.parametrize("name", ["trial-cancel", "trial-regrade"])
def test_changes_take_post_alone(signed_in: Client, name: str) -> None:
    assert signed_in.get(reverse(name, args=[make_run().trials.get().pk])).status_code == 405


def test_the_json_of_a_trial_is_strict_and_whole(signed_in: Client) -> None:
    trial = spoken_trial()
    answer = signed_in.get(reverse("trial-json", args=[trial.pk]))
    body = jsontext.load(answer.content)
    assert body["record"]["tool_calls"][0]["name"] == "create_reservation"
    assert body["outcome"] == trial.outcome
    assert {"check_id", "status", "required", "reason", "evidence"} <= set(body["checks"][0])


@pytest.mark.case("C11")
@pytest.mark.django_db(transaction=True)
async def test_the_recording_is_served_by_ranges_to_those_who_may_see_the_page(signed_in: Client) -> None:
    """C11"""
    from asgiref.sync import sync_to_async

    trial = await sync_to_async(spoken_trial)()
    client = AsyncClient()
    client.cookies = signed_in.cookies
    answer = await client.get(reverse("trial-audio", args=[trial.pk]), headers={"range": "bytes=0-1"})
    size = 44 + len(SOUND) * 4
    assert (answer.status_code, answer["Content-Range"]) == (206, f"bytes 0-1/{size}")
    assert b"".join([part async for part in answer.streaming_content]) == b"RI"
    assert answer["Content-Type"] == "audio/wav"


@pytest.mark.django_db(transaction=True)
async def test_a_recording_that_is_gone_is_404(signed_in: Client) -> None:
    from asgiref.sync import sync_to_async
    from django.core.files.storage import default_storage

    trial = await sync_to_async(spoken_trial)()
    await sync_to_async(default_storage.delete)(trial.wav)
    client = AsyncClient()
    client.cookies = signed_in.cookies
    assert (await client.get(reverse("trial-audio", args=[trial.pk]))).status_code == 404


def test_a_finished_trial_cannot_be_cancelled(signed_in: Client) -> None:
    url = reverse("trial-cancel", args=[spoken_trial().pk])
    answer = signed_in.post(url)
    assert (answer.status_code, "<h1>The trial was not cancelled" in answer.content.decode()) == (409, True)
    assert "already over" in signed_in.post(url, headers={"accept": "application/json"}).json()["error"]


def test_grade_again_makes_another_grading_and_keeps_the_first(signed_in: Client) -> None:
    from runs_app.services import grading

    trial = spoken_trial()
    assert signed_in.post(reverse("trial-regrade", args=[trial.pk])).status_code == 302
    claim = claims.claim_grading(trial_id=trial.pk)
    assert claim is not None
    grading.grade_claimed(claim)
    first, second = trial.gradings.order_by("number")
    assert (first.current, second.current) == (False, True)
    assert first.metrics == second.metrics


def test_what_was_never_recorded_cannot_be_graded_again(signed_in: Client) -> None:
    run = make_run()
    answer = signed_in.post(reverse("trial-regrade", args=[run.trials.get().pk]))
    assert answer.status_code == 409


def test_the_stored_peaks_belong_to_the_recording(signed_in: Client) -> None:
    trial = spoken_trial()
    sound = artifacts.read_audio(trial.wav)
    assert sound is not None
    assert (sound == SOUND).all()
