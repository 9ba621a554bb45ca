from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User

from scenarios_app.models import Application, ApplicationVersion, Configuration, ConfigurationVersion
from scenarios_app.services import (
    ChangedMeanwhile,
    NotStored,
    create_application,
    find_application_version,
    find_configuration,
    find_configuration_version,
    import_applications,
    import_configurations,
    save_application,
    save_configuration,
)
from scenarios_app.spec.errors import SpecError
from tests.support import (
    application_json,
    configuration_json,
    make_application,
    make_configuration,
)

pytestmark = pytest.mark.django_db


def as_file(*entries: object) -> bytes:
    return json.dumps(entries).encode()


def test_two_entries_of_one_name_are_versions_1_and_2_and_importing_again_changes_nothing() -> None:
    data = as_file(configuration_json(instructions="One."), configuration_json(instructions="Two."))
    report = import_configurations(data=data)
    assert (report.new, report.changed) == (("Front desk@1",), ("Front desk@2",))
    again = import_configurations(data=data)
    assert (again.new, again.changed, again.unchanged) == ((), (), ("Front desk@1", "Front desk@2"))
    assert ConfigurationVersion.objects.count() == 2


def test_content_of_an_older_version_is_unchanged_and_the_newest_stays_newest() -> None:
    make_configuration(instructions="One.")
    save_configuration(configuration=find_configuration("Front desk"), content=configuration_json(instructions="Two."))
    assert import_configurations(data=as_file(configuration_json(instructions="One."))).unchanged == ("Front desk@1",)
    assert find_configuration_version("Front desk").number == 2


def test_applications_are_imported_alike(alice: User) -> None:
    data = as_file(application_json(), application_json(facts={"opens": "18:00"}), application_json("Clinic"))
    report = import_applications(data=data, user=alice)
    assert (report.new, report.changed) == (("Restaurant@1", "Clinic@1"), ("Restaurant@2",))
    assert import_applications(data=data).counts == "0 new, 0 changed, 3 unchanged"
    assert ApplicationVersion.objects.filter(created_by=alice).count() == 3


@pytest.mark.parametrize("name", ["a,b", "a@2", "", "  "])
def test_names_that_cannot_be_named_are_refused(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        import_configurations(data=as_file(configuration_json("good"), configuration_json(name)))
    assert [problem.path for problem in caught.value.problems] == ["[1].name"]
    assert Configuration.objects.count() == 0


def test_a_bad_entry_stops_the_whole_file_and_names_its_line() -> None:
    data = json.dumps([application_json(), {"name": "Broken", "tools": [{"name": "x y"}]}], indent=1).encode()
    with pytest.raises(SpecError) as caught:
        import_applications(data=data)
    (problem,) = caught.value.problems
    assert problem.path == "[1].tools[0].name"
    assert data.decode().splitlines()[(problem.line or 0) - 1].strip() == '"name": "x y"'
    assert Application.objects.count() == 0


def test_an_application_that_is_not_stored_yet_is_a_warning_on_import_and_an_error_on_saving() -> None:
    content = configuration_json(application={"name": "Restaurant", "version": 1})
    report = import_configurations(data=as_file(content))
    assert [(w.path, "no application" in w.message) for w in report.warnings] == [("[0].application", True)]
    with pytest.raises(SpecError) as caught:
        save_configuration(
            configuration=find_configuration("Front desk"), content={**content, "instructions": "Other."}
        )
    assert caught.value.problems[0].path == "application"


def test_a_tool_declared_twice_is_refused_at_its_place() -> None:
    make_application("Restaurant")
    tool = {"type": "function", "name": "create_reservation", "parameters": {"type": "object"}}
    content = configuration_json(application={"name": "Restaurant"}, session_update={"tools": [tool]})
    with pytest.raises(SpecError) as caught:
        import_configurations(data=as_file(content))
    assert caught.value.problems[0].path == "[0].session_update.tools[0].name"
    assert Configuration.objects.count() == 0


def test_a_version_is_found_by_its_label() -> None:
    make_configuration("Empfang Süd")
    save_configuration(
        configuration=find_configuration("Empfang Süd"), content=configuration_json("Empfang Süd", model="b")
    )
    assert find_configuration_version("Empfang Süd@2").number == 2
    assert find_configuration_version(" empfang Süd ").number == 2
    assert str(find_configuration_version("Empfang Süd@1")) == "Empfang Süd@1"


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Back desk", "no configuration 'Back desk' on this site; there are: Front desk"),
        ("Front desk@7", "no version '7'; it has version 1 only"),
        ("Front desk@", "no version ''"),
        ("Front desk@one", "no version 'one'"),
        ("Front desk@²", "no version"),
        ("Front desk@99999999999999999999", "no version"),
    ],
)
def test_what_is_not_stored_is_named_together_with_what_is(label: str, said: str) -> None:
    make_configuration()
    with pytest.raises(NotStored) as caught:
        find_configuration_version(label)
    assert said in str(caught.value)


def test_an_empty_site_says_so() -> None:
    with pytest.raises(NotStored, match="it has none yet"):
        find_application_version("Restaurant")


def test_a_save_compares_with_the_newest_version(alice: User) -> None:
    configuration = make_configuration(instructions="One.").configuration
    assert not save_configuration(configuration=configuration, content=configuration_json(instructions="One.")).created
    for number, text in ((2, "Two."), (3, "One.")):
        saved = save_configuration(
            configuration=configuration, content=configuration_json(instructions=text), user=alice, note="why"
        )
        assert (saved.version.number, saved.version.created_by, saved.version.note) == (number, alice, "why")


def test_a_name_stays_and_a_taken_name_is_refused() -> None:
    application = make_application("Restaurant").application
    with pytest.raises(SpecError, match="the name stays"):
        save_application(application=application, content=application_json("Other"))
    with pytest.raises(SpecError, match="another application has it"):
        create_application(content=application_json("restaurant"))


def test_an_editor_that_started_from_an_older_version_is_told() -> None:
    application = make_application().application
    save_application(application=application, content=application_json(facts={}), expected_number=1)
    with pytest.raises(ChangedMeanwhile, match="Restaurant@2"):
        save_application(application=application, content=application_json(facts={"a": 1}), expected_number=1)
