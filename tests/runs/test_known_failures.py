"""Known failures: what a mark covers, when it stops to count, and that nothing of it is lost."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
import time_machine
from django.contrib.auth.models import User

from runs_app.known import Marks, open_marks, passing_in, passing_now, with_marks
from runs_app.models import KnownFailure, Run, Trial
from runs_app.models.known_failures import today
from runs_app.problems import problems_between, problems_of, trials_of_kind
from runs_app.services.baselines import promote_baseline
from runs_app.services.known_failures import change_known, lift_known, mark_known
from scenarios_app.services.scenarios import find_scenario
from scenarios_app.spec.errors import SpecError
from tests.pages.comparing import Result, finish, key, side, versions
from tests.runs.builders import make_configuration, make_run
from tests.support import make_user

pytestmark = pytest.mark.django_db

EARLY = "tool_contract:create_reservation:date:one day early"
SILENT = "assistant_responded:::"


def failed_run() -> Run:
    """Two scenarios and two versions; `case_1` fails a day early everywhere, `case_2` says nothing under version 2."""
    run = make_run(2, configurations=versions(), repeats=2)
    finish(run, lambda trial: Result("failed" if key(trial) == "case_1" or side(trial) == 2 else "passed"))
    run.trials.filter(outcome="failed", scenario_version__scenario__key="case_1").update(failure_kind=EARLY)
    run.trials.filter(outcome="failed", scenario_version__scenario__key="case_2").update(failure_kind=SILENT)
    return run


def in_days(days: int) -> date:
    return today() + timedelta(days=days)


def mark(name: str = "case_1", /, **more: object) -> KnownFailure:
    given = {"scenarios": [find_scenario(name)], "ticket": "BUG-7", "expires_on": in_days(10), **more}
    [made] = mark_known(**given)  # type: ignore[arg-type]
    return made


def one(run: Run, name: str, number: int) -> Trial:
    found = run.trials.with_versions().filter(scenario_version__scenario__key=name, repeat=1)
    return found.get(configuration_version__number=number)


def marked(trial: Trial, marks: Marks) -> KnownFailure | None:
    return with_marks([trial], marks)[0].mark


def test_failures_alike_are_one_problem_and_the_trials_of_each_are_listed():
    run = failed_run()
    found = problems_of([run], open_marks())
    assert found.in_words == "6 failures = 2 problems"
    assert [(problem.words, problem.trials, problem.scenarios) for problem in found.listed] == [
        ("create_reservation date: one day early", 4, ["case_1"]),
        ("the agent said nothing", 2, ["case_2"]),
    ]
    assert {key(trial) for trial in trials_of_kind([run], EARLY)} == {"case_1"}
    assert trials_of_kind([run], EARLY, scenario="case_2").count() == 0
    assert trials_of_kind([run]).count() == 6


def test_a_mark_makes_its_scenario_known_with_every_configuration_and_in_any_way():
    run = failed_run()
    bug = mark()
    found = problems_of([run], open_marks())
    assert (found.new, found.known) == (2, 4)
    assert found.listed[0].words == "the agent said nothing"  # what is new comes first
    assert found.listed[1].marks == [bug]
    assert marked(one(run, "case_1", 1), open_marks()) == bug
    assert marked(one(run, "case_2", 2), open_marks()) is None


def test_a_mark_for_one_kind_leaves_another_failure_of_the_scenario_new():
    run = failed_run()
    mark(kind=SILENT)
    assert problems_of([run], open_marks()).known == 0
    mark(kind=EARLY)
    assert problems_of([run], open_marks()).known == 4


def test_a_mark_for_one_configuration_covers_all_its_versions_and_no_other_agent():
    run = failed_run()
    other = make_configuration("Other desk")
    bug = mark(configuration=one(run, "case_1", 1).configuration_version.configuration)
    assert marked(one(run, "case_1", 2), open_marks()) == bug
    with_other = finish(make_run(1, configurations=[other]), lambda trial: Result("failed"))
    assert problems_of([with_other], open_marks()).known == 0


def test_after_its_last_day_a_mark_counts_no_more_and_is_told_as_expired():
    run = failed_run()
    with time_machine.travel("2027-05-01T12:00:00Z", tick=False):
        bug = mark(expires_on=date(2027, 5, 15))
    with time_machine.travel("2027-05-15T20:00:00Z", tick=False):
        assert problems_of([run], open_marks()).known == 4
    with time_machine.travel("2027-05-16T06:00:00Z", tick=False):
        found = problems_of([run], open_marks())
        assert found.known == 0
        assert found.listed[0].expired == [bug]
        [trial] = with_marks([one(run, "case_1", 1)], open_marks())
        assert (trial.mark, trial.expired_mark) == (None, bug)


def test_nothing_of_a_mark_is_lost():
    failed_run()
    alice, bob = make_user("alice"), make_user("bob")
    bug = mark(user=alice, note="only on weekends")
    change_known(mark=bug, ticket="BUG-8", note="", expires_on=in_days(20), user=bob)
    lift_known(mark=bug, reason="mended in prompt 3", user=alice)
    told = [(change.action, change.created_by, change.words) for change in bug.changes.all()]
    assert told == [
        ("marked", alice, f"BUG-7, until {in_days(10)}: only on weekends"),
        ("changed", bob, f"ticket BUG-7 → BUG-8; expires {in_days(10)} → {in_days(20)}; note only on weekends → none"),
        ("lifted", alice, "mended in prompt 3"),
    ]
    assert KnownFailure.objects.count() == 1
    assert not open_marks()
    User.objects.filter(pk=alice.pk).delete()
    assert bug.changes.count() == 3


def test_saving_a_mark_as_it_is_leaves_no_line():
    failed_run()
    bug = mark()
    change_known(mark=bug, ticket=bug.ticket, note=bug.note, expires_on=bug.expires_on)
    assert bug.changes.count() == 1


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"ticket": "  "}, "ticket"),
        ({"ticket": "x" * 301}, "ticket"),
        ({"expires_on": date(2020, 1, 1)}, "expires_on"),
        ({"expires_on": date(2099, 1, 1)}, "expires_on"),
        ({"note": "x" * 1001}, "note"),
    ],
)
def test_what_cannot_be_marked_is_refused_by_its_field(given: dict[str, object], path: str):
    failed_run()
    with pytest.raises(SpecError) as refused:
        mark(**given)
    assert [problem.path for problem in refused.value.problems] == [path]
    assert not KnownFailure.objects.exists()


def test_the_same_is_not_marked_twice_until_it_is_lifted():
    failed_run()
    bug = mark()
    with pytest.raises(SpecError, match="marked already"):
        mark()
    lift_known(mark=bug)
    assert mark() != bug
    with pytest.raises(SpecError, match="was lifted"):
        lift_known(mark=bug)


def test_a_known_failure_that_passes_every_time_in_the_newest_run_is_announced():
    failed_run()
    bug = mark()
    assert passing_now(open_marks()) == []
    again = finish(make_run(2, configurations=versions(1), repeats=2), lambda trial: Result("passed"))
    [found] = passing_now(open_marks())
    assert (found.mark, found.run_id, found.passed) == (bug, again.pk, 2)
    assert [one.mark for one in passing_in(again, open_marks())] == [bug]
    flaky = make_run(2, configurations=versions(1), repeats=2)
    finish(flaky, lambda trial: Result("failed" if trial.repeat == 2 else "passed"))
    assert passing_now(open_marks()) == []


def test_a_pass_from_before_the_mark_announces_nothing():
    finish(make_run(1), lambda trial: Result("passed"))
    mark()
    assert passing_now(open_marks()) == []


def test_problems_of_two_sides_are_new_still_there_or_gone():
    run = failed_run()
    [first, second] = [entry.configuration_version_id for entry in run.configurations.order_by("position")]
    before = problems_of([run], open_marks(), versions=[first])
    now = problems_of([run], open_marks(), versions=[second])
    told = [(turned.change, turned.key) for turned in problems_between(before, now)]
    assert told == [("new", SILENT), ("still there", EARLY)]
    assert [(turned.change, turned.key) for turned in problems_between(now, before)] == [
        ("still there", EARLY),
        ("gone", SILENT),
    ]


def test_what_a_database_cannot_hold_is_not_in_a_reason_or_a_note():
    """PostgreSQL takes no NUL."""
    run = failed_run()
    bug = mark()
    lift_known(mark=bug, reason="men\0ded")
    assert bug.changes.get(action="lifted").words == "men\ufffdded"
    version = run.configurations.all()[0].configuration_version
    assert run.suite is not None
    assert promote_baseline(suite=run.suite, configuration_version=version, note="fa\0st").note == "fa\ufffdst"
