"""What is kept of a comparison makes the next look cheap, and never shows what has changed since."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from runs_app.comparing import intervals
from runs_app.models import Run, Trial, TrialStatus
from runs_app.services.intervals import make_intervals
from runs_app.services.results import close_run
from tests.pages.comparing import Result, finish, finished_run, key, same, side, versions
from tests.support import make_user

pytestmark = pytest.mark.django_db


def body_of(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    found = re.search(r"<table class=\"dense compare.*?</table>", response.content.decode(), re.DOTALL)
    assert found is not None
    return found[0]


def outcomes(body: str) -> list[str]:
    return re.findall(r'class="repeat (\w+)"', body)


def open_again(run: Run) -> None:
    """As when it is graded again."""
    Trial.objects.filter(run=run).update(status=TrialStatus.RECORDED, outcome="", finished_at=None)
    close_run(run_id=run.pk)


def test_the_next_look_asks_for_no_trial_and_shows_the_same(signed_in: Client) -> None:
    run = finished_run(same(semantic_quality=0.5))
    first = body_of(signed_in, f"/compare/?run={run.pk}")
    with CaptureQueriesContext(connection) as queries:
        assert body_of(signed_in, f"/compare/?run={run.pk}") == first
    rows = [query["sql"] for query in queries if '"runs_app_trial"."repeat"' in query["sql"]]
    assert rows == []
    assert outcomes(first) == ["passed"] * 6


def test_a_run_that_was_graded_again_shows_its_new_verdicts(signed_in: Client) -> None:
    run = finished_run(same(semantic_quality=0.5))
    path = f"/compare/?run={run.pk}"
    assert outcomes(body_of(signed_in, path)) == ["passed"] * 6
    open_again(run)
    assert 'class="repeat' not in signed_in.get(path).content.decode()
    finish(run, same("failed", semantic_quality=0.25))
    assert outcomes(body_of(signed_in, path)) == ["failed"] * 6


def test_every_address_has_rows_of_its_own(signed_in: Client) -> None:
    run = finished_run(same(semantic_quality=0.5), configurations=versions(3))
    third = run.configurations.order_by("position")[2].configuration_version_id
    queries = ("", "&hide=latency", "&q=case_1", f"&vs={third}", "&open=case_1", "&sort=-scenario")
    found = {body_of(signed_in, f"/compare/?run={run.pk}{query}") for query in queries}
    assert len(found) == len(queries)


def test_nothing_of_who_looked_first_is_kept(signed_in: Client) -> None:
    run = finished_run(same(semantic_quality=0.5))
    path = f"/compare/?run={run.pk}"
    signed_in.get(path)
    other = Client()
    other.force_login(make_user("bob"))
    page = other.get(path).content.decode()
    assert "bob" in page
    assert "csrfmiddlewaretoken" not in body_of(other, path)
    assert Client().get(path).status_code == 302


def test_what_is_not_of_the_trials_is_always_read_anew(signed_in: Client) -> None:
    run = finished_run(same(semantic_quality=0.5))
    path = f"/compare/?run={run.pk}"
    before = signed_in.get(path).content.decode()
    other = finished_run(same("failed", semantic_quality=0.5))
    Run.objects.filter(pk=run.pk).update(name="Renamed since")
    after = signed_in.get(path).content.decode()
    assert "Renamed since" in after
    assert f"run={other.pk}" in after
    assert f"run={other.pk}" not in before


def test_cards_come_anew_until_their_intervals_are_made(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def timed(trial: Trial) -> Result:
        late = 400.0 + 10 * int(key(trial).rpartition("_")[2]) * side(trial) + trial.repeat
        return Result("passed", "", {"response_latency_ms": late})

    run = finished_run(timed, scenarios=30, repeats=1)
    monkeypatch.setattr(intervals, "QUICK_TRIALS", 0)  # as if it were large
    asks, address = 'hx-trigger="every 5s"', f"/compare/?run={run.pk}"
    polling = {"HX-Request": "true", "HX-Target": "cards"}
    page = signed_in.get(address).content.decode()
    assert "are being computed" in page
    assert asks in page
    waiting = signed_in.get(address, headers=polling)
    assert "HX-Refresh" not in waiting.headers
    assert asks in waiting.content.decode()
    make_intervals(run_ids=[run.pk], version_ids=[])
    made = signed_in.get(address, headers=polling).content.decode()
    assert made.lstrip().startswith('<div id="cards"><div class="cards">')
    assert "being computed" not in made
    assert re.search(r"Δ\u202fp50 \+\d+ ms \[\+\d+ ms, \+\d+ ms\]", made)
    assert asks not in signed_in.get(address).content.decode()
