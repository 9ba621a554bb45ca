"""Suites that follow a rule: who is in them, why, and what happens as tags change."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs_app.models import Run
from runs_app.services.runs import start_run
from scenarios_app.models import Scenario, Suite
from scenarios_app.services import (
    add_to_suite,
    archive,
    bring_back,
    import_scenarios,
    remove_from_suite,
    save_scenario,
    save_suite_rule,
    suite_members,
)
from scenarios_app.spec.errors import SpecError
from tests.support import make_configuration, make_scenario, make_suite, scenario_file, scenario_json

pytestmark = pytest.mark.django_db


def why(suite: Suite) -> list[tuple[str, str]]:
    words = {(True, False): "hand", (False, True): "rule", (True, True): "both"}
    return [(one.key, words[one.by_hand, one.by_rule]) for one in suite_members(suite)]  # type: ignore[attr-defined]


def tagged(key: str, *tags: str) -> Scenario:
    return make_scenario(key, tags=list(tags)).scenario


def retagged(key: str, *tags: str) -> None:
    save_scenario(scenario=Scenario.objects.get(key=key), content=scenario_json(key, tags=list(tags)))


def test_a_rule_takes_what_has_all_of_its_tags_and_none_of_the_others() -> None:
    suite = make_suite("night", [tagged("by_hand", "slow"), tagged("both", "Booking")])
    tagged("in", "booking", "plain")
    tagged("out", "booking", "slow")
    tagged("like", "bookings")
    save_suite_rule(suite=suite, rule={"all": ["BOOKING"], "none": ["slow"]})
    assert why(suite) == [("by_hand", "hand"), ("both", "both"), ("in", "rule")]


def test_members_come_and_go_with_their_tags() -> None:
    suite = make_suite("night")
    save_suite_rule(suite=suite, rule={"all": ["booking"]})
    tagged("made", "booking")
    tagged("later", "other")
    assert why(suite) == [("made", "rule")]
    retagged("later", "booking")
    retagged("made", "other")
    assert why(suite) == [("later", "rule")]
    import_scenarios(data=scenario_file([scenario_json("sent", tags=["booking"])]), suite_name="elsewhere")
    assert why(suite) == [("later", "rule"), ("sent", "rule")]


def test_archived_scenarios_leave_the_rule_and_come_back() -> None:
    suite = make_suite("night", [tagged("hand", "booking")])
    save_suite_rule(suite=suite, rule={"all": ["booking"]})
    other = tagged("other", "booking")
    archive(things=[other, Scenario.objects.get(key="hand")])
    assert why(suite) == [("hand", "hand")]
    bring_back(things=[other])
    assert why(suite) == [("hand", "hand"), ("other", "rule")]


def test_without_its_rule_a_suite_keeps_what_was_put_in_by_hand() -> None:
    suite = make_suite("night")
    save_suite_rule(suite=suite, rule={"all": ["booking"]})
    kept = tagged("kept", "booking")
    tagged("goes", "booking")
    add_to_suite(suite=suite, scenarios=[kept])
    assert not remove_from_suite(suite=suite, scenario=Scenario.objects.get(key="goes"))
    save_suite_rule(suite=suite, rule={})
    assert why(suite) == [("kept", "hand")]


def test_an_import_into_the_suite_makes_its_scenarios_members_by_hand() -> None:
    suite = make_suite("night")
    save_suite_rule(suite=suite, rule={"all": ["booking"]})
    tagged("there", "booking")
    file = scenario_file([scenario_json("there", tags=["booking"]), scenario_json("fresh", tags=["x"])])
    import_scenarios(data=file, suite_name="night")
    assert why(suite) == [("there", "both"), ("fresh", "hand")]


def test_a_tag_that_is_wanted_and_forbidden_is_refused() -> None:
    suite = make_suite("night")
    with pytest.raises(SpecError, match=r"none: .*Booking.*must have"):
        save_suite_rule(suite=suite, rule={"all": ["booking"], "none": ["Booking"]})
    suite.refresh_from_db()
    assert suite.rule == {}


def test_a_run_takes_the_members_that_the_suite_has_as_it_starts() -> None:
    suite = make_suite("night")
    save_suite_rule(suite=suite, rule={"all": ["booking"]})
    tagged("first", "booking")
    run = start_run(suite=suite, configuration_versions=[make_configuration()], repeats=1, concurrency=1)
    tagged("second", "booking")
    retagged("first", "other")
    used = Run.objects.get(pk=run.pk).scenarios.values_list("scenario_version__scenario__key", flat=True)
    assert list(used) == ["first"]
    assert why(suite) == [("second", "rule")]


def test_saving_asks_no_more_as_rule_suites_grow(django_assert_max_num_queries: Any) -> None:
    suite = make_suite("night")
    save_suite_rule(suite=suite, rule={"all": ["booking"]})
    import_scenarios(
        data=scenario_file([scenario_json(f"case_{n}", tags=["booking"]) for n in range(60)]), suite_name="all"
    )
    with django_assert_max_num_queries(16):
        retagged("case_7", "other")
    assert len(why(suite)) == 59


def test_the_page_sets_the_rule_and_says_why_each_is_there(browser: Client) -> None:
    make_suite("night", [tagged("hand", "x")])
    tagged("ruled", "booking")
    browser.post("/suites/night/", {"action": "rule", "all": "booking, ", "none": "slow"})
    assert Suite.objects.get().rule == {"all": ["booking"], "none": ["slow"]}
    page = browser.get("/suites/night/").content.decode()
    assert page.count(">by hand</td>") == 1
    assert page.count(">by the rule</td>") == 1
    response = browser.post("/suites/night/", {"action": "remove", "key": "ruled"}, follow=True)
    assert "ruled stays: the suite" in response.content.decode()
    refused = browser.post("/suites/night/", {"action": "rule", "all": "a", "none": "A"})
    assert "Nothing was changed" in refused.content.decode()
    assert Suite.objects.get().rule == {"all": ["booking"], "none": ["slow"]}
