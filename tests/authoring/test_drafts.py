"""What is typed is kept without being saved, and two people editing the same scenario lose nothing."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from scenarios_app.models import FinishedPage, Scenario, ScenarioDraft, ScenarioVersion
from scenarios_app.services import begin_draft, finish_page, keep_draft, save_scenario
from scenarios_app.spec.merging import merge_documents
from tests.authoring.pages import TYPED, inputs, typed
from tests.support import make_scenario, make_user, scenario_json

pytestmark = pytest.mark.django_db

EDIT = "/scenarios/book_table/edit/"


def test_what_was_typed_is_there_when_the_tab_was_closed(browser: Client, alice: User) -> None:
    stored = make_scenario()
    assert "Draft kept" in typed(browser, browser.get(EDIT), title="Half a ti", assertions="[", note="why")
    again = browser.get(EDIT)
    assert (inputs(again)["title"], inputs(again)["assertions"], inputs(again)["note"]) == ("Half a ti", "[", "why")
    assert "begun on version 1" in again.content.decode()
    assert "assertions" in again.context["editor"].form.errors
    bob = Client()
    bob.force_login(make_user("bob"))
    assert inputs(bob.get(EDIT))["title"] == stored.title
    browser.post(EDIT, {**inputs(again), "assertions": "", "action": "save"})
    assert not ScenarioDraft.objects.exists()
    assert ScenarioVersion.objects.get(number=2).title == "Half a ti"


def test_a_draft_is_thrown_away_by_its_button_and_goes_when_nothing_differs_any_more(browser: Client) -> None:
    make_scenario()
    page = browser.get(EDIT)
    typed(browser, page, title="Other")
    response = browser.post("/scenarios/discard/", inputs(browser.get(EDIT)), follow=True)
    assert "thrown away" in response.content.decode()
    assert inputs(response)["title"] == inputs(page)["title"]
    typed(browser, page, title="Other")
    typed(browser, page)
    assert not ScenarioDraft.objects.exists()


def test_the_check_alone_keeps_nothing(browser: Client) -> None:
    make_scenario()
    browser.post(TYPED, {**inputs(browser.get(EDIT)), "title": "Other"})
    assert not ScenarioDraft.objects.exists()


def test_a_new_scenario_has_drafts_of_its_own_and_others_are_listed(browser: Client) -> None:
    assert "Draft kept" in typed(browser, browser.get("/scenarios/new/"), title="First 🍕")
    typed(browser, browser.get("/scenarios/new/"), title="Second")
    first, second = ScenarioDraft.objects.order_by("pk")
    page = browser.get("/scenarios/new/", {"draft": first.pk})
    assert inputs(page)["title"] == "First 🍕"
    assert [draft.title for draft in page.context["others"]] == ["Second"]
    written = {"id": "fresh", "text": "Hello", "answer": "Greets.", "action": "save"}
    browser.post("/scenarios/new/", {**inputs(page), **written})
    assert list(ScenarioDraft.objects.all()) == [second]
    assert "in another tab" in typed(browser, page, title="Third")
    assert list(ScenarioDraft.objects.all()) == [second]
    for wild in ("9" * 30, "x", "-1"):
        assert inputs(browser.get("/scenarios/new/", {"draft": wild}))["title"] == ""


def test_of_many_unfinished_scenarios_the_newest_are_listed_and_the_rest_counted(browser: Client, alice: User) -> None:
    for number in range(20):
        begin_draft(person=alice, content=scenario_json(f"begun_{number}", title=f"Begun {number}"))
    page = browser.get("/scenarios/new/").content.decode()
    assert "20 unfinished scenarios of yours" in page
    assert "are listed" not in page
    begin_draft(person=alice, content=scenario_json("newest", title="Newest"))
    page = browser.get("/scenarios/new/").content.decode()
    assert "21 unfinished scenarios of yours" in page
    assert "The newest 20 are listed" in page
    assert "Newest" in page
    assert "Begun 0<" not in page


def test_a_page_that_does_not_know_its_draft_yet_keeps_one_draft(browser: Client) -> None:
    """Answers that are overtaken by typing are not shown, and with them goes the draft's number."""
    page = browser.get("/scenarios/new/")
    typed(browser, page, title="One")
    typed(browser, page, title="One tw")
    typed(browser, page, view="json", text_json='{"title": "One two')
    assert ScenarioDraft.objects.get().fields["text_json"] == '{"title": "One two'
    written = {"id": "fresh", "title": "One two", "text": "Hello", "answer": "Greets.", "action": "save"}
    browser.post("/scenarios/new/", {**inputs(page), **written})
    assert Scenario.objects.get().key == "fresh"
    assert not ScenarioDraft.objects.exists()


