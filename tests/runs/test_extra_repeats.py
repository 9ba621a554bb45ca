"""More repeats for a comparison that cannot tell: exactly those, with what the runs before had."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from runs_app.models import Run
from runs_app.services.extra_repeats import start_extra_repeats
from runs_app.services.runs import NotPossible
from scenarios_app.services.applications import import_applications
from scenarios_app.spec.errors import SpecError
from tests.pages.comparing import finished_run, same, versions
from tests.runs.builders import APPLICATION, make_configuration, scenario

pytestmark = pytest.mark.django_db


def started(run: Run, repeats_of: dict[str, int]) -> Run:
    chosen = [entry.configuration_version for entry in run.configurations.all()]
    return start_extra_repeats(runs=[run], repeats_of=repeats_of, configuration_versions=chosen)


def test_each_scenario_gets_its_own_number_of_repeats_on_both_sides() -> None:
    run = finished_run(same(), scenarios=4, repeats=2, mode="text", concurrency=3)
    more = started(run, {"case_3": 4, "case_1": 2})
    counted = Counter(
        more.trials.values_list("scenario_version__scenario__key", "configuration_version__number").order_by()
    )
    assert counted == {("case_1", 1): 2, ("case_1", 2): 2, ("case_3", 1): 4, ("case_3", 2): 4}
    assert (more.mode, more.concurrency, more.suite) == ("text", 3, None)
    assert more.seed != run.seed
    assert str(more) == f"Run {run.pk}: more repeats of 2 scenarios"


def test_many_repeats_of_one_scenario_do_not_count_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    run = finished_run(same(), scenarios=4, repeats=2)
    monkeypatch.setattr("runs_app.services.runs.MOST_TRIALS", 30)
    assert started(run, {"case_1": 12, "case_2": 1, "case_3": 1, "case_4": 1}).trials.count() == 30
    with pytest.raises(SpecError, match="32 trials; a run has at most 30"):
        started(run, {"case_1": 13, "case_2": 1, "case_3": 1, "case_4": 1})


def test_the_scenarios_are_those_of_the_run_and_not_what_became_of_them() -> None:
    run = finished_run(same(), scenarios=[scenario("case_1")])
    before = run.scenarios.get().scenario_version_id
    finished_run(same(), scenarios=[scenario("case_1", input={"text": "Another sentence."})], configurations=versions())
    assert started(run, {"case_1": 2}).scenarios.get().scenario_version_id == before


def test_runs_that_differ_in_what_they_hand_on_are_refused() -> None:
    first, second = versions(mode="audio")
    runs = [
        finished_run(same(), configurations=[first], real_time=True),
        finished_run(same(), configurations=[second], real_time=False),
    ]
    with pytest.raises(NotPossible, match="differ in real time"):
        start_extra_repeats(runs=runs, repeats_of={"case_1": 1}, configuration_versions=[first, second])
    assert Run.objects.count() == 2


def test_an_application_that_has_changed_since_is_refused_and_nothing_is_started() -> None:
    run = finished_run(same())
    import_applications(data=json.dumps([{**APPLICATION, "facts": {"opens": "18:00"}}]).encode())
    with pytest.raises(NotPossible, match=r"ran with Trattoria@1 and would now run with Trattoria@2"):
        started(run, {"case_1": 1})
    assert Run.objects.count() == 1


def test_what_the_runs_do_not_hold_is_named() -> None:
    run = finished_run(same())
    with pytest.raises(NotPossible, match="None of the runs holds nowhere"):
        started(run, {"nowhere": 1})
    with pytest.raises(NotPossible, match="No repeat of any scenario"):
        started(run, {})
    stranger = make_configuration("Stranger")
    with pytest.raises(NotPossible, match="None of the runs holds Stranger@1"):
        start_extra_repeats(runs=[run], repeats_of={"case_1": 1}, configuration_versions=[stranger])
