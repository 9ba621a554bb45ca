"""Tool faults as people meet them: the new-run form, the run's page, the trial's timeline, the comparison."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from runs_app.models import Run
from tests.grading import builders as evidence
from tests.pages.comparing import finished_run, same, versions
from tests.pages.trials import SOUND, record_trial
from tests.runs.builders import make_configuration, make_run, make_suite

pytestmark = pytest.mark.django_db

FAULTS = {"create_reservation": {"mode": "delay", "ms": 3000}}


def start(client: Client, faults: str) -> Any:
    make_configuration()
    make_suite(1)
    form = {"suite": "demo", "configurations": ["Front desk@1"], "repeats": "1", "concurrency": "1"}
    return client.post("/runs/new/", {**form, "tool_faults": faults})


def test_faults_are_written_as_lines_and_the_run_keeps_them(signed_in: Client) -> None:
    assert start(signed_in, "create_reservation=delay:3s\r\n")["Location"]
    assert Run.objects.get().tool_faults == FAULTS


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ("create_reservation", "write TOOL=MODE"),
        ("create_reservation=slow", "the modes are error"),
        ('{"create_reservation": {"mode": "delay"}}', "belongs to mode delay"),
        ("create_resrvation=error", "no tool of this name"),
    ],
)
def test_a_wrong_fault_is_named_at_the_field_and_nothing_starts(signed_in: Client, faults: str, said: str) -> None:
    answer = start(signed_in, faults)
    assert said in " ".join(answer.context["form"].errors["tool_faults"])
    assert said in answer.content.decode()
    assert not Run.objects.exists()


def test_the_runs_page_says_what_was_made_to_fail_and_run_again_repeats_it(signed_in: Client) -> None:
    run = make_run(tool_faults=FAULTS)
    page = signed_in.get(run.get_absolute_url())
    assert "create_reservation: delay 3000 ms" in page.content.decode()
    again = signed_in.get(page.context["again_url"])
    assert again.context["form"]["tool_faults"].value() == "create_reservation=delay:3000"
    assert json.loads(signed_in.get(f"/runs/{run.pk}/results.json").content)["tool_faults"] == FAULTS


def test_a_spoiled_call_is_marked_in_transcript_lane_and_table(signed_in: Client) -> None:
    called = replace(evidence.call(turn=0, called_ms=1_200.0, answered_ms=1_500.0), fault="wrong_type")
    trial = record_trial(make_run(), evidence.audio_record(called, audio_samples=len(SOUND)), SOUND)
    page = signed_in.get(trial.get_absolute_url()).content.decode()
    assert page.count("made to fail: wrong_type") == 2, "in the transcript and under Tools"
    assert "create_reservation · made to fail: wrong type" in page


def test_a_record_of_before_there_were_faults_still_opens(signed_in: Client) -> None:
    called = evidence.call(turn=0, called_ms=1_200.0, answered_ms=1_500.0)
    trial = record_trial(make_run(), evidence.audio_record(called, audio_samples=len(SOUND)), SOUND)
    del trial.record["tool_calls"][0]["fault"]
    trial.save()
    page = signed_in.get(trial.get_absolute_url())
    assert page.status_code == 200
    assert "made to fail" not in page.content.decode()


def test_runs_under_different_faults_are_not_compared(signed_in: Client) -> None:
    first, second = versions(2)
    one = finished_run(same(semantic_quality=0.5), configurations=[first])
    other = finished_run(same(semantic_quality=1.0), configurations=[second], tool_faults=FAULTS)
    page = signed_in.get(f"/compare/?run={one.pk}&run={other.pk}").content.decode()
    assert "Not comparable" in page
    assert "the tools were made to fail in some runs and not in others" in page
