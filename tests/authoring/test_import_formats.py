"""Importing YAML and tables through the page, large files, and exporting any selection in any format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from scenarios_app.models import Scenario, ScenarioVersion, Suite
from scenarios_app.services import archive, import_scenarios, read_scenarios
from scenarios_app.spec.csvtext import read_table
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.yamltext import dump_yaml
from tests.authoring.pages import inputs
from tests.authoring.test_commands import run
from tests.support import make_scenario, make_suite, scenario_file, scenario_json

pytestmark = pytest.mark.django_db

URL = "/scenarios/import/"
TABLE = (
    "Nr;Was;Satz;Soll;Schlagworte;Farbe\r\n"
    't-1;Tisch;"Ein Tisch, bitte\nfür zwei";Bestätigt.;a, b;rot\r\n'
    "t-2;Absage;Nein;Ok;;blau\r\n"
)
CHOICE = {"column-0": "id", "column-1": "title", "column-2": "says", "column-3": "answer", "column-4": "tags"}


@pytest.fixture(autouse=True)
def storage(tmp_path: Any, settings: Any) -> None:
    options = {"location": str(tmp_path)}
    files = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "default": files}


def upload(browser: Client, name: str, data: bytes, **fields: str) -> Any:
    return browser.post(URL, {"suite": "demo", "file": SimpleUploadedFile(name, data), **fields})


def test_yaml_is_checked_and_stored_as_json_is(browser: Client) -> None:
    document = {"schema_version": "1.1", "scenarios": [scenario_json("a", notes="12:30"), scenario_json("b")]}
    checked = upload(browser, "my.yaml", dump_yaml(document).encode())
    assert checked.context["report"].new == ("a", "b")
    browser.post(URL, {"checked": inputs(checked)["checked"]})
    assert Scenario.objects.get(key="a").latest.content == document["scenarios"][0]


def test_a_table_asks_which_column_is_what_and_then_is_imported(browser: Client) -> None:
    asked = upload(browser, "my.csv", TABLE.encode("utf-8-sig"))
    assert "which column is what?" in asked.content.decode()
    assert "für zwei" in asked.content.decode()
    table = inputs(asked)["table"]
    checked = browser.post(URL, {"table": table, "separator": "semicolon", **CHOICE})
    assert checked.context["report"].new == ("t-1", "t-2")
    assert not Scenario.objects.exists()
    browser.post(URL, {"checked": inputs(checked)["checked"]})
    stored = Scenario.objects.get(key="t-1").latest.content
    assert stored["input"]["text"] == "Ein Tisch, bitte\nfür zwei"
    assert (stored["tags"], stored["expected"]["answer"]) == (["a", "b"], "Bestätigt.")
    assert Suite.objects.get().name == "demo"


def test_a_wrong_choice_of_columns_stands_there_again_with_what_is_wrong(browser: Client) -> None:
    table = inputs(upload(browser, "my.csv", TABLE.encode()))["table"]
    again = browser.post(
        URL, {"table": table, "separator": "semicolon", **CHOICE, "column-5": "title", "column-4": "mode"}
    )
    assert any(problem.message == '"Title" is chosen for two columns' for problem in again.context["problems"])
    assert inputs(again)["column-2"] == "says"
    wrong = browser.post(URL, {"table": table, "separator": "semicolon", **CHOICE, "column-4": "mode"})
    assert [(p.path, p.line) for p in wrong.context["problems"]] == [("scenarios[0].mode", 2)]
    other = browser.post(URL, {"table": table, "separator": "tab", **CHOICE})
    assert "another separator" in other.context["problems"][0].message
    assert not Scenario.objects.exists()


def test_a_pasted_table_is_taken_when_its_format_is_told(browser: Client) -> None:
    asked = browser.post(URL, {"suite": "demo", "text": "id,title,says,answer\na,A,Hi,x", "format": "csv"})
    choice = {name: value for name, value in inputs(asked).items() if name.startswith("column-")}
    assert list(choice.values()) == ["id", "title", "says", "answer"]
    assert browser.post(URL, {"table": inputs(asked)["table"], **choice}).context["report"].new == ("a",)


def test_three_errors_in_three_megabytes_import_nothing_and_the_mended_file_is_one_transaction(browser: Client) -> None:
    """A thousand scenarios: all three errors named with their lines; mended, one transaction of few queries."""
    good = [scenario_json(f"case_{n}", notes="x" * 2600) for n in range(1000)]
    bad = list(good)
    bad[10] = {**good[10], "interaction": "duet"}
    bad[500] = {**good[500], "id": "CASE_499"}
    bad[999] = {**good[999], "title": ""}
    text = '{"schema_version": "1.1", "scenarios": [\n' + ",\n".join(map(json.dumps, bad)) + "]}"
    assert len(text) > 3_000_000
    problems = upload(browser, "big.json", text.encode()).context["problems"]
    assert [(p.path, p.line) for p in problems] == [
        ("scenarios[10].interaction", 12),
        ("scenarios[500].id", 502),
        ("scenarios[999].title", 1001),
    ]
    assert not Scenario.objects.exists()
    with CaptureQueriesContext(connection) as queries:
        import_scenarios(data=scenario_file(good, version="1.1"), suite_name="big")
    assert len(queries) < 60
    # inside the test's own transaction the import's is a savepoint: the first and last word
    first, last = queries[0]["sql"], queries[-1]["sql"]
    assert first.startswith("SAVEPOINT")
    assert last == f"RELEASE {first}"
    assert ScenarioVersion.objects.count() == 1000


@pytest.mark.parametrize("kind", ["json", "yaml", "csv"])
def test_what_the_search_found_or_what_was_ticked_is_exported_in_any_format(browser: Client, kind: str) -> None:
    odd = make_scenario("odd", title="\u202eกขค\u202c =1+1", tags=["a,b"], input={"text": "=x\r\ny\rz"}).content
    make_scenario("plain")
    gone = make_scenario("gone")
    archive(things=[gone.scenario])
    ticked = browser.get("/scenarios/export/", {"id": ["ODD", "nobody"], "format": kind})
    found = browser.get("/scenarios/export/", {"q": "table for nora", "format": kind})
    assert f".{kind}" in ticked["Content-Disposition"]
    assert [entry["id"] for entry in read(kind, found.content)] == ["plain"]
    assert read(kind, ticked.content) == [odd]
    assert len(read(kind, browser.get("/scenarios/export/", {"format": kind}).content)) == 2


def read(kind: str, data: bytes) -> list[dict[str, Any]]:
    scenarios: list[dict[str, Any]] = read_scenarios(data=data, kind=kind).value["scenarios"]
    return scenarios


@pytest.mark.parametrize("kind", ["yaml", "csv"])
def test_commands_take_every_format_by_the_files_name(tmp_path: Path, kind: str) -> None:
    make_suite("demo", [make_scenario("a", title="Größe: 12:30").scenario, make_scenario("b").scenario])
    file = tmp_path / f"out.{kind}"
    run("export_scenarios", "--suite", "demo", "--format", kind, "--output", file)
    out, _ = run("import_scenarios", file, "--suite", "demo")
    assert out == "suite demo: 0 new, 0 changed, 2 unchanged\n"


@pytest.mark.case("E11")
def test_a_table_without_rows_is_never_reported_as_a_success(browser: Client) -> None:
    """E11: a header alone imports nothing and says so."""
    asked = upload(browser, "empty.csv", b"id,title,says\n")
    choice = {name: value for name, value in inputs(asked).items() if name.startswith("column-")}
    said = browser.post(URL, {"table": inputs(asked)["table"], **choice})
    assert "no row under it" in said.context["problems"][0].message
    with pytest.raises(SpecError):
        read_table(b"")
