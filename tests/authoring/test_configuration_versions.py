"""How long a prompt is, what changed between two versions, and a copy that differs in one thing."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from scenarios_app.changes import content_changes
from scenarios_app.diffing import count_lines, diff_texts, diff_words
from scenarios_app.models import Configuration
from scenarios_app.services import find_configuration, save_configuration
from scenarios_app.spec.prompts import prompt_size
from tests.authoring.pages import inputs
from tests.support import configuration_json, make_application, make_configuration

VARY = "/configurations/Front%20desk/vary/"
texts = st.text("ab. \n", max_size=40)


@pytest.mark.parametrize(
    ("text", "tokens", "words", "lines"),
    [
        ("", 0, 0, 0),
        ("Be brief.", 3, 2, 1),
        ("You answer the phone of a restaurant.\nRead details back.", 14, 10, 2),
        ("予約は八時です。", 9, 1, 1),
        ("1234567", 3, 1, 1),
    ],
)
def test_a_prompt_is_as_long_as_it_is(text: str, tokens: int, words: int, lines: int) -> None:
    size = prompt_size(text)
    assert (size.words, size.lines) == (words, lines)
    assert abs(size.tokens - tokens) <= 1


@given(texts, texts)
def test_more_text_is_never_fewer_tokens(one: str, more: str) -> None:
    assert prompt_size(f"{one}\n{more}").tokens >= prompt_size(one).tokens


@given(texts, texts)
def test_a_difference_by_words_holds_both_texts_and_counts_as_lines_do(old: str, new: str) -> None:
    words = diff_words(old, new)
    assert "".join(text for kind, text in words.pieces if kind != "added") == old
    assert "".join(text for kind, text in words.pieces if kind != "removed") == new
    whole = diff_texts(old, new)
    assert count_lines(old, new) == (whole.added, whole.removed)


def test_words_that_differ_in_a_long_prompt_are_told_at_once() -> None:
    words = [f"w{n * n % 997}" for n in range(2_500)]
    old = " ".join(words)
    words[::40] = ["changed"] * len(words[::40])
    began_s = time.process_time()
    told = diff_words(old, new := " ".join(words))
    assert time.process_time() - began_s < 3  # it took half a minute
    assert (told.added, told.removed) == (63, 63)
    assert "".join(text for kind, text in told.pieces if kind != "added") == old
    assert "".join(text for kind, text in told.pieces if kind != "removed") == new


def test_only_what_differs_is_told_and_a_prompt_by_its_lines() -> None:
    old = {"model": "a", "instructions": "Be kind.\nBe brief.", "audio": {"input": "pcm16", "chunk_ms": 20}}
    new = {"model": "b", "instructions": "Be kind.\nBe slow.\nAsk.", "audio": {"input": "pcm16"}, "voice": "marin"}
    told = [str(change) for change in content_changes(old, new)]
    assert told == ["model a → b", "instructions +2 −1 lines", "audio.chunk_ms 20 → –", "voice – → marin"]
    assert content_changes(old, old) == ()


def shown(browser: Client, url: str, **query: str) -> str:
    response = browser.get(url, query)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.django_db
def test_versions_tell_what_changed_and_prompts_are_compared_by_words_or_lines(browser: Client) -> None:
    make_configuration(voice="marin")
    later = configuration_json(voice="cedar", instructions="You answer the phone of a bakery.\nRead details back.")
    save_configuration(configuration=find_configuration("Front desk"), content=later)
    page = shown(browser, "/configurations/Front%20desk/")
    assert "instructions +1 −1 lines" in page
    assert "voice marin → cedar" in page
    assert "10 words · 2 lines" in page
    lines = shown(browser, "/configurations/Front%20desk/diff/")
    assert '<th scope="row" class="mono">voice</th>' in lines
    assert "+1</ins>" in lines
    words = shown(browser, "/configurations/Front%20desk/diff/", view="words")
    assert "a <del>restaurant</del><ins>bakery</ins>." in words
    assert '+1</ins> <del class="count">−1</del> words' in words


@pytest.mark.django_db
def test_while_a_prompt_is_written_its_length_and_its_changes_are_told(browser: Client) -> None:
    make_configuration()
    typed = inputs(browser.get("/configurations/Front%20desk/edit/"))
    told = browser.post("/configurations/understood/", {**typed, "instructions": "You answer.\r\nAsk twice."})
    assert "4 words · 2 lines" in told.content.decode()
    assert '<ins class="count">+2</ins>' in told.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("thing", "text", "place", "value"),
    [
        ("instructions", "Be quick.\r\nBe kind.", "instructions", "Be quick.\nBe kind."),
        ("voice", "cedar", "voice", "cedar"),
        ("application", "Restaurant@1", "application", {"name": "Restaurant", "version": 1}),
        ("caller_condition", '{"noise_snr_db": 10}', "caller", {"condition": {"noise_snr_db": 10}}),
    ],
)
def test_a_copy_differs_in_one_thing_alone(browser: Client, thing: str, text: str, place: str, value: Any) -> None:
    make_application()
    original = make_configuration(headers={"X-Seed": "{{trial.seed}}"}, timeouts={"turn": "60s"})
    page = browser.get(VARY, {"thing": thing})
    name = inputs(page)["name"]
    response = browser.post(f"{VARY}?thing={thing}", {"thing": thing, "text": text, "name": name})
    made = Configuration.objects.get(name=name)
    assert response.headers["Location"] == made.get_absolute_url()
    assert made.latest is not None
    assert made.latest.content == {**original.content, "name": name, place: value}
    assert f"Like {original.configuration.name}" in made.latest.note


@pytest.mark.django_db
def test_the_backend_is_varied_where_there_is_one(browser: Client) -> None:
    backend = {"mode": "responses", "model": "thinker"}
    make_configuration(backend=backend)
    page = inputs(browser.get(VARY, {"thing": "backend_model"}))
    assert page["text"] == "thinker"
    browser.post(f"{VARY}?thing=backend_model", {"thing": "backend_model", "text": "brooder", "name": "Twin"})
    latest = Configuration.objects.get(name="Twin").latest
    assert latest is not None
    assert latest.content["backend"] == {**backend, "model": "brooder"}
    make_configuration("Alone")
    for place, offered in ((VARY, True), ("/configurations/Alone/vary/", False)):
        assert ("thing=backend_model" in browser.get(place).content.decode()) is offered


@pytest.mark.django_db
def test_a_copy_that_would_not_differ_or_not_work_is_refused_and_keeps_what_was_typed(browser: Client) -> None:
    make_configuration()
    taken = {"thing": "model", "text": "other", "name": "front DESK"}
    assert "is taken" in browser.post(VARY, taken).content.decode()
    same = {"thing": "model", "text": "test-voice", "name": "Twin"}
    assert "has already" in browser.post(VARY, same).content.decode()
    wrong = {"thing": "turn_detection", "text": "telepathy", "name": "Twin"}
    page = browser.post(VARY, wrong).content.decode()
    assert "telepathy" in page
    assert 'value="Twin"' in page
    assert "turn_detection" in page
    assert browser.get("/configurations/nobody/vary/").status_code == 404
    assert Configuration.objects.count() == 1


def test_what_is_worth_a_second_look_is_said_where_a_saved_configuration_stands(browser: Client) -> None:
    """A key of the other dialect is kept, and would be refused by the server: the page says so before a run does."""
    make_configuration()
    page = browser.get("/configurations/Front%20desk/").content.decode()
    assert "Worth a second look" not in page
    values = inputs(browser.get("/configurations/Front%20desk/edit/"))
    values |= {"dialect": "ga", "session_update": '{"modalities": ["text"]}', "action": "save"}
    page = browser.post("/configurations/Front%20desk/edit/", values, follow=True).content.decode()
    assert "Saved as Front desk@2." in page
    assert "Worth a second look" in page
    assert "session_update.modalities: only the beta dialect has this key" in page
