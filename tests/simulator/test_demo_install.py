"""What a fresh installation finds: the demo's suites, applications and configurations, once."""

from __future__ import annotations

import pytest

from evalsite import demo
from runs_app.services.snapshots import take_snapshot
from scenarios_app.models import Application, ConfigurationVersion, ScenarioVersion
from scenarios_app.services import find_configuration_version, find_suite, suite_members
from tests.simulator.demo import CONVERSATIONS, EIGHT, FULL

pytestmark = pytest.mark.django_db


def test_a_fresh_installation_has_both_suites_and_can_run_them() -> None:
    assert demo.install()
    first, full = (find_suite(name) for name in ("demo", "demo-full"))
    assert [one.key for one in suite_members(first)] == [one.id for one in EIGHT]
    assert [one.key for one in suite_members(full)] == [one.id for one in (*FULL, *CONVERSATIONS)]
    assert set(ScenarioVersion.objects.values_list("number", flat=True)) == {1}
    assert Application.objects.count() == 4
    names = ("faulty", "live", "live client", "slow")
    labels = ["Front desk@1", "Front desk@2", *(f"Front desk {name}@1" for name in names)]
    assert sorted(map(str, ConfigurationVersion.objects.all())) == sorted(labels)
    snapshot = take_snapshot(
        suite=full,
        scenarios=None,
        configurations=[find_configuration_version(label) for label in labels],
        faults={},
    )
    assert {chosen.application.application.name for chosen in snapshot.scenarios if chosen.application} == set(
        Application.objects.values_list("name", flat=True)
    )


def test_a_second_start_leaves_alone_what_people_have_changed() -> None:
    demo.install()
    find_suite("demo-full").delete()
    assert not demo.install()
    assert ScenarioVersion.objects.count() == len(FULL) + len(CONVERSATIONS)
