"""Failures by kind: what fails alike is one problem, whatever its scenario and its values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.grading.divergence import divergence
from runs_app.grading.failure_kinds import (
    LONGEST_KEY,
    FailureKind,
    Score,
    Verdict,
    failure_signature,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("expected", "actual", "words"),
    [
        ("2027-05-15", "2027-05-14", "one day early"),
        ({"$date": "2027-05-15"}, "May 17, 2027", "two days late"),
        ("2027-05-15", "2026-05-15", "one year early"),
        ("2027-05-15", "2027-07-15", "two months late"),
        ("2027-05-15", "2027-05-22", "one week late"),
        ("2027-05-06", "2027-06-05", "day and month swapped"),
        ("2027-05-15", "2027-05-30", "more than a week late"),
        ("19:00", "07:00", "twelve hours off"),
        ({"$time": "19:00"}, "8 p.m.", "one hour late"),
        ("19:00", "18:45", "less than an hour early"),
        (4, 3, "one too low"),
        (4, 9, "too high"),
        (True, False, "false instead of true"),
        (3, "3", "string instead of number"),
        ("Nora", None, "null instead of string"),
        ("Nora", " ", "empty"),
        ("Nora", "Nora Lind", "more than was asked for"),
        ("Nora Lind", "Nora", "only a part"),
        ("Nora Lindqvist", "Nora Lindkvist", "written differently"),
        ("Nora", "Otto", "another value"),
        ("R-100", "R-701", "other digits"),
        ({"$any_of": ["marina", "harbour"]}, "marena", "written differently"),
        ({"$regex": "^R-"}, "100", "does not fit the pattern"),
        ([1, 2], [1], "too few entries"),
        ({"a": 1}, 3, "another value"),
    ],
)
def test_a_divergence_names_the_way_and_no_value(expected: Any, actual: Any, words: str) -> None:
    assert divergence(expected, actual) == words


def test_what_is_not_there_is_missing() -> None:
    assert divergence("2027-05-15", None, absent=True) == "missing"


@given(JSON, JSON)
def test_any_two_values_diverge_in_some_words(expected: Any, actual: Any) -> None:
    assert divergence(expected, actual)


def contract(**diagnostic: dict[str, Any]) -> list[Verdict]:
    """Failed diagnostic checks, and the required one that sums them up."""
    checks = [Verdict(name, "failed", False, evidence) for name, evidence in diagnostic.items()]
    return [*checks, Verdict("tool_contract", "failed", True, {"expected": 1, "matched": 0})]


def row(path: str, expected: Any, actual: Any, **more: Any) -> dict[str, Any]:
    return {"path": path, "expected": expected, "actual": actual, "absent": False, "ok": False, "reason": "", **more}


def booked(*rows: dict[str, Any]) -> list[Verdict]:
    return contract(parameter_accuracy={"calls": [{"name": "create_reservation", "rows": list(rows), "raw": None}]})


def test_the_same_slip_in_two_bookings_is_one_kind() -> None:
    one = failure_signature(
        "", booked(row("name", "Nora", "Nora", ok=True), row("date", "2027-05-15", "2027-05-14")), []
    )
    two = failure_signature("", booked(row("date", "2028-01-01", "2027-12-31")), [])
    assert one == two == FailureKind("tool_contract", "create_reservation", "date", "one day early")
    assert one.words == "create_reservation date: one day early"


def test_entries_of_a_list_are_one_place() -> None:
    one = failure_signature("", booked(row("guests[0].name", "Nora", "Otto")), [])
    two = failure_signature("", booked(row("guests[12].name", "Mia", "Eva")), [])
    assert one == two
    assert one.place == "guests[].name"


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        (contract(tool_selection={"calls": [], "missing": ["create_reservation"]}), "create_reservation: not called"),
        (
            contract(tool_selection={"calls": [{"name": "cancel", "place": "wrong_tool"}], "missing": []}),
            "cancel: called instead of another tool",
        ),
        (
            contract(tool_selection={"calls": [{"name": "book", "place": "duplicate"}], "missing": []}),
            "book: called again with the same arguments",
        ),
        (
            contract(parameter_accuracy={"calls": [{"name": "book", "rows": [], "raw": "{"}]}),
            "book: arguments that cannot be read",
        ),
        (contract(tool_execution={"calls": [{"name": "book", "status": "failed"}]}), "book: the call failed"),
        (contract(), "the calls are not as expected"),
        (
            [Verdict("authorized_actions", "failed", True, {"calls": [{"name": "delete_all"}]})],
            "delete_all: called, and prohibited",
        ),
        (
            [Verdict("application_state", "failed", True, {"rows": [row("booked", None, True, reason="added")]})],
            "booked: added, and must not be",
        ),
        (
            [Verdict("delegation_policy", "failed", True, {"expected": "required", "observed": False})],
            "delegation required, and it did not",
        ),
        (
            [Verdict("assertion:2", "failed", True, {"metric": "turns", "value": 7.0, "limits": {"lte": 4}})],
            "turns: beyond its limit",
        ),
        ([Verdict("assistant_responded", "failed", True, {})], "the agent said nothing"),
        ([], "failed for no check that is stored"),
    ],
)
def test_a_kind_is_what_decided_in_words(checks: list[Verdict], words: str) -> None:
    assert failure_signature("", checks, []).words == words


def test_what_only_explains_decides_no_kind() -> None:
    explains = Verdict("final_state", "failed", False, {"rows": [row("booked", True, False)]})
    decides = Verdict("assistant_responded", "failed", True, {})
    assert failure_signature("", [explains, decides], []).check == "assistant_responded"


def test_the_judge_s_no_is_told_by_its_lowest_dimension() -> None:
    grades = [
        Score("task_understanding", "failed", 0.25),
        Score("context_fidelity", "failed", 0.0),
        Score("clarification_quality", "not_applicable", None),
    ]
    kind = failure_signature("", [Verdict("semantic_outcome", "failed", True, {})], grades)
    assert kind.words == "context_fidelity: the judge said no"


def test_a_time_out_is_a_kind_of_its_own_whatever_else_failed() -> None:
    assert failure_signature("response_timeout", booked(row("date", "a", "b")), []).words == "no answer in time"


@given(st.lists(st.text(max_size=40), min_size=4, max_size=4))
def test_a_key_is_read_back_as_the_kind_that_it_is_of(parts: list[str]) -> None:
    key = FailureKind(*parts).key
    assert len(key) <= LONGEST_KEY
    again = FailureKind.from_key(key)
    assert len(key) == LONGEST_KEY or again.key == key


@given(st.text(max_size=400))
def test_any_text_in_an_address_is_a_kind(text: str) -> None:
    assert isinstance(FailureKind.from_key(text).words, str)
