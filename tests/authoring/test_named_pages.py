from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from scenarios_app.converters import OUR_WORDS
from scenarios_app.models import Application, ApplicationVersion, Configuration, ConfigurationVersion
from scenarios_app.services import archive, find_configuration, save_application, save_configuration
from scenarios_app.urls import urlpatterns
from tests.authoring.pages import inputs
from tests.support import (
    application_json,
    configuration_json,
    make_application,
    make_configuration,
)

pytestmark = pytest.mark.django_db

EDIT = "/configurations/Front%20desk/edit/"


def content(browser: Client, url: str, **query: str) -> str:
    response = browser.get(url, query)
    assert response.status_code == 200
    return response.content.decode()


# Applications


def test_an_application_is_read_tool_by_tool(browser: Client) -> None:
    make_application(tool_results={"ping": {"ok": True}})
    page = content(browser, "/applications/Restaurant/")
    for said in (
        "create_reservation",
        "Books a table.",
        "party_size",
        "at least 1",
        "required",
        "R-1",
        "17:00",
        "ping",
    ):
        assert said in page, said


def test_an_application_is_written_as_json_with_errors_at_their_lines(browser: Client) -> None:
    values = inputs(browser.get("/applications/new/?view=json"))
    assert "an example" not in values["text_json"]
    broken = json.dumps(application_json(tools=[{"name": "x y"}]), indent=2)
    response = browser.post("/applications/new/", {**values, "text_json": broken})
    (problem,) = response.context["editor"].problems
    assert broken.splitlines()[problem.line - 1].strip() == '"name": "x y"'
    assert f'data-line="{problem.line}"' in response.content.decode()
    assert not Application.objects.exists()
    response = browser.post("/applications/new/", {**values, "text_json": json.dumps(application_json("Küche"))})
    assert response.headers["Location"] == "/applications/K%C3%BCche/"


def test_the_example_to_start_from_is_valid_once_it_has_a_name(browser: Client) -> None:
    values = inputs(browser.get("/applications/new/?view=json"))
    named = json.dumps({**json.loads(values["text_json"]), "name": "First"})
    assert browser.post("/applications/new/", {**values, "text_json": named}).status_code == 302


def test_a_saved_application_is_the_next_version_and_compared_with_the_last(browser: Client) -> None:
    make_application()
    url = "/applications/Restaurant/edit/"
    values = inputs(browser.get(f"{url}?view=json"))
    text = values["text_json"].replace("17:00", "18:00")
    browser.post(url, {**values, "text_json": text, "action": "save"})
    assert ApplicationVersion.objects.get(number=2).content["facts"] == {"opens": "18:00"}
    page = content(browser, "/applications/Restaurant/diff/")
    assert "<del>17</del>" in page
    assert "<ins>18</ins>" in page
    assert "17:00" in content(browser, "/applications/Restaurant/versions/1/")


def test_a_duplicate_application_starts_with_the_same_tools(browser: Client) -> None:
    make_application()
    text = json.loads(inputs(browser.get("/applications/new/", {"from": "Restaurant", "view": "json"}))["text_json"])
    assert (text["name"], text["tools"]) == ("Restaurant copy", application_json()["tools"])


# Configurations


def test_a_configuration_is_read_at_a_glance(browser: Client) -> None:
    make_application()
    make_configuration(
        application={"name": "Restaurant", "version": 1},
        headers={"X-Seed": "{{trial.seed}}"},
        judge={"endpoint": "https://judge.example/v1", "model": "judge-1"},
        persona={"model": "actor"},
    )
    page = content(browser, "/configurations/front%20DESK/")
    for said in ("Read details back.", "test-voice", "Restaurant@1", "{{trial.seed}}", "judge-1", "actor", "prompt@1"):
        assert said in page, said
    assert "<dt>Simulated caller</dt><dd>actor<br>" in page


def test_a_live_configuration_is_spoken_whatever_it_says_of_modes(browser: Client) -> None:
    make_configuration("Desk live", protocol="live", session_update={}, done_tool=None)
    assert "<dt>Mode</dt><dd>audio, real time</dd>" in content(browser, "/configurations/Desk%20live/")


def test_the_backend_behind_a_voice_is_told_at_a_glance(browser: Client) -> None:
    place = "https://thinker.example/v1"
    backend = {"mode": "client", "model": "thinker", "endpoint": place, "reasoning": "low"}
    make_configuration("Desk", backend=backend)
    page = content(browser, "/configurations/Desk/")
    assert f'<dt>Backend</dt><dd>client · thinker<br><span class="mono small muted">{place}</span>' in page
    more = page.partition("<h2>More</h2>")[2].partition("</section>")[0]
    assert ("reasoning" in more, "thinker" in more) == (True, False)
    assert "<dt>Backend</dt>" not in content(browser, make_configuration("Alone").configuration.get_absolute_url())
    make_configuration("Desk live", protocol="live", session_update={}, done_tool=None)
    assert "none: it cannot run without one" in content(browser, "/configurations/Desk%20live/")


