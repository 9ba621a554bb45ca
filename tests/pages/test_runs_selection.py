"""What a run takes: a suite, tags, scenarios by hand, in the browser and by address."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from runs_app.models import Run
from runs_app.selection import Selection, as_it_was
from scenarios_app.models import Scenario, Suite
from scenarios_app.services import archive
from tests.grading import builders as evidence
from tests.pages.playing import begin, end, queries_of
from tests.pages.trials import record_trial
from tests.runs.builders import make_configuration, make_run, make_suite, scenario

pytestmark = pytest.mark.django_db
URL = "/runs/new/"


@pytest.fixture
def suites() -> tuple[Suite, Suite]:
    """Two suites of two; `booking` is carried by one of each, `Straße` by one alone."""
    make_configuration()
    morning = [scenario("m_book", tags=["Booking", "plain"]), scenario("m_ask", tags=["plain"])]
    evening = [scenario("e_book", tags=["booking"]), scenario("e_park", tags=["Straße"])]
    return make_suite(morning, name="morning"), make_suite(evening, name="evening")


def keys(selection: Selection) -> list[str]:
    return [version.scenario.key for version in selection.versions()]


def start(client: Client, **fields: Any) -> list[str]:
    given = {"configurations": ["Front desk@1"], "repeats": "1", "concurrency": "4", **fields}
    answer = client.post(URL, given)
    assert answer.status_code == 302, answer.context["form"].errors
    run = Run.objects.first()
    assert run is not None
    return list(run.scenarios.values_list("scenario_version__scenario__key", flat=True))


def test_tags_narrow_a_suite_and_without_one_take_all_that_carry_them(suites: tuple[Suite, Suite]) -> None:
    morning, _ = suites
    assert keys(Selection(morning)) == ["m_book", "m_ask"]
    assert keys(Selection(morning, ["BOOKING"])) == ["m_book"]
    assert keys(Selection(None, ["booking"])) == ["e_book", "m_book"]
    assert keys(Selection(None, ["booking", "strasse"])) == ["e_book", "e_park", "m_book"]
    assert keys(Selection(morning, ["Straße"])) == []


def test_what_is_picked_by_hand_comes_on_top_and_only_once(suites: tuple[Suite, Suite]) -> None:
    morning, _ = suites
    assert keys(Selection(morning, ["booking"], ["E_PARK", "m_book"])) == ["m_book", "e_park"]
    assert keys(Selection(picked=["m_ask"])) == ["m_ask"]
    archive(things=[Scenario.objects.get(key="m_ask")])
    assert keys(Selection(picked=["m_ask"])) == []


def test_the_form_starts_a_run_of_any_of_them(signed_in: Client, suites: tuple[Suite, Suite]) -> None:
    assert start(signed_in, suite="morning") == ["m_book", "m_ask"]
    assert start(signed_in, tags=["booking"]) == ["e_book", "m_book"]
    assert start(signed_in, scenarios=["e_park"]) == ["e_park"]
    assert start(signed_in, suite="evening", tags=["booking"], scenarios=["m_ask"]) == ["e_book", "m_ask"]
    assert [str(run.suite) for run in Run.objects.order_by("pk")] == ["morning", "None", "None", "evening"]


def test_the_page_offers_tags_and_scenarios_and_counts_what_is_chosen(signed_in: Client, suites: Any) -> None:
    query = urlencode(
        {"tags": ["Booking"], "scenarios": ["e_park"], "configurations": ["Front desk@1"], "repeats": 2}, doseq=True
    )
    answer = signed_in.get(f"{URL}?{query}")
    text = answer.content.decode()
    assert "<b>6</b> trials" in text
    assert 'name="tags" value="Booking" checked' in text.replace("booking", "Booking")
    assert 'name="scenarios" value="e_park" checked' in text
    assert '<details class="picks" open>' in text
    assert [pick.key for pick in answer.context["form"].picks] == ["e_park", "e_book", "m_ask", "m_book"]


def test_what_matches_nothing_is_refused_and_not_run(signed_in: Client, suites: Any) -> None:
    given = {"suite": "morning", "tags": ["Straße"], "configurations": ["Front desk@1"], "repeats": 1, "concurrency": 1}
    answer = signed_in.post(URL, given)
    assert answer.status_code == 200
    assert "has no scenarios that can be run" in answer.content.decode()
    assert not Run.objects.exists()


def test_run_again_takes_the_same_scenarios(signed_in: Client, suites: tuple[Suite, Suite]) -> None:
    for fields, again in [
        ({"suite": "morning"}, {"suite": "morning"}),
        ({"suite": "morning", "tags": ["booking"]}, {"scenarios": ["m_book"]}),
        ({"scenarios": ["e_park", "m_ask"]}, {"scenarios": ["e_park", "m_ask"]}),
    ]:
        taken = start(signed_in, **fields)
        run = Run.objects.first()
        assert run is not None
        assert as_it_was(run) == again
        form = signed_in.get(signed_in.get(run.get_absolute_url()).context["again_url"]).context["form"]
        assert start(signed_in, suite=form["suite"].value() or "", scenarios=form["scenarios"].value() or []) == taken


def test_a_long_list_is_cut_and_what_is_picked_stays_in_it(signed_in: Client, monkeypatch: Any, suites: Any) -> None:
    monkeypatch.setattr("runs_app.forms.MOST_PICKS", 2)
    form = signed_in.get(f"{URL}?scenarios=m_book").context["form"]
    assert [pick.key for pick in form.picks] == ["m_book", "e_book"]
    assert form.more_picks == 2


def test_more_scenarios_cost_no_more_queries(signed_in: Client, suites: Any) -> None:
    before = queries_of(signed_in, URL)
    make_suite([scenario(f"n{number}", tags=[f"tag {number}"]) for number in range(8)], name="more")
    assert queries_of(signed_in, URL) == before


def test_a_run_that_stopped_by_itself_says_why(signed_in: Client) -> None:
    run = make_run(4, stop_after_invalid=1, concurrency=1)
    end(begin(run), "invalid", stage="connect", reason="nobody listens")
    text = signed_in.get(run.get_absolute_url()).content.decode()
    assert "The endpoint is down: stopped after 1, 3 trials not spent" in text
    assert "stops after 1 invalid" in text


def test_a_whole_run_is_graded_again_from_its_page(signed_in: Client) -> None:
    run = make_run(1)
    path = f"/runs/{run.pk}/regrade/"
    assert signed_in.post(path).status_code == 409
    assert "Grade again" not in signed_in.get(run.get_absolute_url()).content.decode()
    record_trial(run, evidence.record())
    assert "Grade again" in signed_in.get(run.get_absolute_url()).content.decode()
    assert signed_in.get(path).status_code == 405
    answer = signed_in.post(path, follow=True)
    text = answer.content.decode()
    assert "1 conversation is graded again." in text
    assert "1 waiting for a verdict" in text
    run.refresh_from_db()
    assert run.status == "running"