def test_nobody_opens_or_drops_the_drafts_of_others(browser: Client, alice: User) -> None:
    theirs = begin_draft(person=make_user("bob"), content=scenario_json("theirs", title="Secret"))
    page = browser.get("/scenarios/new/", {"draft": theirs.pk})
    assert "Secret" not in page.content.decode()
    browser.post("/scenarios/discard/", {"draft": theirs.pk})
    typed(browser, page, draft=str(theirs.pk), title="Mine")
    theirs.refresh_from_db()
    assert theirs.title == "Secret"


def test_a_draft_that_is_json_alone_stays_as_it_was_typed(browser: Client) -> None:
    make_scenario()
    typed(browser, browser.get(EDIT), view="json", text_json='{"title": 5')
    page = browser.get(EDIT)
    assert page.context["editor"].text == '{"title": 5'


def test_the_second_of_two_is_told_sees_the_difference_and_loses_nothing(browser: Client) -> None:
    scenario = make_scenario().scenario
    mine = browser.get(EDIT)
    bob = make_user("bob")
    theirs = scenario_json(title="Bob's title", input={"text": "For five, please."})
    save_scenario(scenario=scenario, content=theirs, user=bob, note="five of them")
    told = typed(browser, mine, answer="Mine")
    assert "<bdi>bob</bdi> saved version 2" in told
    assert "five of them" in told
    held = browser.post(EDIT, {**inputs(mine), "answer": "Mine", "action": "save"})
    page = held.content.decode()
    assert ScenarioVersion.objects.count() == 2
    assert "They changed · The caller says" in page
    assert "For five" in page
    assert "Bob's title".replace("'", "&#x27;") in page
    assert "They changed · The caller says" in typed(browser, held, notes="Still there while I go on typing.")
    brought = browser.post(EDIT, {**inputs(held), "action": "merge"})
    assert "nothing was changed by both" in brought.content.decode()
    browser.post(EDIT, {**inputs(brought), "action": "save"})
    latest = ScenarioVersion.objects.get(number=3).content
    assert (latest["title"], latest["input"]["text"]) == ("Bob's title", "For five, please.")
    assert latest["expected"]["answer"] == "Mine"


def held_back(browser: Client) -> Any:
    """The page of a save that came second: bob has changed the title meanwhile."""
    scenario = make_scenario().scenario
    mine = browser.get(EDIT)
    save_scenario(scenario=scenario, content=scenario_json(title="Theirs"))
    return browser.post(EDIT, {**inputs(mine), "answer": "Mine", "action": "save"})


@pytest.mark.parametrize(
    "change", [{"action": "save", "assertions": "["}, {"action": "merge", "assertions": "["}, {"action": "add:turns"}]
)
def test_a_save_that_was_held_back_stays_so_whatever_is_mended_first(browser: Client, change: dict[str, str]) -> None:
    between = browser.post(EDIT, {**inputs(held_back(browser)), **change})
    assert "They changed" in between.content.decode()
    brought = browser.post(EDIT, {**inputs(between), "assertions": "", "action": "merge"})
    browser.post(EDIT, {**inputs(brought), "action": "save"})
    latest = ScenarioVersion.objects.get(number=3).content
    assert (latest["title"], latest["expected"]["answer"]) == ("Theirs", "Mine")


def test_a_third_save_meanwhile_hides_nothing_of_the_second(browser: Client) -> None:
    held = held_back(browser)
    third = scenario_json(title="Theirs", owner="carol")
    save_scenario(scenario=Scenario.objects.get(), content=third)
    again = browser.post(EDIT, {**inputs(held), "action": "save"})
    brought = browser.post(EDIT, {**inputs(again), "action": "merge"})
    browser.post(EDIT, {**inputs(brought), "action": "save"})
    latest = ScenarioVersion.objects.get(number=4).content
    assert (latest["title"], latest["owner"], latest["expected"]["answer"]) == ("Theirs", "carol", "Mine")


def test_a_draft_of_a_save_that_was_held_back_remembers_where_it_began(browser: Client) -> None:
    typed(browser, held_back(browser), notes="And on.")
    again = browser.get(EDIT)
    assert "begun on version 1" in again.content.decode()
    browser.post(EDIT, {**inputs(again), "action": "save"})
    assert ScenarioVersion.objects.count() == 2


