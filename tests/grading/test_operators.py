"""Every operator of the contracts, in acceptance and in refusal."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.grading.matching import match, matches
from runs_app.grading.plain_values import ABSENT
from runs_app.grading.written_forms import Unreadable, read_date, read_number, read_time


def reason(expected: Any, actual: Any) -> str:
    (found,) = match(expected, actual)
    return found.reason


def test_any_of_accepts_each_choice_by_its_own_rule() -> None:
    choice = {"$any_of": ["patio", {"$regex": "^win"}, None]}
    assert all(matches(choice, value) for value in ("Patio", "window", None))
    assert reason(choice, "bar") == "none of the 3 accepted values"
    assert reason(choice, ABSENT) == "missing"


def test_any_of_may_accept_that_nothing_is_there() -> None:
    assert matches({"seat": {"$any_of": [{"$absent": True}, "patio"]}}, {})


def test_regex_searches_the_text_as_it_is() -> None:
    assert matches({"$regex": r"^R-\d{3}$"}, "R-100")
    assert not matches({"$regex": r"^r-\d{3}$"}, "R-100")
    assert reason({"$regex": r"^R-\d{3}$"}, "R-1") == "does not fit the pattern"
    assert reason({"$regex": r"\d"}, 7) == "number where string expected"


def test_a_pattern_that_explodes_is_stopped() -> None:
    started = time.monotonic()
    assert reason({"$regex": r"^(a|aa)+$"}, "a" * 60 + "!") == "the pattern took too long on this value"
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("exact", "actual", "ok"),
    [
        ("Nora", "Nora", True),
        ("Nora", "nora", False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"$any_of": [1]}, {"$any_of": [1]}, True),  # inside $exact a key that looks like an operator is data
        ([1, 2], [1, 2], True),
        ([1, 2], [2, 1], False),
        (3, 3.0, True),
        (1, True, False),
    ],
)
def test_exact_folds_nothing(exact: Any, actual: Any, ok: bool) -> None:
    assert matches({"$exact": exact}, actual) is ok


@pytest.mark.parametrize(("actual", "ok"), [(3.4, True), (3.6, True), (3.61, False), (3.5, True), (3, False)])
def test_approx_counts_its_edges_in(actual: float, ok: bool) -> None:
    assert matches({"$approx": 3.5, "tolerance": 0.1}, actual) is ok


def test_approx_wants_a_number() -> None:
    assert reason({"$approx": 3.5, "tolerance": 0.1}, "3.5") == "string where number expected"
    assert reason({"$approx": 3.5, "tolerance": 0.1}, 4) == "off by 0.5, more than 0.1"
    assert not matches({"$approx": 1, "tolerance": 1}, True)


def test_unordered_finds_a_pairing_that_greed_would_miss() -> None:
    expected = {"$unordered": [{"$any_of": ["a", "b"]}, "a"]}
    assert matches(expected, ["a", "b"])
    assert reason(expected, ["b", "b"]) == "no entry fits expected entry 2, in any order"
    assert reason(expected, ["a"]) == "1 entry where 2 expected"


@pytest.mark.parametrize(
    ("wanted", "actual", "ok"),
    [
        (3, "3", True),
        (3, " 3.0 ", True),
        ("3", 3, True),
        (3, 3, True),
        (0.3, "0.3", True),
        (2**53 + 1, str(2**53), False),
        (2**53 + 1, str(2**53 + 1), True),
        (-2, "2", False),
        (1250, "1,250", False),
        (3, True, False),
        (3, "three", False),
    ],
)
def test_numeric_text_reads_plain_numbers(wanted: Any, actual: Any, ok: bool) -> None:
    assert matches({"$numeric_text": wanted}, actual) is ok


@pytest.mark.parametrize(
    "written",
    [
        "2027-05-15", "20270515", "2027/5/15", "15 May 2027", "May 15, 2027", "15th of May 2027",
        "the 15th of May, 2027", "Saturday, May 15, 2027", "sat 15 may 2027", "15.05.2027", "15. 5. 2027", "5/15/2027",
        "15/05/2027", "15-May-2027", "2027-05-15T18:00:00", "2027-05-15T18:00:00Z", "MAY 15 2027",
    ],
)  # fmt: skip
def test_a_date_is_read_in_its_common_forms(written: str) -> None:
    assert matches({"$date": "2027-05-15"}, written)
    assert not matches({"$date": "2027-05-14"}, written)


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("05/06/2027", "day and month cannot be told apart"),
        ("May 15", "no year given"),
        ("Friday, May 15, 2027", "2027-05-15 is a Saturday"),
        ("2027-02-30", "no such day in the calendar"),
        ("tomorrow", "not a date in a known form"),
        ("", "not a date in a known form"),
    ],
)
def test_a_date_that_is_not_clear_is_refused_with_the_reason(written: str, why: str) -> None:
    assert reason({"$date": "2027-05-15"}, written) == why


@pytest.mark.parametrize(
    "written",
    ["19:00", "19:00:00", "7 p.m.", "7pm", "7:00 PM", "7 PM", "19h00", "19.00", "19 Uhr", "2027-05-15T19:00", "T19:00"],
)
def test_a_time_is_read_in_its_common_forms(written: str) -> None:
    assert matches({"$time": "19:00"}, written)
    assert not matches({"$time": "07:00"}, written)


@pytest.mark.parametrize(
    ("written", "time"), [("noon", "12:00"), ("midnight", "00:00"), ("12 am", "00:00"), ("12 pm", "12:00")]
)
def test_noon_and_midnight_are_told_apart(written: str, time: str) -> None:
    assert matches({"$time": time}, written)


@pytest.mark.parametrize("written", ["7", "25:00", "13 pm", "7 p", "seven", "19:60", ""])
def test_a_time_that_is_not_clear_is_refused(written: str) -> None:
    assert not matches({"$time": "19:00"}, written)


@pytest.mark.parametrize(
    ("wanted", "region", "actual", "ok"),
    [
        ("+1 555 0100", "US", "555-0100", True),
        ("+1 202 555 0143", None, "+12025550143", True),
        ("+1 202 555 0143", "US", "(202) 555-0143", True),
        ("+1 202 555 0143", "US", "(202) 555-0144", False),
        ("+44 20 7946 0018", "GB", "020 7946 0018", True),
        ("+1 202 555 0143", "US", "202 555 0143 ext. 9", False),
        ("+1 202 555 0143", None, "202 555 0143", False),
    ],
)
def test_a_phone_number_is_the_same_in_every_spelling(wanted: str, region: str | None, actual: str, ok: bool) -> None:
    matcher = {"$phone": wanted} | ({"region": region} if region else {})
    assert matches(matcher, actual) is ok


def test_present_and_absent_look_only_at_the_place() -> None:
    assert matches({"id": {"$present": True}}, {"id": None})
    assert reason({"id": {"$present": True}}, {}) == "missing"
    assert matches({"id": {"$absent": True}}, {})
    assert reason({"id": {"$absent": True}}, {"id": None}) == "there, but must be absent"


def test_not_turns_a_matcher_round_at_any_depth() -> None:
    assert matches({"date": {"$not": {"$date": "2027-05-14"}}}, {"date": "May 15, 2027"})
    assert (
        reason({"date": {"$not": {"$date": "2027-05-14"}}}, {"date": "14 May 2027"}) == "matches what it must not match"
    )
    assert matches({"$not": {"$not": "a"}}, "A")


def test_operators_work_inside_objects_lists_and_each_other() -> None:
    expected = {"slots": [{"at": {"$any_of": [{"$time": "19:00"}, {"$time": "19:30"}]}}]}
    assert matches(expected, {"slots": [{"at": "7:30 pm"}]})
    assert [m.path for m in match(expected, {"slots": [{"at": "8 pm"}]})] == ["slots[0].at"]


@given(st.dates())
def test_every_iso_date_and_its_long_form_read_back(day: Any) -> None:
    assert read_date(day.isoformat()) == day
    if day.year >= 1000:
        assert read_date(f"{day:%A}, {day:%B} {day.day}, {day.year}") == day


@given(st.times())
def test_every_clock_time_reads_back(moment: Any) -> None:
    assert read_time(f"{moment:%H:%M:%S}") == moment.replace(microsecond=0)
    assert read_time(f"{moment:%I:%M} {moment:%p}") == moment.replace(second=0, microsecond=0)


@given(st.text(max_size=30))
def test_readers_answer_or_say_unreadable_for_any_text(text: str) -> None:
    for read in (read_date, read_time, read_number):
        with contextlib.suppress(Unreadable):
            assert read(text) == read(f" {text} ")
