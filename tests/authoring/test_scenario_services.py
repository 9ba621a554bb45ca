from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from scenarios_app.models import Scenario, ScenarioVersion
from scenarios_app.services import (
    ChangedMeanwhile,
    NotStored,
    archive,
    bring_back,
    create_scenario,
    find_scenario,
    save_scenario,
    scenario_warnings,
)
from scenarios_app.services.scenarios import free_key
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.scenario import parse_scenario, unsupported_fields
from tests.support import make_application, make_scenario, scenario_json

pytestmark = pytest.mark.django_db


def test_a_new_scenario_has_version_1_with_everything_derived(alice: User) -> None:
    version = make_scenario("book_table", user=alice)
    assert (version.number, version.title, version.tags) == (1, "A table for three", ["booking", "plain"])
    assert version.content == scenario_json("book_table")
    assert version.schema_version == "1.0"
    assert version.created_by == alice
    assert find_scenario("BOOK_TABLE").latest == version


def test_an_id_that_differs_only_by_case_is_taken() -> None:
    make_scenario("book_table")
    with pytest.raises(SpecError) as caught:
        make_scenario("Book_Table")
    assert [(p.path, "book_table" in p.message) for p in caught.value.problems] == [("id", True)]
    assert Scenario.objects.count() == 1


def test_a_save_makes_the_next_version_and_keeps_the_old_one() -> None:
    first = make_scenario()
    saved = save_scenario(scenario=first.scenario, content=scenario_json(title="Four people"), note="one more guest")
    assert (saved.created, saved.version.number, saved.version.note) == (True, 2, "one more guest")
    assert ScenarioVersion.objects.get(number=1).title == "A table for three"
    assert find_scenario("book_table").latest == saved.version


def test_saving_the_same_content_in_another_key_order_makes_no_version() -> None:
    first = make_scenario()
    content = dict(reversed(scenario_json().items()))
    saved = save_scenario(scenario=first.scenario, content=content)
    assert (saved.created, saved.version) == (False, first)


def test_going_back_to_older_content_is_a_new_version() -> None:
    first = make_scenario()
    save_scenario(scenario=first.scenario, content=scenario_json(title="Four"))
    assert save_scenario(scenario=first.scenario, content=scenario_json()).version.number == 3


def test_an_invalid_save_stores_nothing() -> None:
    scenario = make_scenario().scenario
    with pytest.raises(SpecError) as caught:
        save_scenario(scenario=scenario, content=scenario_json(interaction="duet", tags="none"))
    assert {problem.path for problem in caught.value.problems} == {"interaction", "tags"}
    assert ScenarioVersion.objects.count() == 1


def test_the_id_of_a_scenario_stays() -> None:
    scenario = make_scenario().scenario
    with pytest.raises(SpecError, match="the id of a scenario stays"):
        save_scenario(scenario=scenario, content=scenario_json("other"))


def test_an_editor_that_started_from_an_older_version_is_told(alice: User) -> None:
    scenario = make_scenario().scenario
    save_scenario(scenario=scenario, content=scenario_json(title="Hers"), user=alice, expected_number=1)
    with pytest.raises(ChangedMeanwhile, match="alice"):
        save_scenario(scenario=scenario, content=scenario_json(title="Mine"), expected_number=1)
    assert save_scenario(scenario=scenario, content=scenario_json(title="Mine"), expected_number=2).version.number == 3


def test_a_stored_version_cannot_be_changed() -> None:
    version = make_scenario()
    version.title = "Rewritten"
    with pytest.raises(TypeError, match="never changes"):
        version.save()


def test_an_archived_scenario_leaves_the_current_ones_and_comes_back() -> None:
    scenario = make_scenario().scenario
    archive(things=[scenario])
    assert not Scenario.objects.current().exists()
    bring_back(things=[scenario])
    assert Scenario.objects.current().get() == scenario


def test_an_unknown_scenario_is_named() -> None:
    with pytest.raises(NotStored, match="no scenario nothing_here"):
        find_scenario("nothing_here")


def test_copies_get_ids_that_are_free() -> None:
    make_scenario("a")
    assert free_key("a") == "a-copy"
    make_scenario("A-Copy")
    assert free_key("a") == "a-copy-2"
    assert len(free_key("k" * 100)) <= 100


def test_an_application_that_is_not_stored_is_a_warning() -> None:
    content = scenario_json(application={"initial_state": {}, "ref": {"name": "Restaurant", "version": 2}})
    assert any(p.path == "application.ref" for p in scenario_warnings(content))
    make_application("Restaurant")
    (warning,) = [p for p in scenario_warnings(content) if p.path == "application.ref"]
    assert "version 1 only" in warning.message


def test_what_nobody_serves_or_plays_is_a_warning_and_kept() -> None:
    content = scenario_json(
        interaction="multi_turn", input={"text": "Hi", "turns": [{"text": "Bye"}]}, stop_when="It is so"
    )
    gaps = unsupported_fields(parse_scenario(content))
    assert gaps
    assert set(gaps) <= set(scenario_warnings(content))
    content = scenario_json(interaction="multi_turn", simulation_parameters={"goal": "A table", "weather": "rain"})
    assert [warning.message for warning in scenario_warnings(content)] == [
        "is kept and not played: a persona has no such part"
    ]
    assert create_scenario(content=content).content == content


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("nora TABLE", ["one"]),
        ("STRASSE", ["two"]),
        ("straße", ["two"]),
        ("จองโต๊ะ", ["two"]),
        ("confirms", ["one", "two"]),
        ("100%", []),
    ],
)
def test_search_ignores_case_in_every_script_and_takes_signs_literally(words: str, found: list[str]) -> None:
    make_scenario("one")
    make_scenario("two", title="จองโต๊ะ", input={"text": "Die Hauptstraße bitte"}, tags=[], type="x")
    keys = [scenario.key for scenario in Scenario.objects.matching(words).sorted_by("id")]
    assert keys == found


def test_a_tag_finds_itself_alone() -> None:
    make_scenario("one", tags=["cat"])
    make_scenario("two", tags=["catering", "Cat 2"])
    assert [scenario.key for scenario in Scenario.objects.tagged("Cat")] == ["one"]
    assert Scenario.objects.current().tags() == ["cat", "Cat 2", "catering"]


def test_a_call_of_a_tool_that_the_application_does_not_have_is_worth_a_second_look() -> None:
    make_application("Restaurant")
    content = scenario_json(application={"ref": {"name": "Restaurant"}})
    content["expected"]["tools"]["required"].append({"name": "create_reservatoin"})
    told = [str(problem) for problem in scenario_warnings(content)]
    assert told == [
        'expected.tools.required[1].name: Restaurant has no tool "create_reservatoin"; did you mean create_reservation?'
    ]
    content["application"] = {"ref": {"name": "Hotel"}}
    assert "application.ref" in str(scenario_warnings(content)[0])
