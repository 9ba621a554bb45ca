"""Fix it here: a prompt against a failure and its guards, side by side, kept or thrown away whole."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from runs_app.fix_page import progress_of
from runs_app.guards import guards_of
from runs_app.models import Fix, Run, RunStatus, Trial
from runs_app.services.fixing import draft_of, keep_fix, start_fix
from runs_app.services.runs import NotPossible
from runs_app.services.temporary import throw_away
from scenarios_app.models import Configuration, ConfigurationVersion
from scenarios_app.services import ChangedMeanwhile, find_configuration, save_configuration
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.factors import prompt_in, with_prompt
from tests.runs.builders import configuration, make_run, scenario
from tests.runs.failing import NEW, OLD, failed_trial, play
from tests.support import make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice(db: None) -> User:
    return make_user("alice")


def started(trial: Trial, user: User, **more: Any) -> Fix:
    guards = [guard.version for guard in guards_of(trial)][:2]
    return start_fix(**{"trial": trial, "prompt": NEW, "guards": guards, "user": user, **more})


def test_guards_pass_every_time_in_their_newest_run_with_this_very_version(alice: User) -> None:
    trial = failed_trial()
    assert [guard.version.scenario.key for guard in guards_of(trial)] == ["case_2", "case_3", "case_4"]
    later = make_run([scenario("case_3"), scenario("case_4")], configurations=[trial.configuration_version], repeats=2)
    play(later, failing={("case_3", OLD)})
    assert [guard.version.scenario.key for guard in guards_of(trial)] == ["case_2", "case_4"]


def test_both_prompts_meet_the_same_scenarios_with_the_same_seeds(alice: User) -> None:
    trial = failed_trial()
    fix = started(trial, alice, repeats=3)
    seeds: dict[str, set[tuple[str, int, int]]] = {OLD: set(), NEW: set()}
    for one in fix.run.trials.with_versions():
        place = (one.scenario_version.scenario.key, one.repeat, one.seed)
        seeds[prompt_in(one.configuration_version.content)].add(place)
    assert seeds[OLD] == seeds[NEW]
    assert sorted(key for key, *_ in seeds[OLD]) == ["case_1"] * 3 + ["case_2", "case_3"]
    assert ("case_1", trial.repeat, trial.seed) in seeds[NEW]


def test_before_and_after_are_told_as_they_come_and_summed_up_when_whole(alice: User) -> None:
    fix = started(failed_trial(), alice, repeats=2)
    assert progress_of(fix).verdict == ""
    play(fix.run, failing={("case_1", OLD), ("case_3", NEW)})
    fix.refresh_from_db()
    progress = progress_of(fix)
    assert [(row.scenario, row.before.passed, row.after.passed, row.word) for row in progress.rows] == [
        ("case_1", 0, 2, "better"),
        ("case_2", 1, 1, "same"),
        ("case_3", 1, 0, "worse"),
    ]
    assert progress.verdict == "It passes more often, but case_3 gets worse."


def test_a_kept_prompt_is_the_newest_version_and_its_run_counts_from_then_on(alice: User) -> None:
    trial = failed_trial()
    fix = started(trial, alice)
    assert not Run.objects.filter(pk=fix.run_id).exists()
    play(fix.run)
    version = keep_fix(fix=fix, user=alice, note="Reads dates back", expected_number=1)
    assert str(version) == "Front desk@2"
    assert version.note == "Reads dates back"
    assert version.content == with_prompt(trial.configuration_version.content, NEW)
    run = Run.objects.get(pk=fix.run_id)
    assert run.status == RunStatus.DONE
    assert [str(entry.configuration_version) for entry in run.configurations.all()] == ["Front desk@1", "Front desk@2"]
    assert Trial.objects.counted().filter(configuration_version=version).count() == 7
    assert Configuration.everything.count() == 1
    assert Fix.objects.get().kept_as == version
    with pytest.raises(NotPossible, match="already"):
        keep_fix(fix=fix, user=alice)


def test_a_prompt_that_session_update_overrides_is_changed_where_it_counts() -> None:
    content = configuration(instructions="Not read.", session_update={"instructions": OLD, "temperature": 0.8})
    changed = with_prompt(content, NEW)
    assert prompt_in(changed) == NEW
    assert changed == {**content, "session_update": {"instructions": NEW, "temperature": 0.8}}


def test_what_was_thrown_away_leaves_nothing(alice: User) -> None:
    trial = failed_trial()
    before = (Run.everything.count(), Trial.objects.count(), ConfigurationVersion.objects.count())
    fix = started(trial, alice)
    play(fix.run)
    throw_away(run=fix.run)
    assert (Run.everything.count(), Trial.objects.count(), ConfigurationVersion.objects.count()) == before
    assert not Fix.objects.exists()
    assert guards_of(trial)


def test_what_was_thrown_away_meanwhile_is_not_kept(alice: User) -> None:
    fix = started(failed_trial(), alice)
    throw_away(run=fix.run)
    with pytest.raises(NotPossible, match="thrown away meanwhile"):
        keep_fix(fix=fix, user=alice)
    assert not Run.everything.fixes_of(alice).exists()
    Run.everything.filter(pk=fix.run_id).delete()
    with pytest.raises(NotPossible, match="thrown away meanwhile"):
        keep_fix(fix=fix, user=alice)
    assert progress_of(fix).verdict == ""


def test_the_next_text_takes_the_place_of_the_last(alice: User) -> None:
    trial = failed_trial()
    first = started(trial, alice)
    play(first.run)
    theirs = started(trial, make_user("bob"))
    second = started(trial, alice, prompt=f"{NEW} Twice.")
    assert set(Fix.objects.all()) == {theirs, second}


def test_a_fix_under_way_is_not_kept_and_a_newer_version_is_told_once(alice: User) -> None:
    trial = failed_trial()
    fix = started(trial, alice)
    with pytest.raises(NotPossible, match="not over"):
        keep_fix(fix=fix, user=alice, expected_number=1)
    play(fix.run)
    content = {**trial.configuration_version.content, "voice": "cedar"}
    save_configuration(configuration=find_configuration("Front desk"), content=content)
    with pytest.raises(ChangedMeanwhile):
        keep_fix(fix=fix, user=alice, expected_number=1)
    assert draft_of(fix.run) is not None
    assert str(keep_fix(fix=fix, user=alice, expected_number=2)) == "Front desk@3"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"prompt": OLD}, r"prompt: is what Front desk@1 has already"),
        ({"repeats": 0}, r"repeats: must be from 1 to 20"),
        ({"repeats": 21}, r"repeats: must be from 1 to 20"),
    ],
)
def test_what_would_tell_nothing_is_refused(alice: User, more: dict[str, Any], said: str) -> None:
    trial = failed_trial()
    with pytest.raises(SpecError, match=said):
        started(trial, alice, **more)
    assert Configuration.everything.count() == 1
    passed = trial.run.trials.with_versions().filter(outcome="passed")[0]
    with pytest.raises(NotPossible, match="did not fail"):
        start_fix(trial=passed, prompt=NEW, guards=[], user=alice)
