"""What the list of scenarios does with many at once, and the archive of everything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from scenarios_app.models import Scenario, ScenarioVersion, Suite
from scenarios_app.services import (
    Edit,
    archive,
    bring_back,
    find_configuration_version,
    import_configurations,
    save_scenario,
    save_scenarios,
    suite_members,
    tag_scenarios,
)
from scenarios_app.spec.errors import SpecError
from tests.support import (
    configuration_json,
    make_application,
    make_configuration,
    make_scenario,
    make_suite,
    scenario_json,
)

pytestmark = pytest.mark.django_db

URL = "/scenarios/chosen/"


def tags() -> dict[str, list[str]]:
    return dict(Scenario.objects.order_by("key").values_list("key", "latest__tags"))


def numbers() -> dict[str, int]:
    return dict(Scenario.objects.order_by("key").values_list("key", "latest__number"))


def three() -> None:
    make_scenario("a", tags=["booking"])
    make_scenario("b", tags=["booking", "slow"])
    make_scenario("c", tags=[])


def said(response: Any) -> str:
    return " ".join(str(message) for message in response.context["messages"])


def test_tags_are_put_on_and_taken_off_as_new_versions(browser: Client) -> None:
    three()
    response = browser.post(
        URL, {"which": "ticked", "id": ["a", "C"], "action": "tag", "tags": "Booking, new"}, follow=True
    )
    assert said(response) == "Tagged Booking, new: 2 scenarios, each as a new version."
    assert tags() == {"a": ["booking", "new"], "b": ["booking", "slow"], "c": ["Booking", "new"]}
    assert numbers() == {"a": 2, "b": 1, "c": 2}
    browser.post(URL, {"which": "found", "q": "", "action": "untag", "tags": "BOOKING"})
    assert tags() == {"a": ["new"], "b": ["slow"], "c": ["new"]}
    assert ScenarioVersion.objects.get(scenario__key="b", number=2).note == "took off BOOKING"
    assert "slow" in browser.get("/scenarios/?tag=slow").content.decode()


def test_all_that_the_search_found_is_chosen_and_the_search_stays(browser: Client) -> None:
    three()
    sent = {"which": "found", "tag": "booking", "id": "c", "action": "tag", "tags": "x"}
    response = browser.post(URL, sent)
    assert response.headers["Location"] == "/scenarios/?tag=booking"
    assert {key for key, held in tags().items() if "x" in held} == {"a", "b"}


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"action": "tag", "tags": "x"}, "Nothing is ticked"),
        ({"action": "tag", "tags": " , ", "id": "a"}, "name at least one tag"),
        ({"action": "explode", "id": "a"}, "unknown"),
        ({"action": "suite", "into": "a@b", "id": "a"}, "comma or an @"),
        ({"action": "tag", "tags": "x" * 3, "id": "nobody"}, "0 scenarios"),
    ],
)
def test_what_makes_no_sense_is_told_and_changes_nothing(browser: Client, sent: dict[str, str], told: str) -> None:
    three()
    assert told in said(browser.post(URL, sent, follow=True))
    assert ScenarioVersion.objects.count() == 3
    assert not Suite.objects.exists()


def test_many_go_into_a_suite_old_or_new(browser: Client) -> None:
    three()
    browser.post(URL, {"which": "ticked", "id": ["b", "a"], "action": "suite", "into": "night"})
    response = browser.post(URL, {"which": "found", "action": "suite", "into": "NIGHT"}, follow=True)
    assert said(response).endswith("Added 1 scenario to night; 2 had been there.")
    assert [one.key for one in suite_members(Suite.objects.get())] == ["a", "b", "c"]


def test_many_are_archived_and_come_back(browser: Client) -> None:
    three()
    browser.post(URL, {"which": "ticked", "id": ["a", "b"], "action": "archive"})
    assert list(Scenario.objects.current().values_list("key", flat=True)) == ["c"]
    browser.post(URL, {"which": "found", "archived": "1", "action": "back"})
    assert Scenario.objects.current().count() == 3


def test_the_export_of_a_choice_names_it_in_its_address(browser: Client) -> None:
    three()
    one = browser.post(URL, {"which": "ticked", "id": ["a", "b"], "action": "export", "format": "csv"})
    assert one.headers["Location"] == "/scenarios/export/?id=a&id=b&format=csv"
    found = browser.post(URL, {"which": "found", "tag": "slow", "action": "export", "format": "json"}, follow=True)
    assert [entry["id"] for entry in found.json()["scenarios"]] == ["b"]


def test_many_are_saved_together_or_not_at_all() -> None:
    three()
    listed = list(Scenario.objects.with_latest().order_by("key"))
    wrong = [
        Edit(listed[0], scenario_json("a", title="new")),
        Edit(listed[1], scenario_json("b", title="")),
        Edit(listed[2], scenario_json("other")),
    ]
    with pytest.raises(SpecError) as caught:
        save_scenarios(edits=wrong)
    assert [problem.path for problem in caught.value.problems] == ["b.title", "c.id"]
    assert numbers() == {"a": 1, "b": 1, "c": 1}


def test_somebody_elses_save_in_between_is_not_lost() -> None:
    three()
    listed = list(Scenario.objects.with_latest().order_by("key"))
    save_scenario(scenario=Scenario.objects.get(key="b"), content=scenario_json("b", title="theirs"))
    with pytest.raises(SpecError, match="b: somebody saved it meanwhile"):
        tag_scenarios(scenarios=listed, add=["x"])
    assert numbers() == {"a": 1, "b": 2, "c": 1}


def test_what_is_archived_is_offered_nowhere_and_comes_back_from_the_archive(browser: Client) -> None:
    make_scenario("old_one", title="Once upon a time")
    make_suite("old suite")
    make_application("Old app")
    make_configuration("Old desk")
    for url in (
        "/scenarios/old_one/",
        "/suites/old%20suite/",
        "/applications/Old%20app/",
        "/configurations/Old%20desk/",
    ):
        assert browser.post(f"{url}archive/").headers["Location"] == url
        assert browser.get(url).status_code == 200
    for url in ("/scenarios/", "/suites/", "/applications/", "/configurations/", "/runs/new/"):
        page = browser.get(url).content.decode()
        for name in ("old_one", "old suite", "Old app", "Old desk"):
            assert name not in page, url
    page = browser.get("/archive/").content.decode()
    assert all(name in page for name in ("Once upon a time", "old suite", "Old app", "Old desk"))
    assert "Nothing matches" in browser.get("/archive/?q=zzz").content.decode()
    assert find_configuration_version("Old desk@1").number == 1
    answer = browser.post("/configurations/Old%20desk/archive/", {"archived": "no", "back": "archive"})
    assert answer.headers["Location"] == "/archive/"
    assert "Old desk" in browser.get("/configurations/").content.decode()
    assert "Old desk" not in browser.get("/archive/").content.decode()


def test_archiving_twice_changes_nothing_more(browser: Client) -> None:
    scenario = make_scenario().scenario
    assert archive(things=[scenario]) == 1
    first = Scenario.objects.get().archived_at
    assert archive(things=[scenario]) == 0
    assert Scenario.objects.get().archived_at == first
    assert bring_back(things=[scenario]) == 1
    assert browser.get("/scenarios/nobody/archive/").status_code == 405
    assert browser.post("/scenarios/nobody/archive/").status_code == 404


def test_importing_an_archived_configuration_again_brings_it_back(browser: Client) -> None:
    configuration = make_configuration("Old desk").configuration
    archive(things=[configuration])
    report = import_configurations(data=json.dumps([configuration_json("Old desk")]).encode())
    assert report.unchanged == ("Old desk@1",)
    assert "Old desk" in browser.get("/configurations/").content.decode()
