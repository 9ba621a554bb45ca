from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.calls import CallBook, read_arguments, required_arguments
from runs_app.realtime.dialects.base import ArgumentsPiece, CallSeen


def seen(call_id: str | None = "c1", item_id: str | None = "i1", **more: object) -> CallSeen:
    known = {"response_id": "r1", "output_index": 0, "name": "ping", "arguments": "{}", "status": None}
    return CallSeen(item_id=item_id, call_id=call_id, **{**known, **more})  # type: ignore[arg-type]


@pytest.mark.quirk(15)
def test_a_call_without_a_call_id_is_told_apart_by_its_item() -> None:
    book = CallBook()
    book.see(seen(call_id=None, item_id="i1"), 1.0)
    book.see(seen(call_id=None, item_id="i2"), 2.0)
    book.see(seen(call_id=None, item_id="i1"), 3.0)
    assert [draft.id for draft in book.take()] == ["i1", "i2"]


def test_a_call_id_learnt_late_joins_its_item() -> None:
    book = CallBook()
    book.add_piece(ArgumentsPiece("i1", None, '{"a":'), 1.0)
    book.add_piece(ArgumentsPiece("i1", "c1", "1}"), 2.0)
    book.see(seen(call_id="c1", item_id=None, arguments=None), 3.0)
    (draft,) = book.take()
    assert (draft.id, draft.raw, draft.name, draft.called_ms) == ("c1", '{"a":1}', "ping", 1.0)


def test_one_item_id_for_two_call_ids_is_two_calls() -> None:
    book = CallBook()
    book.see(seen(call_id="c1", item_id="same"), 1.0)
    book.see(seen(call_id="c2", item_id="same"), 2.0)
    assert [draft.id for draft in book.take()] == ["c1", "c2"]


def test_a_call_is_given_once_also_when_it_is_told_again_later() -> None:
    book = CallBook()
    book.see(seen(), 1.0)
    assert len(book.take()) == 1
    book.see(seen(response_id="r2"), 2.0)
    assert book.take() == []


def test_calls_are_given_by_their_place_in_the_output() -> None:
    book = CallBook()
    book.see(seen("c2", "i2", output_index=2), 1.0)
    book.see(seen("c3", "i3", output_index=None), 2.0)
    book.see(seen("c1", "i1", output_index=1), 3.0)
    assert [draft.id for draft in book.take()] == ["c1", "c2", "c3"]


def test_the_time_of_a_call_is_when_its_arguments_were_complete() -> None:
    book = CallBook()
    book.see(seen(arguments=None, status="in_progress"), 1.0)
    book.see(seen(), 5.0)
    book.see(seen(status="completed"), 9.0)
    (draft,) = book.take()
    assert (draft.called_ms, draft.complete) == (5.0, True)


def test_an_empty_repetition_does_not_take_arguments_away() -> None:
    book = CallBook()
    book.see(seen(arguments='{"a": 1}'), 1.0)
    book.see(seen(arguments=""), 2.0)
    assert book.take()[0].raw == '{"a": 1}'


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=4))
def test_every_json_object_is_read(value: dict[str, object]) -> None:
    read = read_arguments(json.dumps(value))
    assert read.error is None
    assert read.value is not None
    assert len(read.value) == len(value)


@given(st.text(max_size=60))
def test_any_text_gives_an_object_or_a_reason_and_never_an_exception(raw: str) -> None:
    read = read_arguments(raw, required=("date",))
    assert (read.value is None) == (read.error is not None)


def test_deeply_nested_arguments_are_an_error_and_no_crash() -> None:
    assert read_arguments("[" * 100_000).value is None
    assert read_arguments('{"a":' * 100_000).error is not None


def test_what_a_schema_requires_is_read_with_care() -> None:
    tools: list[dict[str, Any]] = [
        {"name": "a", "parameters": {"required": ["x", "y"]}},
        {"name": "b", "parameters": {"required": None}},
        {"name": "c"},
    ]
    assert required_arguments(tools) == {"a": ("x", "y"), "b": (), "c": ()}
