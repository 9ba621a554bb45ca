"""Text that real people write, on its way through form, JSON, draft and page; and what must not get in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import DataError, connection
from django.test import Client

from scenarios_app.models import ScenarioDraft, ScenarioVersion
from tests.authoring.pages import TYPED, inputs, typed
from tests.support import make_scenario

pytestmark = pytest.mark.django_db

EDIT = "/scenarios/book_table/edit/"
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
TEXTS = [
    "\u200fأريد حجز طاولة باسم Nora في الساعة 18:00",
    "אני רוצה להזמין שולחן!",
    "予約をお願いします" * 45,
    "โต๊ะสำหรับสี่คน",
    "\u202eoverride\u202c and e\u0301 beside \u00e9",
    f"Pizza 🍕 for {FAMILY}, {'🇺🇦'}",
]


@pytest.mark.case("E13")
@pytest.mark.parametrize("text", TEXTS)
def test_text_in_any_script_survives_form_json_draft_and_page(browser: Client, text: str) -> None:
    """E13: every code point comes back, whichever side it was typed on."""
    make_scenario()
    page = browser.get(EDIT)
    cells = {"required-0-args-0-value": text, "required-0-args-0-match": "$text", "state-0-value": text}
    typed(browser, page, text=text, title=text, tags=text.replace(",", ""), **cells)
    kept = browser.get(EDIT)
    assert inputs(kept)["text"] == inputs(kept)["title"] == text
    document = json.loads(inputs(kept)["text_json"])
    assert document["input"]["text"] == document["title"] == text
    assert document["expected"]["tools"]["required"][0]["arguments"]["party_size"] == {"$text": text}
    browser.post(EDIT, {**inputs(kept), "view": "json", "text_json": json.dumps(document), "action": "save"})
    content = ScenarioVersion.objects.get(number=2).content
    assert content["input"]["text"] == content["title"] == text
    assert text in browser.get("/scenarios/book_table/").content.decode()
    assert inputs(browser.get(EDIT))["required-0-args-0-value"] == text


@pytest.mark.case("E09")
def test_halves_of_characters_and_nul_become_a_mark_and_nothing_else_is_lost(browser: Client) -> None:
    """E09: a split pair is one emoji, a lonely half and NUL are U+FFFD, the six characters of an escape stay."""
    make_scenario()
    page = browser.get(EDIT)
    written = {**json.loads(inputs(page)["text_json"]), "notes": "NOTES", "owner": "six: \\u0000"}
    text = json.dumps(written).replace("NOTES", "\\ud83c\\udf55 \\ud83c \\u0000 end")
    typed(browser, page, view="json", text_json=text)
    assert ScenarioDraft.objects.exists()
    kept = inputs(browser.get(EDIT))
    assert (kept["notes"], kept["owner"]) == ("🍕 \ufffd \ufffd end", "six: \\u0000")
    assert "Draft kept" in typed(browser, page, title="a\x00b")
    browser.post(EDIT, {**inputs(page), "title": "a\x00b", "note": "c\x00d", "action": "save"})
    saved = ScenarioVersion.objects.get(number=2)
    assert (saved.title, saved.note) == ("a\ufffdb", "c\ufffdd")


def without_nul(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    """What PostgreSQL takes; SQLite takes more."""
    if any(isinstance(value, str) and "\0" in value for value in params or ()):
        raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
    return execute(sql, params, many, context)


@pytest.mark.parametrize(
    ("address", "odd"),
    [
        (TYPED, {"application": "a\0"}),
        (TYPED, {"scenario": "a\0"}),
        (TYPED, {"tab": "a\0", "scenario": "", "title": "b"}),
        (EDIT, {"application": "a\0", "action": "save"}),
        ("/scenarios/new/", {"tab": "a\0", "action": "check"}),
        ("/scenarios/discard/", {"scenario": "a\0"}),
        ("/scenarios/chosen/", {"which": "found", "action": "archive", "suite": "a\0", "tag": "b\0", "q": "c\0"}),
        ("/scenarios/chosen/", {"id": "a\0", "action": "archive"}),
    ],
)
def test_names_with_nul_are_asked_of_no_database(browser: Client, address: str, odd: dict[str, str]) -> None:
    make_scenario()
    page = inputs(browser.get(EDIT))
    with connection.execute_wrapper(without_nul):
        assert browser.post(address, {**page, "autosave": "1", **odd}).status_code < 500


@pytest.mark.parametrize("key", ['["\\ud800"]', ".".join("a" * 3000)])
def test_a_path_that_no_document_could_hold_is_no_fault_of_the_page(browser: Client, key: str) -> None:
    """Half a character in a quoted name, and more names inside each other than JSON may have levels."""
    make_scenario()
    page = browser.get(EDIT)
    odd = {"initial_state-1-at": "", "initial_state-1-key": key, "initial_state-1-value": "[1"}
    assert "initial_state" in typed(browser, page, **odd)
    odd["initial_state-1-value"] = "1"
    saved = browser.post(EDIT, {**inputs(page), **odd, "action": "save"})
    if saved.status_code == 200:
        assert "lies deeper than 100 levels" in saved.content.decode()
    else:
        assert ScenarioVersion.objects.get(number=2).content["application"]["initial_state"]["\ufffd"] == 1


@pytest.mark.case("E07")
@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_what_is_no_number_is_refused_at_its_line_and_at_its_cell(browser: Client, number: str) -> None:
    """E07: in JSON with its line; in a cell as part of a list; alone in a cell it is the word that was typed."""
    make_scenario()
    page = browser.get(EDIT)
    text = inputs(page)["text_json"].replace('"party_size": 3', f'"party_size": {number}')
    line = next(n for n, row in enumerate(text.splitlines(), 1) if number in row)
    assert f'data-lines="{line}"' in typed(browser, page, view="json", text_json=text)
    cell = "required-0-args-0-value"
    said = typed(browser, page, **{cell: f"[1, {number}]"})
    assert f'id="id_{cell}_error" hx-swap-oob="true"><p>' in said
    browser.post(EDIT, {**inputs(page), cell: number, "action": "save"})
    calls = ScenarioVersion.objects.get(number=2).content["expected"]["tools"]["required"]
    assert calls[0]["arguments"] == {"party_size": number}
