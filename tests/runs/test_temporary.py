"""What is only tried out: the engine plays it, its maker sees it, nothing counts it, and nothing of it stays."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db.models.signals import post_save
from django.test import Client
from django.utils import timezone

from runs_app.models import Run, RunStatus, Trial
from runs_app.run_rows import matching
from runs_app.services.claims import claim_trial
from runs_app.services.results import finish_claimed
from runs_app.services.sweeping import sweep
from runs_app.services.temporary import throw_away
from runs_app.services.trying import try_scenario
from scenarios_app.models import Configuration, Scenario, ScenarioVersion
from scenarios_app.services import create_scenario
from scenarios_app.services.temporary import make_temporary_configuration
from scenarios_app.spec.errors import SpecError
from tests.runs.builders import configuration, make_configuration, make_run, scenario
from tests.support import make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice(db: None) -> User:
    return make_user("alice")


def tried(user: User, **more: Any) -> Run:
    return try_scenario(content=scenario("late_guest", **more), configuration_version=make_configuration(), user=user)


def ended(run: Run) -> Trial:
    claim = claim_trial(run_id=run.pk)
    assert claim is not None
    finish_claimed(claim=claim, outcome="failed", reason="It was wrong.")
    return Trial.objects.get(pk=claim.trial_id)


def test_the_engine_plays_a_try_as_any_other_run(alice: User) -> None:
    run = tried(alice)
    trial = ended(run)
    assert trial.scenario_version.content["input"]["text"].endswith("(late_guest).")
    assert str(trial.scenario_version) == "late_guest (draft)"
    assert Run.everything.get(pk=run.pk).status == RunStatus.DONE


def test_nothing_that_people_look_at_finds_a_try(alice: User) -> None:
    run = tried(alice)
    trial = ended(run)
    assert not Run.objects.exists()
    assert not matching("", "").exists()
    assert not Trial.objects.counted().exists()
    assert not Scenario.objects.exists()
    assert not Scenario.objects.archived().exists()
    assert Configuration.objects.count() == 1
    make_temporary_configuration(content=configuration("Front desk", instructions="Other."), user=alice)
    assert Configuration.objects.count() == 1
    assert list(Trial.objects.seen_by(alice)) == [trial]
    assert not Trial.objects.seen_by(make_user("bob")).exists()


def test_pages_of_a_try_are_nobody_s(alice: User) -> None:
    run = tried(alice)
    trial = ended(run)
    client = Client()
    client.force_login(alice)
    for url in (
        f"/runs/{run.pk}/",
        f"/trials/{trial.pk}/",
        f"/trials/{trial.pk}/trial.json",
        f"/problems/?run={run.pk}",
    ):
        assert client.get(url).status_code == 404, url
    for url in ("/", "/runs/", "/review/", "/playlist/", "/scenarios/", "/configurations/", "/archive/", "/runs/new/"):
        page = client.get(url)
        assert page.status_code == 200, url
        assert "late_guest" not in page.content.decode(), url


def test_operators_do_not_find_a_try_in_the_tables_either(alice: User) -> None:
    ended(tried(alice))
    make_temporary_configuration(content=configuration("Front desk", instructions="Other."), user=alice)
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    for table, rows in (
        ("runs_app/run", 0),
        ("runs_app/trial", 0),
        ("runs_app/grading", 0),
        ("scenarios_app/scenario", 0),
        ("scenarios_app/scenarioversion", 0),
        ("scenarios_app/configuration", 1),
        ("scenarios_app/configurationversion", 1),
    ):
        page = client.get(f"/admin/{table}/")
        assert page.context["cl"].result_count == rows, table


def test_an_id_that_is_tried_can_still_be_taken(alice: User) -> None:
    tried(alice)
    create_scenario(content=scenario("late_guest"))
    tried(alice)
    assert Scenario.objects.count() == 1


def test_what_has_no_name_yet_can_be_tried_and_what_is_wrong_cannot(alice: User) -> None:
    version = make_configuration()
    content = {name: value for name, value in scenario().items() if name not in ("id", "title")}
    run = try_scenario(content=content, configuration_version=version, user=alice)
    assert run.name == "Try of draft"
    with pytest.raises(SpecError, match="interaction"):
        try_scenario(content={**content, "interaction": "telepathy"}, configuration_version=version, user=alice)
    with pytest.raises(SpecError, match=r"draft: .*there is no application"):
        try_scenario(
            content={**content, "application": {"ref": {"name": "Nowhere"}}}, configuration_version=version, user=alice
        )
    assert Scenario.everything.count() == 1


def test_the_next_try_takes_the_place_of_the_last_and_leaves_those_of_others(alice: User) -> None:
    bob = make_user("bob")
    theirs, first = tried(bob), tried(alice)
    ended(first)
    second = tried(alice)
    assert set(Run.everything.all()) == {theirs, second}
    assert ScenarioVersion.objects.count() == 2


def test_a_thrown_away_run_goes_with_its_files_as_soon_as_nobody_works_on_it(alice: User) -> None:
    run = tried(alice)
    claim = claim_trial(run_id=run.pk)
    assert claim is not None
    name = default_storage.save(f"trials/{claim.trial_id}/1/audio.wav", ContentFile(b"RIFF"))
    throw_away(run=run)
    sweep()
    assert Run.everything.filter(pk=run.pk).exists()
    assert not Run.everything.tries_of(alice).exists()
    finish_claimed(claim=claim, outcome="cancelled")
    sweep()
    assert not Run.everything.exists()
    assert not Trial.objects.exists()
    assert not Scenario.everything.exists()
    assert not default_storage.exists(name)


def test_what_was_forgotten_goes_when_its_time_is_over_and_ordinary_runs_never_do(alice: User) -> None:
    run, ordinary = tried(alice), make_run()
    ended(run)
    sweep()
    assert Run.everything.count() == 2
    Run.everything.filter(pk=run.pk).update(temporary_until=timezone.now() - timedelta(seconds=1))
    sweep()
    assert list(Run.everything.all()) == [ordinary]
    throw_away(run=ordinary)
    assert Run.objects.get(pk=ordinary.pk).cancel_requested_at is None


def test_what_two_throw_away_at_once_goes_once(alice: User) -> None:
    run = tried(alice)
    ended(run)
    throw_away(run=run)
    throw_away(run=run)
    assert not Run.everything.exists()


def test_a_try_that_began_meanwhile_is_not_thrown_away_by_an_earlier_one(alice: User) -> None:
    later: list[int] = []

    def begin_another(instance: Run, created: bool, **_: Any) -> None:
        if created and not later:
            later.append(0)
            later[0] = make_run().pk
            Run.everything.filter(pk=later[0]).update(temporary_until=instance.temporary_until, created_by=alice)

    post_save.connect(begin_another, sender=Run)
    try:
        tried(alice)
    finally:
        post_save.disconnect(begin_another, sender=Run)
    assert Run.everything.tries_of(alice).filter(pk=later[0]).exists()