def test_the_sound_of_a_spoken_configuration_is_told_both_ways(browser: Client) -> None:
    make_configuration(mode="audio", audio={"input": "g711_ulaw", "chunk_ms": 40})
    page = content(browser, "/configurations/Front%20desk/")
    assert "<dt>Audio</dt><dd>g711_ulaw to the agent, pcm16 from it</dd>" in page
    assert "chunk_ms" in page.partition("<h2>More</h2>")[2].partition("</section>")[0]
    save_configuration(
        configuration=find_configuration("Front desk"),
        content=configuration_json(mode="text", audio={"input": "pcm16"}),
    )
    page = content(browser, "/configurations/Front%20desk/")
    assert "<dt>Audio</dt>" not in page
    assert "<h2>More</h2>" not in page


def test_prompts_are_counted_by_their_texts(browser: Client) -> None:
    make_configuration(instructions="A")
    for text, model in (("B", "m"), ("B", "n"), ("A", "n")):
        save_configuration(
            configuration=find_configuration("Front desk"), content=configuration_json(instructions=text, model=model)
        )
    response = browser.get("/configurations/Front%20desk/")
    labels = response.context["labels"]
    shown = {version.number: [label.text for label in labels[version.pk]] for version in response.context["versions"]}
    assert {number: texts[:2] for number, texts in shown.items()} == {
        1: ["prompt@1", "test-voice"],
        2: ["prompt@2", "m"],
        3: ["prompt@2", "n"],
        4: ["prompt@1", "n"],
    }
    assert '<b title="differs from the version before">prompt@1</b>' in response.content.decode()


def test_a_removed_sentence_is_saved_as_the_next_version_and_seen_in_the_difference(browser: Client) -> None:
    make_configuration(instructions="Be brief.\nUse the corrected value.\nRead back.")
    values = inputs(browser.get(EDIT))
    changed = {"instructions": "Be very brief.\r\nRead back.", "action": "save"}
    response = browser.post(EDIT, {**values, **changed})
    assert response.headers["Location"] == "/configurations/Front%20desk/"
    assert ConfigurationVersion.objects.get(number=2).content == configuration_json(
        instructions="Be very brief.\nRead back."
    )
    page = content(browser, "/configurations/Front%20desk/diff/")
    assert "<del>Use the corrected value.</del>" in page
    assert re.search(r"<ins> ?very ?</ins>", page)


def test_bad_input_is_shown_at_its_field_and_stores_nothing(browser: Client) -> None:
    make_configuration()
    bad = {
        "endpoint": "ftp://x",
        "headers": "[1]",
        "timeout_turn": "soon",
        "application": "Nowhere@1",
        "caller_api_key": "{{secrets.}}",
    }
    response = browser.post(EDIT, {**inputs(browser.get(EDIT)), **bad, "action": "save"})
    assert {"headers", "timeout_turn"} <= set(response.context["editor"].form.errors)
    response = browser.post(EDIT, {**inputs(response), "headers": "", "timeout_turn": "60s", "action": "save"})
    assert set(response.context["editor"].form.errors) == {"endpoint", "caller_api_key"}
    fixed = {"endpoint": "ws://127.0.0.1:9/v1/realtime", "caller_api_key": ""}
    response = browser.post(EDIT, {**inputs(response), **fixed})
    assert "no application &#x27;Nowhere&#x27;" in response.content.decode()
    assert set(response.context["editor"].form.errors) == {"application"}
    assert ConfigurationVersion.objects.count() == 1


def test_a_new_configuration_starts_ready_to_run(browser: Client, settings: Any) -> None:
    for simulator, endpoint in (("", "wss://api.openai.com/v1/realtime"), ("http://127.0.0.1:9", "simulator")):
        settings.SIMULATOR_URL = simulator
        values = inputs(browser.get("/configurations/new/"))
        assert (values["endpoint"], values["mode"]) == (endpoint, "audio")
        response = browser.post("/configurations/new/", {**values, "name": f"From {endpoint[:3]}"})
        assert response.status_code == 302, response.context["editor"].problems
    assert Configuration.objects.count() == 2