def test_a_draft_begins_on_a_version_that_there_is(browser: Client) -> None:
    """PostgreSQL has no room for larger numbers."""
    make_scenario()
    typed(browser, browser.get(EDIT), title="Other", number="9" * 18)
    assert ScenarioDraft.objects.get().number is None


def test_json_that_cannot_be_read_is_not_shown_as_if_it_deleted_everything(browser: Client) -> None:
    told = typed(browser, held_back(browser), view="json", text_json="{")
    assert "They changed" in told
    assert "Saving yours would change" not in told


def test_what_both_changed_is_named_and_mine_while_typing_too(browser: Client) -> None:
    scenario = make_scenario().scenario
    mine = browser.get(EDIT)
    save_scenario(scenario=scenario, content=scenario_json(title="Theirs", owner="bob"))
    page = typed(browser, mine, title="Mine", action="merge")
    assert "<code>title</code>" in page
    assert 'id="begun-on" value="2"' in page
    draft = ScenarioDraft.objects.get()
    assert draft.number == 2
    document = json.loads(draft.fields["text_json"])
    assert (document["title"], document["owner"]) == ("Mine", "bob")


def test_documents_are_merged_key_by_key_and_lists_whole() -> None:
    base = {"a": 1, "b": {"c": 1, "d": 1}, "tags": ["x"], "gone": 1, "kept": 1}
    mine = {"a": 2, "b": {"c": 2, "d": 1}, "tags": ["x", "m"], "kept": 1, "new": 1}
    theirs = {"a": 1, "b": {"c": 1}, "tags": ["x", "t"], "gone": 1, "kept": True, "other": None}
    merge = merge_documents(base, mine, theirs)
    assert merge.document == {"a": 2, "b": {"c": 2}, "tags": ["x", "m"], "kept": True, "new": 1, "other": None}
    assert merge.conflicts == ("tags",)
    assert Scenario.objects.count() == 0


def test_what_was_typed_before_a_save_and_arrives_after_it_is_no_draft_again(browser: Client) -> None:
    make_scenario()
    page = browser.get(EDIT)
    browser.post(EDIT, {**inputs(page), "title": "Other", "action": "save"})
    assert "kept only when you save it" in typed(browser, page, title="Othe")
    assert not ScenarioDraft.objects.exists()
    fresh = browser.get("/scenarios/new/")
    written = {"id": "fresh", "title": "Fresh", "text": "Hello", "answer": "Greets.", "action": "save"}
    browser.post("/scenarios/new/", {**inputs(fresh), **written})
    typed(browser, fresh, title="Fres")
    assert not ScenarioDraft.objects.exists()


def test_another_tab_goes_on_being_kept_after_a_save(browser: Client) -> None:
    make_scenario()
    one, other = browser.get(EDIT), browser.get(EDIT)
    browser.post(EDIT, {**inputs(one), "title": "Saved", "action": "save"})
    assert "Draft kept" in typed(browser, other, answer="Still being written.")
    assert ScenarioDraft.objects.get().number == 1


def test_what_was_typed_before_a_draft_was_thrown_away_does_not_bring_it_back(browser: Client) -> None:
    make_scenario()
    page = browser.get(EDIT)
    typed(browser, page, title="Other")
    browser.post("/scenarios/discard/", inputs(page))
    typed(browser, page, title="Othe")
    assert not ScenarioDraft.objects.exists()


def test_a_new_scenario_that_another_tab_saved_does_not_come_back_as_a_draft(alice: User) -> None:
    """Between finding the draft and keeping what was typed lies the other tab's save."""
    draft = begin_draft(person=alice, content=scenario_json("fresh"))
    finish_page(person=alice, tab="one", draft=ScenarioDraft.objects.get())
    assert keep_draft(person=alice, fields={"tab": "two", "view": "form"}, title="", draft=draft) is None
    assert not ScenarioDraft.objects.exists()


def test_what_was_typed_earlier_and_arrives_later_takes_nothing_back(browser: Client) -> None:
    page = browser.get("/scenarios/new/")
    typed(browser, page, title="Two tables", autosave="1764534000500")
    assert "Draft kept" in typed(browser, page, title="Two tab", autosave="1764534000000")
    assert ScenarioDraft.objects.get().title == "Two tables"


def test_pages_that_ended_a_day_ago_are_forgotten(alice: User) -> None:
    finish_page(person=alice, tab="old")
    FinishedPage.objects.update(finished_at=timezone.now() - timedelta(days=1, minutes=1))
    finish_page(person=alice, tab="new")
    assert FinishedPage.objects.get().token == "new"
