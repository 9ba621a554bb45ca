from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scenarios_app.models import Scenario, ScenarioVersion
from scenarios_app.services import archive, import_scenarios, save_scenario
from tests.authoring.pages import inputs
from tests.support import make_application, make_scenario, make_suite, scenario_file, scenario_json

pytestmark = pytest.mark.django_db

FAULTS = {"create_reservation": {"mode": "empty"}}  # a field that the form does not have
EDIT = "/scenarios/book_table/edit/"


def text_of(browser: Client, url: str, **query: str) -> str:
    response = browser.get(url, query)
    assert response.status_code == 200
    return response.content.decode()


# The list


def test_the_list_searches_filters_and_sorts_by_its_url(browser: Client) -> None:
    first = make_scenario("a_one", title="Zulu", tags=["booking"]).scenario
    make_scenario("b_two", title="Alpha", tags=["cancel"], input={"text": "Cancel it, please."})
    make_suite("demo", [first])
    assert "b_two" not in text_of(browser, "/scenarios/", q="zulu")
    assert "a_one" not in text_of(browser, "/scenarios/", q="cancel it")
    assert "a_one" not in text_of(browser, "/scenarios/", tag="cancel")
    assert "b_two" not in text_of(browser, "/scenarios/", suite="DEMO")
    page = text_of(browser, "/scenarios/", sort="title")
    assert page.index("b_two") < page.index("a_one")
    assert "Nothing matches" in text_of(browser, "/scenarios/", q="zulu", tag="cancel")


def test_archived_scenarios_have_a_list_of_their_own(browser: Client) -> None:
    archive(things=[make_scenario("old_one").scenario])
    make_scenario("new_one")
    assert "old_one" not in text_of(browser, "/scenarios/")
    archived = text_of(browser, "/scenarios/", archived="1")
    assert "old_one" in archived
    assert "new_one" not in archived


def test_a_page_holds_a_hundred_and_a_wild_number_is_no_error(browser: Client) -> None:
    import_scenarios(data=scenario_file([scenario_json(f"case_{n:03}") for n in range(130)]), suite_name="big")
    assert "1 to 100 of 130" in text_of(browser, "/scenarios/")
    assert "case_129" in text_of(browser, "/scenarios/", page="2")
    for wild in ("99", "0", "-1", "x"):
        text_of(browser, "/scenarios/", page=wild)


def test_a_long_list_takes_as_many_queries_as_a_short_one(browser: Client, django_assert_max_num_queries: Any) -> None:
    import_scenarios(data=scenario_file([scenario_json(f"case_{n:03}") for n in range(100)]), suite_name="big")
    with django_assert_max_num_queries(8):
        text_of(browser, "/scenarios/")


# One scenario


def test_the_page_reads_out_what_matters(browser: Client) -> None:
    content = scenario_json(
        input={
            "text": "Hello <there>",
            "context": {"summary": "Called before.", "history": [{"role": "assistant", "text": "Hi"}]},
        },
        critical=True,
        tool_faults={"create_reservation": {"mode": "malformed"}},
    )
    make_scenario(**{key: value for key, value in content.items() if key != "id"})
    page = text_of(browser, "/scenarios/BOOK_table/")
    for said in (
        "Hello &lt;there&gt;",
        "Called before.",
        "create_reservation",
        "party_size",
        "critical",
        "malformed",
    ):
        assert said in page, said


def test_older_versions_keep_their_text_and_are_compared(browser: Client) -> None:
    scenario = make_scenario(input={"text": "A table for three."}).scenario
    save_scenario(scenario=scenario, content=scenario_json(input={"text": "A table for four."}), note="more guests")
    assert "A table for four." in text_of(browser, "/scenarios/book_table/")
    assert "A table for three." in text_of(browser, "/scenarios/book_table/versions/1/")
    page = text_of(browser, "/scenarios/book_table/diff/")
    assert "<del>three</del>" in page
    assert "<ins>four</ins>" in page
    assert "more guests" in page
    assert "no difference" in text_of(browser, "/scenarios/book_table/diff/", **{"from": "1", "to": "1"})
    assert browser.get("/scenarios/book_table/versions/3/").status_code == 404


def test_an_archived_scenario_is_brought_back_by_its_button(browser: Client) -> None:
    make_scenario()
    browser.post(reverse("scenario-archive", args=["book_table"]), {"archived": "yes"})
    assert Scenario.objects.archived().exists()
    assert "This scenario is archived" in browser.get(EDIT).content.decode()
    browser.post(reverse("scenario-archive", args=["book_table"]), {"archived": "no"})
    assert Scenario.objects.current().exists()
    assert "This scenario is archived" not in browser.get(EDIT).content.decode()


# Writing


def test_opening_and_saving_changes_nothing(browser: Client) -> None:
    make_scenario()
    response = browser.post(EDIT, {**inputs(browser.get(EDIT)), "action": "save"}, follow=True)
    assert "Nothing had changed" in response.content.decode()
    assert ScenarioVersion.objects.count() == 1


