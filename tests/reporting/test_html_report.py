"""The one-file report: numbers, problems, transcripts and sound, without a reference to another file."""

from __future__ import annotations

import base64
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import soundfile
from django.test import Client
from django.urls import reverse

from runs_app.models import Run, RunPlan, Trial
from runs_app.plans import Plan
from runs_app.reporting import html_report
from runs_app.reporting.html_report import run_report
from runs_app.reporting.report_audio import recordings
from runs_app.reporting.report_svg import rate_bars
from runs_app.services import artifacts
from tests.grading import builders as evidence
from tests.pages.comparing import Result, finished_run, side, versions
from tests.pages.trials import SOUND, record_trial
from tests.runs.builders import make_run, scenario

pytestmark = pytest.mark.django_db


def failed_call() -> Trial:
    """A recorded call that the agent spoiled: the state changed, and must not have."""
    called = evidence.call(turn=0, called_ms=1_200.0, answered_ms=1_500.0)
    record = evidence.audio_record(called, audio_samples=len(SOUND), final_state={"reservation_created": True})
    run = make_run([scenario("case_1")], plan=Plan(("It books <b>nothing</b>.",)))
    trial = record_trial(run, record, SOUND)
    Trial.objects.filter(pk=trial.pk).update(outcome="failed", reason="a table was booked & told")
    return Trial.objects.get(pk=trial.pk)


class References(HTMLParser):
    """What a browser would fetch by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "srcset", "data", "poster") or (name == "href" and tag != "a"):
                self.fetched.append(str(value))
            elif name == "href":
                self.linked.append(str(value))


def references(text: str) -> References:
    parser = References()
    parser.feed(text)
    return parser


def test_the_sound_of_a_failed_trial_is_in_the_file_to_the_sample(signed_in: Client, settings):
    settings.SITE_URL = "https://soundcheck.example"
    trial = failed_call()
    answer = signed_in.get(reverse("run-report", args=[trial.run_id]))
    assert "attachment" in answer["Content-Disposition"]
    text = answer.content.decode()
    found = references(text)
    assert [address.partition(",")[0] for address in found.fetched] == ["data:audio/flac;base64"]
    assert all(link.startswith(("http://", "https://")) for link in found.linked)
    assert not re.search(r"url\(|@import|<script|<link", text)
    heard, rate = soundfile.read(io.BytesIO(base64.b64decode(found.fetched[0].partition(",")[2])), dtype="int16")
    assert rate == 24_000
    stored = artifacts.read_audio(trial.wav)
    assert stored is not None
    assert np.array_equal(heard, stored)


def test_it_says_what_failed_what_was_said_and_that_it_is_not_redacted():
    text = run_report(failed_call().run)
    assert "Not redacted" in text
    assert "a table was booked &amp; told" in text
    assert "It books &lt;b&gt;nothing&lt;/b&gt;." in text
    assert "1 failure = 1 problem" in text
    assert "1 of their 1 recordings are in this file" in text
    assert "create_reservation" in text
    assert "0.0 % (0/1)" in text


def test_fields_that_are_redacted_are_not_in_it(settings):
    settings.REDACT_FIELDS = ["guest_name"]
    trial = failed_call()
    name = trial.record["tool_calls"][0]["arguments"]["guest_name"]
    Run.objects.filter(pk=trial.run_id).update(name=f"Calls of {name}")
    RunPlan.objects.filter(run=trial.run).update(hypothesis=f"It books for {name}.")
    trial.run.refresh_from_db()
    text = run_report(trial.run)
    assert f'"{name}"' not in text
    assert text.count("Calls of [redacted]") == 3
    assert "It books for [redacted]." in text
    assert "The recordings are what was heard." in text


def test_sound_beyond_the_limit_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch):
    trial = failed_call()
    full = recordings([trial])
    assert recordings([trial], most_bytes=len(full[trial.pk])) == full
    assert recordings([trial], most_bytes=len(full[trial.pk]) - 1) == {}
    monkeypatch.setattr("runs_app.reporting.html_report.recordings", lambda trials: recordings(trials, most_bytes=99))
    text = run_report(trial.run)
    assert "0 of their 1 recordings are in this file" in text
    assert "it holds at most 20 MB of sound" in text
    assert "<audio" not in text


def test_a_recording_that_is_gone_is_no_reason_to_fail():
    trial = failed_call()
    Trial.objects.filter(pk=trial.pk).update(wav="trials/gone.wav")
    assert "<audio" not in run_report(Run.objects.get(pk=trial.run_id))


def test_a_comparison_is_told_with_its_verdicts(signed_in: Client):
    run = finished_run(
        lambda trial: Result("passed" if side(trial) == 2 else "failed"),
        scenarios=6,
        configurations=versions(3),
        repeats=2,
    )
    text = signed_in.get(f"{reverse('compare-report')}?run={run.pk}").content.decode()
    for beside in ("Front desk@2", "Front desk@3"):
        assert f"<bdi>{beside}</bdi> against <bdi>Front desk@1</bdi>" in text
    assert text.count("6 of 6 scenarios paired") == 2
    assert "24 failures = 1 problem" in text
    assert references(text).fetched == []
    one = signed_in.get(f"{reverse('compare-report')}?run={run.pk}&candidate=Front+desk@3").content.decode()
    assert one.count("6 of 6 scenarios paired") == 1
    for wrong in ("", "?run=999999", "?run=x"):
        assert signed_in.get(f"{reverse('compare-report')}{wrong}").status_code == 404


def test_what_a_rate_leaves_out_has_a_line_of_its_own_where_it_is_not_cut_off():
    drawn = rate_bars([("A Front desk@1", 2 / 3, None, None, "66.7 % (8/12), 12 of 24 invalid, 1 of 24 timed out")])
    told = re.findall(r'<text x="(\d+)"[^>]*>([^<]*)</text>', drawn)
    assert told == [("0", "A Front desk@1"), ("498", "66.7 % (8/12)"), ("0", "12 of 24 invalid, 1 of 24 timed out")]


def test_a_run_that_goes_on_and_one_without_failures_have_a_report_too(signed_in: Client):
    going = make_run(2)
    assert "Nothing failed" in signed_in.get(reverse("run-report", args=[going.pk])).content.decode()
    assert signed_in.get(reverse("run-report", args=[999999])).status_code == 404


def test_of_many_failures_some_of_each_problem_are_told_and_the_rest_is_counted(
    monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries
):
    run = finished_run(lambda trial: Result("failed"), scenarios=4, configurations=versions(1), repeats=3)
    rare = run.trials.order_by("-position").first()
    assert rare is not None
    run.trials.update(failure_kind="tool_contract:book:date:one day early")
    run.trials.filter(pk=rare.pk).update(failure_kind="response_timeout")
    monkeypatch.setattr(html_report, "MOST_TRIALS", 3)
    with django_assert_max_num_queries(20):
        text = run_report(run)
    told = re.findall(r">trial (\d+)<", text)
    frequent = run.trials.exclude(pk=rare.pk).order_by("position")[:2]
    assert told == [str(frequent[0].pk), str(rare.pk), str(frequent[1].pk)]
    assert "3 of 12 failed trials are told; 9 more are behind the link at the top" in text
