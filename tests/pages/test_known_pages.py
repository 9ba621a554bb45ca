"""Marking what fails as known, on pages: from a trial and from a run, changed, lifted, expired."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from runs_app.models import KnownFailure, Run, Trial
from tests.pages.comparing import Result, finished_run, key, versions

pytestmark = pytest.mark.django_db

EARLY = "tool_contract:create_reservation:date:one day early"
DAY = "2027-05-10T12:00:00Z"
FORM = {"configuration": "Front desk", "ticket": "BUG-7", "expires_on": "2027-05-15", "note": ""}


@pytest.fixture(autouse=True)
def tenth_of_may() -> Iterator[None]:
    with time_machine.travel(DAY, tick=False):
        yield


@pytest.fixture
def run() -> Run:
    """Two of three scenarios fail alike."""
    found = finished_run(
        lambda trial: Result("passed" if key(trial) == "case_3" else "failed"), configurations=versions(1), repeats=2
    )
    Trial.objects.failed().update(failure_kind=EARLY)
    return found


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def failed(run: Run, name: str = "case_1") -> Trial:
    return run.trials.get(scenario_version__scenario__key=name, repeat=1)


def send(client: Client, path: str, **data: Any) -> str:
    """What the page that it leads to says."""
    return client.post(path, {**FORM, **data}, follow=True).content.decode()


def test_a_run_tells_its_failures_as_problems_with_their_trials(signed_in: Client, run: Run):
    page = text(signed_in, run.get_absolute_url())
    assert "4 failures = 1 problem<" in page
    url = f"{reverse('problems')}?run={run.pk}&kind=tool_contract%3Acreate_reservation%3Adate%3Aone+day+early"
    assert url.replace("&", "&amp;") in page
    trials = text(signed_in, url)
    assert "create_reservation date: one day early" in trials
    assert failed(run).get_absolute_url() in trials
    assert failed(run, "case_2").get_absolute_url() in trials
    one = text(signed_in, f"{url}&scenario=case_2")
    assert failed(run).get_absolute_url() not in one.partition("All problems")[0]


def test_a_trial_that_failed_is_marked_and_says_so(signed_in: Client, run: Run):
    trial = failed(run)
    new = f"{reverse('known-failure-new')}?trial={trial.pk}"
    page = text(signed_in, new)
    assert 'value="2027-06-09"' in page  # thirty days, unless somebody says otherwise
    assert "create_reservation date: one day early" in page
    after = send(signed_in, new, scenarios=["case_1"], only_kind="on")
    assert "case_1 with Front desk is marked as known, until 2027-05-15." in after
    mark = KnownFailure.objects.get()
    assert (mark.kind, mark.trial) == (EARLY, trial)
    assert "known · <bdi>BUG-7" in text(signed_in, run.get_absolute_url())
    assert "2 new, 2 known" in text(signed_in, run.get_absolute_url())


def test_all_scenarios_of_a_problem_are_marked_at_once_or_none(signed_in: Client, run: Run):
    new = f"{reverse('known-failure-new')}?run={run.pk}&kind={EARLY}"
    assert "Choose at least one scenario." in send(signed_in, new)
    refused = send(signed_in, new, scenarios=["case_1", "case_2"], ticket="", expires_on="soon")
    assert "Name the ticket" in refused
    assert "Write the day as 2027-05-15." in refused
    assert "There is no scenario case_9." in send(signed_in, new, scenarios=["case_9"])
    assert "Lies in the past." in send(signed_in, new, scenarios=["case_1"], expires_on="2027-04-30")
    assert not KnownFailure.objects.exists()
    assert "2 scenarios are marked as known" in send(signed_in, new, scenarios=["case_1", "case_2"])
    assert "marked already (BUG-7)" in send(signed_in, new, scenarios=["case_2"])
    page = text(signed_in, reverse("known-failures"))
    assert page.count("<bdi>BUG-7</bdi>") == 2


def test_a_mark_expires_in_red_is_given_another_day_and_lifted(signed_in: Client, run: Run):
    send(signed_in, f"{reverse('known-failure-new')}?trial={failed(run).pk}", scenarios=["case_1"])
    mark = KnownFailure.objects.get()
    with time_machine.travel("2027-05-16T12:00:00Z", tick=False):
        assert "expired 2027-05-15" in text(signed_in, reverse("known-failures"))
        assert "mark expired · <bdi>BUG-7" in text(signed_in, run.get_absolute_url())
        assert "its failures count as new again" in text(signed_in, mark.get_absolute_url())
        again = send(signed_in, mark.get_absolute_url(), action="change", expires_on="2027-06-01")
        assert "The mark is changed." in again
        assert "expires 2027-05-15 → 2027-06-01" in again
        assert "mark expired" not in text(signed_in, run.get_absolute_url())
        lifted = send(signed_in, mark.get_absolute_url(), action="lift", reason="mended")
        assert "its failures count again" in lifted
        assert "alice" in lifted
        assert "was lifted" in send(signed_in, mark.get_absolute_url(), action="lift")
        assert "known ·" not in text(signed_in, run.get_absolute_url())


@pytest.mark.parametrize("query", ["", "?trial=999999", "?trial=x", "?run=1&kind=nothing", "?run=999999&kind=x"])
def test_what_did_not_fail_cannot_be_marked(signed_in: Client, run: Run, query: str):
    assert signed_in.get(f"{reverse('known-failure-new')}{query}").status_code == 404


def test_a_trial_that_passed_cannot_be_marked(signed_in: Client, run: Run):
    passed = failed(run, "case_3")
    assert signed_in.get(f"{reverse('known-failure-new')}?trial={passed.pk}").status_code == 404


@pytest.mark.parametrize(("query", "status"), [("", 404), ("?run=x", 404), ("?run=999999", 404)])
def test_problems_of_no_run_are_not_found(signed_in: Client, query: str, status: int):
    assert signed_in.get(f"{reverse('problems')}{query}").status_code == status


def test_a_kind_that_nothing_failed_by_says_so(signed_in: Client, run: Run):
    assert "No trial fails so" in text(signed_in, f"{reverse('problems')}?run={run.pk}&kind=%E2%82")
