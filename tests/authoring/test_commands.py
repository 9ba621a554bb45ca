from __future__ import annotations

import io
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from scenarios_app.models import Application, Configuration, Scenario
from scenarios_app.services import archive, find_scenario
from scenarios_app.spec.schema import SCHEMAS
from tests.support import application_json, configuration_json, scenario_json

pytestmark = pytest.mark.django_db


def run(*arguments: Any) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=err, no_color=True)
    return out.getvalue(), err.getvalue()


def write(folder: Path, document: Any) -> Path:
    path = folder / "file.json"
    path.write_text(json.dumps(document))
    return path


def scenarios(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"schema_version": "1.0", "scenarios": list(entries)}


def test_scenarios_go_in_and_come_out_unchanged(tmp_path: Path) -> None:
    file = scenarios(scenario_json("b", title="Tisch für drei"), scenario_json("a"))
    source = write(tmp_path, file)
    assert run("import_scenarios", source, "--suite", "demo")[0] == "suite demo: 2 new, 0 changed, 0 unchanged\n"
    assert run("import_scenarios", source, "--suite", "demo")[0] == "suite demo: 0 new, 0 changed, 2 unchanged\n"
    target = tmp_path / "out.json"
    out, _ = run("export_scenarios", "--suite", "demo", "--format", "json", "--output", target)
    assert out == f"suite demo: 2 scenarios in {target}\n"
    assert json.loads(target.read_text()) == file
    assert "für" in target.read_text()


def test_a_dry_run_stores_nothing_and_says_so(tmp_path: Path) -> None:
    out, _ = run("import_scenarios", write(tmp_path, scenarios(scenario_json())), "--suite", "demo", "--dry-run")
    assert out == "suite demo: 1 new, 0 changed, 0 unchanged (dry run, nothing stored)\n"
    assert not Scenario.objects.exists()


def test_every_problem_is_one_line_with_its_place(tmp_path: Path) -> None:
    source = write(tmp_path, scenarios(scenario_json("a b"), scenario_json("c", interaction="duet")))
    with pytest.raises(CommandError) as caught:
        run("import_scenarios", source, "--suite", "demo")
    head, *lines = str(caught.value).splitlines()
    assert head == "nothing was stored, 2 problems:"
    assert [line.split(": ")[0] for line in lines] == [
        "line 1, scenarios[0].id",
        "line 1, scenarios[1].interaction",
    ]
    assert caught.value.returncode == 1
    assert not Scenario.objects.exists()


def test_warnings_go_to_standard_error(tmp_path: Path) -> None:
    relative = scenario_json(input={"text": "A table for tomorrow."})
    out, err = run("import_scenarios", write(tmp_path, scenarios(relative)), "--suite", "demo")
    assert "1 new" in out
    assert err.startswith("warning: line 1, scenarios[0]")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"missing\.json cannot be read: No such file"):
        run("import_scenarios", tmp_path / "missing.json", "--suite", "demo")


def test_a_schema_is_printed_or_written(tmp_path: Path) -> None:
    printed, _ = run("export_schema", "scenarios")
    assert json.loads(printed) == SCHEMAS["scenarios"]()
    target = tmp_path / "applications.json"
    out, _ = run("export_schema", "applications", "--output", target)
    assert out == f"JSON Schema of applications in {target}\n"
    assert json.loads(target.read_text())["items"] == {"$ref": "#/$defs/Application"}


def test_an_export_to_standard_output_is_the_file_alone(tmp_path: Path) -> None:
    run("import_scenarios", write(tmp_path, scenarios(scenario_json())), "--suite", "demo")
    out, err = run("export_scenarios", "--suite", "DEMO", "--format", "json", "--output", "-")
    assert (json.loads(out), err) == (scenarios(scenario_json()), "")


def test_an_unknown_suite_is_named_with_those_there_are(tmp_path: Path) -> None:
    run("import_scenarios", write(tmp_path, scenarios(scenario_json())), "--suite", "demo")
    with pytest.raises(CommandError, match="no suite 'other' on this site; there are: demo"):
        run("export_scenarios", "--suite", "other", "--output", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_an_export_replaces_the_file_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    run("import_scenarios", write(tmp_path, scenarios(scenario_json())), "--suite", "demo")
    folder = tmp_path / "exports"
    folder.mkdir()
    target = folder / "out.json"
    target.write_text("before")
    run("export_scenarios", "--suite", "demo", "--output", target)
    assert json.loads(target.read_text())["scenarios"][0]["id"] == "book_table"
    assert [path.name for path in folder.iterdir()] == ["out.json"]
    assert stat.S_IMODE(target.stat().st_mode) & 0o600 == 0o600


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    run("import_scenarios", write(tmp_path, scenarios(scenario_json())), "--suite", "demo")
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        run("export_scenarios", "--suite", "demo", "--output", tmp_path / "nowhere" / "out.json")


def test_archived_scenarios_are_left_out_of_an_export(tmp_path: Path) -> None:
    run("import_scenarios", write(tmp_path, scenarios(scenario_json("a"), scenario_json("b"))), "--suite", "demo")
    archive(things=[find_scenario("a")])
    out, _ = run("export_scenarios", "--suite", "demo", "--output", "-")
    assert [scenario["id"] for scenario in json.loads(out)["scenarios"]] == ["b"]


def test_applications_and_configurations_are_imported_with_counts(tmp_path: Path) -> None:
    applications = [application_json(), application_json(facts={})]
    out, _ = run("import_applications", write(tmp_path, applications))
    assert out == "applications: 1 new, 1 changed, 0 unchanged\n"
    content = configuration_json(application={"name": "Restaurant", "version": 2})
    out, err = run("import_configurations", write(tmp_path, [content]))
    assert (out, err) == ("configurations: 1 new, 0 changed, 0 unchanged\n", "")


def test_a_configuration_without_its_application_is_imported_with_a_warning(tmp_path: Path) -> None:
    content = configuration_json(application={"name": "Restaurant"})
    _, err = run("import_configurations", write(tmp_path, [content]))
    assert err == "warning: [0].application: there is no application 'Restaurant' on this site; it has none yet\n"


@pytest.mark.parametrize(
    ("command", "model", "document", "place"),
    [
        ("import_applications", Application, [application_json("a,b")], "line 1, [0].name: "),
        ("import_configurations", Configuration, [configuration_json("a@b")], "line 1, [0].name: "),
        ("import_configurations", Configuration, {"not": "a list"}, "must be a list"),
    ],
)
def test_bad_lists_are_refused_whole(command: str, model: Any, document: Any, place: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError) as caught:
        run(command, write(tmp_path, document))
    assert place in str(caught.value)
    assert not model.objects.exists()