@pytest.mark.parametrize(("name", "said"), [("a,b", "comma"), ("a@b", "@"), ("FRONT desk", "taken"), ("", "name")])
def test_names_are_judged_at_their_field(browser: Client, name: str, said: str) -> None:
    make_configuration()
    response = browser.post("/configurations/new/", {**inputs(browser.get("/configurations/new/")), "name": name})
    (message,) = response.context["editor"].form.errors["name"]
    assert said in message or not name
    assert Configuration.objects.count() == 1


def test_applications_are_offered_with_their_versions(browser: Client) -> None:
    application = make_application().application
    save_application(application=application, content=application_json(facts={}))
    page = content(browser, "/configurations/new/")
    for label in ("Restaurant", "Restaurant@1", "Restaurant@2"):
        assert f'<option value="{label}">' in page


def test_a_stored_configuration_whose_application_is_gone_still_opens(browser: Client) -> None:
    make_application()
    make_configuration(application={"name": "Restaurant"})
    Configuration.objects.update()
    Application.objects.update(name="Renamed")
    response = browser.get(EDIT)
    assert set(response.context["editor"].form.errors) == {"application"}
    assert browser.get("/configurations/Front%20desk/").status_code == 200


def test_the_checks_while_typing_answer_fragments(browser: Client) -> None:
    make_configuration()
    values = inputs(browser.get(EDIT)) | {"endpoint": "nowhere"}
    page = browser.post(reverse("configuration-validate"), values).content.decode()
    assert "<html" not in page
    assert 'id="id_endpoint_error" hx-swap-oob="true"><p>' in page
    page = browser.post(reverse("application-validate"), {"text_json": '{"name": 5}'}).content.decode()
    assert "Line 1, name" in page


def test_lists_take_few_queries(browser: Client, django_assert_max_num_queries: Any) -> None:
    for n in range(20):
        make_application(f"App {n}")
        make_configuration(f"Agent {n}", application={"name": f"App {n}"})
    for url in ("/applications/", "/configurations/"):
        with django_assert_max_num_queries(5):
            assert browser.get(url).status_code == 200


def test_applications_and_configurations_are_exported_with_all_versions_and_come_back_the_same(
    browser: Client, tmp_path: Any
) -> None:
    application = make_application().application
    save_application(application=application, content=application_json(facts={"opens": "18:00"}))
    first = make_configuration(application={"name": "Restaurant", "version": 2}).content
    desk = find_configuration("Front desk")
    for instructions in ("Other.", first["instructions"]):  # the first text comes back as the third version
        save_configuration(configuration=desk, content={**first, "instructions": instructions})
    make_configuration("Night desk")
    files = {kind: tmp_path / f"{kind}.json" for kind in ("applications", "configurations")}
    for kind, file in files.items():
        response = browser.get(f"/{kind}/export/")
        assert f'filename="{kind}-' in response["Content-Disposition"]
        file.write_bytes(response.content)
    exported = json.loads(files["configurations"].read_text())
    assert [(one["name"], one["instructions"]) for one in exported] == [
        ("Front desk", "Other."),
        ("Front desk", first["instructions"]),
        ("Night desk", first["instructions"]),
    ]
    before = ConfigurationVersion.objects.count()
    call_command("import_configurations", str(files["configurations"]))
    assert ConfigurationVersion.objects.count() == before
    for model in (Configuration, Application):
        model.objects.update(latest=None)
    for versions in (ConfigurationVersion, ApplicationVersion):
        versions.objects.all().delete()
    for model in (Configuration, Application):
        model.objects.all().delete()
    call_command("import_applications", str(files["applications"]))
    call_command("import_configurations", str(files["configurations"]))
    for kind, file in files.items():
        assert browser.get(f"/{kind}/export/").content == file.read_bytes()


def test_an_export_takes_what_the_list_shows(browser: Client) -> None:
    make_configuration("Night desk")
    archive(things=[make_configuration("Old desk").configuration])
    make_configuration()
    page = content(browser, "/configurations/?q=night&page=1")
    assert 'href="/configurations/export/?q=night"' in page
    assert [one["name"] for one in browser.get("/configurations/export/?q=night").json()] == ["Night desk"]
    assert [one["name"] for one in browser.get("/configurations/export/").json()] == ["Front desk", "Night desk"]


def test_no_name_is_taken_for_a_page_of_ours() -> None:
    routes = [str(pattern.pattern) for pattern in urlpatterns]
    words = {
        word
        for route in routes
        for room, word, *_ in [route.split("/")]
        if room in ("scenarios", "suites", "applications", "configurations") and word and "<" not in word
    }
    assert words <= OUR_WORDS
    assert reverse("scenario", args=["discard"]) == "/scenarios/~64iscard/"
