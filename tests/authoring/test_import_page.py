from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from scenarios_app.models import Scenario, ScenarioVersion
from scenarios_app.services import find_suite, suite_members
from scenarios_app.services.pending import FOLDER
from scenarios_app.spec.schema import SCHEMAS
from tests.authoring.pages import inputs
from tests.support import make_scenario, make_user, scenario_file, scenario_json

pytestmark = pytest.mark.django_db

URL = "/scenarios/import/"


@pytest.fixture(autouse=True)
def storage(tmp_path: Any, settings: Any) -> None:
    options = {"location": str(tmp_path)}
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options},
    }


def upload(browser: Client, data: bytes, suite: str = "demo") -> Any:
    return browser.post(URL, {"suite": suite, "file": SimpleUploadedFile("my.json", data)})


def kept_files() -> list[str]:
    return default_storage.listdir(FOLDER)[1] if default_storage.exists(FOLDER) else []


def test_a_file_is_checked_first_and_stored_on_yes(browser: Client, alice: User) -> None:
    make_scenario("known")
    data = scenario_file([scenario_json("known", title="Other"), scenario_json("fresh")])
    checked = upload(browser, data)
    report = checked.context["report"]
    assert (report.new, report.changed, report.dry_run) == (("fresh",), ("known",), True)
    assert "my.json is fine: 1 new, 1 changed, 0 unchanged" in checked.content.decode()
    assert ScenarioVersion.objects.count() == 1
    stored = browser.post(URL, {"checked": inputs(checked)["checked"]}, follow=True)
    assert stored.redirect_chain[-1][0] == "/suites/demo/"
    assert "Imported: 1 new, 1 changed, 0 unchanged." in stored.content.decode()
    assert [scenario.key for scenario in suite_members(find_suite("demo"))] == ["known", "fresh"]
    assert ScenarioVersion.objects.filter(created_by=alice).count() == 2
    assert kept_files() == []


def test_pasted_text_is_taken_too(browser: Client) -> None:
    text = scenario_file([scenario_json()]).decode()
    assert browser.post(URL, {"suite": "demo", "text": text}).context["report"].new == ("book_table",)


def test_every_error_is_listed_with_its_line_and_the_text_is_given_back(browser: Client) -> None:
    bad = json.dumps(scenario_json("a b", interaction="duet"))
    text = f'{{"schema_version": "1.0", "scenarios": [\n{bad}\n]}}'
    response = browser.post(URL, {"suite": "demo", "text": text})
    assert [(p.path, p.line) for p in response.context["problems"]] == [
        ("scenarios[0].id", 2),
        ("scenarios[0].interaction", 2),
    ]
    assert inputs(response)["text"].replace("\r\n", "\n") == text
    assert not Scenario.objects.exists()
    assert kept_files() == []


@pytest.mark.parametrize("sent", [{"suite": "demo"}, {"suite": "demo", "text": " "}, {"suite": "a,b", "text": "{}"}])
def test_nothing_or_a_bad_suite_is_said_so(browser: Client, sent: dict[str, str]) -> None:
    (problem,) = browser.post(URL, sent).context["problems"]
    assert problem.path == ("suite" if sent["suite"] == "a,b" else "file")


def test_a_yes_is_good_once_and_for_the_one_who_checked(browser: Client) -> None:
    checked = inputs(upload(browser, scenario_file([scenario_json()])))["checked"]
    stranger = Client()
    stranger.force_login(make_user("bob"))
    assert "another person" in stranger.post(URL, {"checked": checked}).content.decode()
    assert "no longer kept" in browser.post(URL, {"checked": checked + "x"}).content.decode()
    assert not Scenario.objects.exists()
    browser.post(URL, {"checked": checked})
    assert "no longer kept" in browser.post(URL, {"checked": checked}).content.decode()
    assert Scenario.objects.count() == 1


@pytest.mark.case("D13")
@pytest.mark.parametrize("way", ["file", "text"])
def test_three_megabytes_are_imported_either_way(browser: Client, way: str) -> None:
    """D13: 3 MB, pasted and uploaded, are imported: above Django's own limit, below ours."""
    filler = [scenario_json(f"case_{n}", notes="x" * 100_000) for n in range(31)]
    data = scenario_file(filler, version="1.1")
    assert len(data) > 3_000_000
    sent = {"file": SimpleUploadedFile("big.json", data)} if way == "file" else {"text": data.decode()}
    checked = browser.post(URL, {"suite": "big", **sent})
    browser.post(URL, {"checked": inputs(checked)["checked"]})
    assert Scenario.objects.count() == 31


@pytest.mark.case("D13")
@pytest.mark.parametrize("name", ["scenarios-import", "scenario-new", "scenario-validate", "configuration-new"])
def test_what_is_over_the_limit_is_413_before_it_is_read(browser: Client, name: str, settings: Any) -> None:
    """D13: over the limit: 413 that names the limit and the setting, unread, and nothing stored."""
    settings.IMPORT_LIMIT_MB = 1
    body = b"x" * 1_200_000
    response = browser.post(reverse(name), body, content_type="application/x-www-form-urlencoded")
    assert response.status_code == 413
    assert "the limit is 1 MB (IMPORT_LIMIT_MB)" in response.content.decode()
    assert not Scenario.objects.exists()


@pytest.mark.parametrize("length", ["many", "-1", "1_000", "\u0663", "9" * 30])
def test_a_length_that_is_no_number_is_a_400(browser: Client, length: str) -> None:
    response = browser.post(reverse("scenarios-import"), {"text": "[]"}, CONTENT_LENGTH=length)
    assert response.status_code == 400
    assert "Content-Length of the request is no number" in response.content.decode()


@pytest.mark.case("D13")
def test_too_many_fields_are_a_400(browser: Client) -> None:
    """D13: 1,500 form fields are refused as a bad request, not as an error of ours."""
    assert browser.post(URL, {f"field-{n}": "x" for n in range(1500)}).status_code == 400


@pytest.mark.case("E01")
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_an_uploaded_file_may_begin_with_a_byte_order_mark(browser: Client, codec: str) -> None:
    """E01 (JSON) through the page: the mark changes nothing."""
    plain = scenario_file([scenario_json()])
    marked = upload(browser, plain.decode().encode(codec))
    browser.post(URL, {"checked": inputs(marked)["checked"]})
    assert upload(browser, plain).context["report"].unchanged == ("book_table",)


@pytest.mark.case("E07")
def test_a_number_that_is_none_is_refused_with_its_place(browser: Client) -> None:
    """E07 through the page: NaN is named with its line and path; nothing is stored."""
    data = scenario_file([scenario_json(application={"initial_state": {"price": "X"}})]).replace(b'"X"', b"NaN")
    (problem,) = upload(browser, data).context["problems"]
    assert (problem.path, problem.line) == ("scenarios[0].application.initial_state.price", 1)
    assert not Scenario.objects.exists()


@pytest.mark.parametrize("of", SCHEMAS)
def test_the_schema_of_a_file_is_a_download(browser: Client, of: str) -> None:
    page = "scenarios-import" if of == "scenarios" else "configurations-import"
    address = reverse("file-schema", args=[of])
    assert f'href="{address}"' in browser.get(reverse(page)).content.decode()
    response = browser.get(address)
    assert json.loads(response.content) == SCHEMAS[of]()
    assert response["Content-Disposition"] == f'attachment; filename="{of}.schema.json"'


def test_there_is_no_schema_of_anything_else(browser: Client) -> None:
    assert browser.get("/schemas/runs.json").status_code == 404