def test_a_changed_field_becomes_the_next_version(browser: Client, alice: object) -> None:
    make_scenario()
    changes = {"text": "Four people,\r\nplease.", "note": "because", "action": "save"}
    response = browser.post(EDIT, {**inputs(browser.get(EDIT)), **changes})
    assert response.headers["Location"] == "/scenarios/book_table/"
    version = ScenarioVersion.objects.get(number=2)
    assert version.content == scenario_json(input={"text": "Four people,\nplease."})
    assert (version.note, version.created_by) == ("because", alice)


def test_a_script_of_turns_is_written_in_the_form_and_read_out_on_the_page(browser: Client) -> None:
    make_scenario()
    turns = [
        {"text": "For four.", "interrupt_after_ms": 900},
        {"text": "Well?", "wait": "silence"},
        {"text": "Hm.", "interrupt_after_ms": 0},
        {"text": "Yes."},
    ]
    rows = {f"turns-{n}-{name}": str(value) for n, turn in enumerate(turns) for name, value in turn.items()}
    changes = {"interaction": "multi_turn", **rows, "max_turns": "4", "action": "save"}
    response = browser.post(EDIT, {**inputs(browser.get(EDIT)), **changes})
    assert response.status_code == 302, response.context["editor"].form.errors
    content = ScenarioVersion.objects.get(number=2).content
    assert (content["input"]["turns"], content["max_turns"]) == (turns, 4)
    page = text_of(browser, "/scenarios/book_table/")
    for said in (
        "For four.",
        "over the reply, after 900 ms of it",
        "after a second of silence",
        "as soon as the reply begins",
        "after the reply",
    ):
        assert said in page, said
    broken = {"turns-0-wait": "long", "action": "save"}
    response = browser.post(EDIT, {**inputs(browser.get(EDIT)), **broken})
    assert set(response.context["editor"].form.errors) == {"turns-0-wait"}


def test_bad_input_is_shown_at_its_field_and_stores_nothing(browser: Client) -> None:
    make_scenario()
    changes = {"title": " ", "assertions": "{oops", "action": "save"}
    response = browser.post(EDIT, {**inputs(browser.get(EDIT)), **changes})
    assert response.status_code == 200
    form = response.context["editor"].form
    assert set(form.errors) == {"assertions", "title"}
    page = response.content.decode()
    assert '<a href="#id_assertions">Assertions</a>' in page
    assert "{oops" in page
    response = browser.post(EDIT, {**inputs(response), "assertions": "", "title": "Fine", "reference_date": "soon"})
    assert set(response.context["editor"].form.errors) == {"reference_date"}
    assert 'aria-invalid="true"' in response.content.decode()
    assert ScenarioVersion.objects.count() == 1


def test_a_problem_in_a_row_stands_at_the_row(browser: Client) -> None:
    make_scenario()
    changes = {"required-0-args-0-match": "$date", "required-0-args-0-value": "soon", "delegation": "forbidden"}
    response = browser.post(EDIT, {**inputs(browser.get(EDIT)), **changes})
    assert set(response.context["editor"].form.errors) == {"required-0-args-0-value", "required-0-name"}


def test_the_views_switch_without_a_script_and_keep_what_was_typed(browser: Client) -> None:
    make_scenario(tool_faults=FAULTS)
    as_json = browser.post(EDIT, {**inputs(browser.get(EDIT)), "title": "Typed", "action": "json"})
    document = json.loads(inputs(as_json)["text_json"])
    assert (document["title"], document["tool_faults"]) == ("Typed", FAULTS)
    document["tags"] = ["new"]
    as_form = browser.post(EDIT, {**inputs(as_json), "text_json": json.dumps(document), "action": "form"})
    values = inputs(as_form)
    assert (values["title"], values["tags"]) == ("Typed", "new")
    browser.post(EDIT, {**values, "action": "save"})
    assert ScenarioVersion.objects.get(number=2).content == scenario_json(
        title="Typed", tags=["new"], tool_faults=FAULTS
    )


def test_errors_in_json_name_their_lines(browser: Client) -> None:
    make_scenario()
    page = browser.get(EDIT, {"view": "json"})
    text = inputs(page)["text_json"].replace('"single_turn"', '"duet"')
    response = browser.post(EDIT, {**inputs(page), "text_json": text, "action": "save"})
    (problem,) = response.context["editor"].problems
    assert text.splitlines()[problem.line - 1].strip() == '"interaction": "duet",'
    assert inputs(response)["text_json"] == text
    assert ScenarioVersion.objects.count() == 1


def test_a_row_is_added_without_a_script(browser: Client) -> None:
    make_scenario()
    response = browser.post(EDIT, {**inputs(browser.get(EDIT)), "action": "add:required"})
    values = inputs(response)
    assert values["required-0-name"] == "create_reservation"
    assert values["required-1-name"] == ""
    assert "required-2-name" not in values


def test_someone_elses_save_is_not_overwritten_unseen(browser: Client) -> None:
    scenario = make_scenario().scenario
    mine = inputs(browser.get(EDIT)) | {"title": "Mine"}
    save_scenario(scenario=scenario, content=scenario_json(title="Theirs"))
    switched = browser.post(EDIT, {**mine, "action": "json"})
    response = browser.post(EDIT, {**inputs(switched), "action": "save"})
    assert "while you were editing" in response.content.decode()
    assert ScenarioVersion.objects.count() == 2
    browser.post(EDIT, {**inputs(response), "action": "save"})
    assert ScenarioVersion.objects.get(number=3).title == "Mine"


