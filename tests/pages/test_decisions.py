"""Decisions: a comparison frozen as it was seen, with who decided what on it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from runs_app.models import Baseline, Decision, Run
from runs_app.plans import Plan
from runs_app.services.baselines import baseline_of, promote_baseline, run_with
from runs_app.services.runs import start_run
from scenarios_app.models import ConfigurationVersion, Suite
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.hashing import content_hash
from tests.pages.comparing import Result, finish, finished_run, same, side, versions
from tests.runs.builders import make_configuration, make_suite

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    """Version 2 passes all, version 1 nothing."""
    return finished_run(
        lambda trial: Result("passed" if side(trial) == 2 else "failed", "", {"semantic_quality": 0.25 * side(trial)}),
        scenarios=6,
        repeats=2,
        plan=Plan(("Corrections are understood.",), ("pass_rate",), {"pass_rate": 0.05}),
    )


def address(run: Run, **more: str) -> str:
    return f"{reverse('decide')}?{urlencode({'run': run.pk, 'a': 'Front desk@1', 'b': 'Front desk@2', **more})}"


def decide(client: Client, run: Run, **data: Any) -> Any:
    shown = client.get(address(run))
    given = {"seen": shown.context["seen"], "choice": "adopt", "note": "It hears corrections.", **data}
    return client.post(address(run), given, follow=True)


def test_the_page_shows_what_will_be_frozen_and_what_was_to_be_found_out(signed_in: Client, run: Run):
    page = signed_in.get(address(run, q="case_1", show="better")).content.decode()
    assert "Corrections are understood." in page
    assert "Front desk@2</bdi> against <bdi>Front desk@1" in page
    assert "6 of 6 scenarios paired" in page
    assert "The 6 scenarios" in page  # whatever was filtered


def test_a_decision_keeps_the_comparison_with_reviewer_and_note_at_its_own_address(signed_in: Client, run: Run):
    answer = decide(signed_in, run, promote="on")
    decision = Decision.objects.get()
    assert answer.redirect_chain[-1][0] == decision.get_absolute_url()
    page = answer.content.decode()
    for said in ("Adopt it", "alice", "It hears corrections.", "Corrections are understood.", decision.document_hash):
        assert said in page
    assert "became the baseline of" in page
    assert content_hash(decision.document) == decision.document_hash
    assert list(decision.runs.all()) == [run]
    baseline = baseline_of(run.suite)
    assert baseline is not None
    assert (str(baseline.configuration_version), baseline.run, baseline.decision) == ("Front desk@2", run, decision)


def test_what_is_frozen_stays_when_the_trials_are_graded_otherwise(signed_in: Client, run: Run):
    decide(signed_in, run)
    decision = Decision.objects.get()
    before = signed_in.get(decision.get_absolute_url()).context["frozen"]
    run.trials.update(outcome="failed", semantic_quality=0.0)
    assert signed_in.get(decision.get_absolute_url()).context["frozen"] == before
    rate = next(row for row in before.rows if row.metric == "pass_rate")
    assert (rate.a, rate.b) != ("", "")
    document = signed_in.get(reverse("decision-json", args=[decision.pk])).json()
    assert document["comparison"] == decision.document
    assert (document["reviewer"], document["choice"]) == ("alice", "adopt")


def test_a_comparison_that_changed_meanwhile_is_not_decided_on(signed_in: Client, run: Run):
    seen = signed_in.get(address(run)).context["seen"]
    run.trials.filter(repeat=1).update(outcome="failed")
    answer = signed_in.post(address(run), {"seen": seen, "choice": "adopt", "note": "x"})
    assert "Nothing was decided: look at it again." in answer.content.decode()
    assert not Decision.objects.exists()


def test_a_record_never_changes_and_says_so_when_somebody_changed_the_database(signed_in: Client, run: Run):
    decide(signed_in, run, choice="reject")
    decision = Decision.objects.get()
    decision.note = "Other"
    with pytest.raises(TypeError, match="never changes"):
        decision.save()
    assert "not the one that was signed" not in signed_in.get(decision.get_absolute_url()).content.decode()
    Decision.objects.update(document={**decision.document, "simulated": not decision.document["simulated"]})
    assert "not the one that was signed" in signed_in.get(decision.get_absolute_url()).content.decode()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"note": " "}, "note"),
        ({"choice": ""}, "choice"),
        ({"choice": "maybe"}, "choice"),
        ({"choice": "postpone", "promote": "on"}, "promote"),
    ],
)
def test_what_is_no_decision_is_refused_at_its_field(signed_in: Client, run: Run, data: dict[str, str], field: str):
    assert decide(signed_in, run, **data).context["form"].errors.keys() == {field}
    assert not Decision.objects.exists()
    assert not Baseline.objects.exists()


def test_keeping_the_baseline_can_pin_it(signed_in: Client, run: Run):
    decide(signed_in, run, choice="reject", promote="on")
    baseline = baseline_of(run.suite)
    assert baseline is not None
    assert str(baseline.configuration_version) == "Front desk@1"


def test_a_run_that_goes_on_and_one_configuration_alone_are_not_decided_on(signed_in: Client):
    make_run = finished_run(same(), configurations=versions(1))
    assert "nothing to decide on yet" in signed_in.get(f"{reverse('decide')}?run={make_run.pk}").content.decode()
    assert signed_in.get(f"{reverse('decide')}?run=999999").status_code == 404
    suite = make_suite(1)
    going = start_run(suite=suite, configuration_versions=versions(2), repeats=1, concurrency=1)
    assert "The run goes on." in signed_in.get(f"{reverse('decide')}?run={going.pk}").content.decode()


def test_decisions_are_listed_newest_first_by_suite(signed_in: Client, run: Run):
    assert "Nothing was decided yet" in signed_in.get(reverse("decisions")).content.decode()
    decide(signed_in, run, note="First.")
    decide(signed_in, run, note="Second.")
    page = signed_in.get(f"{reverse('decisions')}?suite={run.suite}").content.decode()
    assert page.index("Second.") < page.index("First.")
    assert "First." not in signed_in.get(f"{reverse('decisions')}?suite=other").content.decode()


def play(suite: Suite, agents: list[ConfigurationVersion]) -> Run:
    run = start_run(suite=suite, configuration_versions=agents, repeats=1, concurrency=1)
    return finish(run, same())


def test_a_baseline_s_trials_are_of_the_run_itself_or_of_the_newest_that_has_it():
    suite, (one, two) = make_suite(1), versions(2)
    first, both = play(suite, [one]), play(suite, [one, two])
    later = play(suite, [two])
    baseline = promote_baseline(suite=suite, configuration_version=one, run=first)
    assert baseline_of(suite) == baseline
    assert run_with(one, suite_id=suite.pk, run=both) == both
    assert run_with(one, suite_id=suite.pk, run=later) == both
    assert run_with(one, suite_id=suite.pk) == both
    assert baseline_of(None) is None
    again = promote_baseline(suite=suite, configuration_version=two)
    assert baseline_of(suite) == again
    assert suite.baselines.count() == 2


def test_a_baseline_that_the_run_did_not_have_is_refused():
    suite, (one, two) = make_suite(1), versions(2)
    run = play(suite, [one])
    with pytest.raises(SpecError, match="did not run"):
        promote_baseline(suite=suite, configuration_version=two, run=run)
    with pytest.raises(SpecError, match="is not a run of"):
        promote_baseline(suite=make_suite(1, name="other"), configuration_version=one, run=run)
    assert make_configuration("Other desk")