def test_an_older_version_can_be_the_beginning_of_the_next(browser: Client) -> None:
    scenario = make_scenario(title="First").scenario
    save_scenario(scenario=scenario, content=scenario_json(title="Second"))
    browser.post(EDIT, {**inputs(browser.get(EDIT, {"from": "1"})), "action": "save"})
    assert ScenarioVersion.objects.get(number=3).title == "First"
    for other in ("9", "9" * 5000, "²", "x"):
        assert browser.get(EDIT, {"from": other}).status_code == 404


def test_an_older_version_is_restored_by_its_button(browser: Client) -> None:
    scenario = make_scenario(title="First").scenario
    save_scenario(scenario=scenario, content=scenario_json(title="Second"))
    page = text_of(browser, "/scenarios/book_table/versions/1/")
    assert 'action="/scenarios/book_table/versions/1/restore/"' in page
    for _ in range(2):  # once is enough
        browser.post("/scenarios/book_table/versions/1/restore/")
    newest = ScenarioVersion.objects.order_by("-number")[0]
    assert (newest.number, newest.title, newest.note) == (3, "First", "Version 1 restored")
    assert "title Second → First" in text_of(browser, "/scenarios/book_table/")


def test_a_new_scenario_is_written_from_a_blank_form(browser: Client) -> None:
    values = inputs(browser.get("/scenarios/new/"))
    response = browser.post("/scenarios/new/", {**values, "action": "save"})
    assert {"id", "title", "text", "answer"} <= set(response.context["editor"].form.errors)
    written = {"id": "fresh", "title": "Fresh", "text": "Hello", "answer": "Greets."}
    response = browser.post("/scenarios/new/", {**values, **written, "action": "save"})
    assert response.headers["Location"] == "/scenarios/fresh/"
    assert Scenario.objects.get().latest.content["expected"] == {"answer": "Greets."}  # type: ignore[union-attr]


def test_a_taken_id_is_an_error_at_the_id(browser: Client) -> None:
    make_scenario("taken")
    values = inputs(browser.get("/scenarios/new/")) | {"id": "TAKEN", "title": "T", "text": "Hello", "answer": "A"}
    response = browser.post("/scenarios/new/", {**values, "action": "save"})
    assert set(response.context["editor"].form.errors) == {"id"}
    assert Scenario.objects.count() == 1


def test_a_duplicate_starts_under_a_free_id(browser: Client) -> None:
    make_scenario(title="Original")
    values = inputs(browser.get("/scenarios/new/", {"from": "book_table"}))
    assert (values["id"], values["title"]) == ("book_table-copy", "Original")
    browser.post("/scenarios/new/", {**values, "action": "save"})
    assert Scenario.objects.count() == 2


def test_the_check_while_typing_answers_a_fragment_and_stores_nothing(browser: Client) -> None:
    make_scenario()
    values = inputs(browser.get(EDIT)) | {"interaction": "duet", "text": "A table for tomorrow."}
    page = browser.post(reverse("scenario-validate"), values, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in page
    assert 'id="id_interaction_error" hx-swap-oob="true"><p>' in page
    warned = browser.post(reverse("scenario-validate"), {**values, "interaction": "single_turn"}).content.decode()
    assert "Worth a second look" in warned
    assert ScenarioVersion.objects.count() == 1


def test_a_form_that_lost_its_document_is_a_400(browser: Client) -> None:
    make_scenario()
    for document in ("", "[]", '{"title": 5}'):
        response = browser.post(EDIT, {**inputs(browser.get(EDIT)), "document": document})
        assert response.status_code == 400
        assert "Load the page again" in response.content.decode()


def test_known_tools_and_applications_are_offered(browser: Client) -> None:
    make_application("Restaurant")
    page = text_of(browser, "/scenarios/new/")
    assert '<option value="create_reservation">' in page
    assert '<option value="Restaurant">' in page


@pytest.mark.case("E13")
def test_every_text_has_its_own_direction(browser: Client) -> None:
    """E13: user text is isolated and directed by itself; JSON stays left to right; search finds it."""
    title, text = "\u202eעברית", "\u200fأريد حجز طاولة باسم Nora في الساعة 18:00"
    make_scenario("rtl", title=title, input={"text": text}, tags=["عربي"])
    page = text_of(browser, "/scenarios/rtl/")
    assert f"<bdi>{title}</bdi>" in page
    assert f'<blockquote class="says" dir="auto">{text}</blockquote>' in page
    edit = text_of(browser, "/scenarios/rtl/edit/")
    for name, direction in (("text", "auto"), ("title", "auto"), ("assertions", "ltr"), ("id", "ltr")):
        tag = next(tag for tag in edit.split("<") if f'name="{name}"' in tag)
        assert f'dir="{direction}"' in tag
    assert "rtl" in text_of(browser, "/scenarios/", q="طاولة", tag="عربي")
