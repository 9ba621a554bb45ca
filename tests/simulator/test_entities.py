"""What a sentence names, kind by kind, and what the speaker took back."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.simulator.entities import corrections, entities, values
from runs_app.simulator.number_words import digits_of, number_of, ordinal_of

FRIDAY = date(2027, 3, 5)


def found(text: str, kind: str, reference_date: date | None = FRIDAY) -> list[object]:
    return list(values(text, kind, reference_date=reference_date))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a table on August 6", "2027-08-06"),
        ("a table on 6 August", "2027-08-06"),
        ("on the sixth of August", "2027-08-06"),
        ("on August the 6th", "2027-08-06"),
        ("on Aug. 6", "2027-08-06"),
        ("on Friday, August 6, please", "2027-08-06"),
        ("on August 6, 2028", "2028-08-06"),
        ("August sixth twenty twenty eight", "2028-08-06"),
        ("the twenty-first of May", "2027-05-21"),
        ("on 2027-05-15", "2027-05-15"),
        ("on 05/15/2027", "2027-05-15"),
        ("on 15/05/2027", "2027-05-15"),
        ("on March 4", "2028-03-04"),
        ("on March 5", "2027-03-05"),
        ("on February 29", "2028-02-29"),
        ("the 6th", "2027-03-06"),
        ("the 4th would be good", "2027-04-04"),
        ("today", "2027-03-05"),
        ("a table tonight", "2027-03-05"),
        ("tomorrow", "2027-03-06"),
        ("the day after tomorrow", "2027-03-07"),
        ("in three days", "2027-03-08"),
        ("in two weeks", "2027-03-19"),
        ("next Monday", "2027-03-08"),
        ("on Friday", "2027-03-12"),
        ("this Friday", "2027-03-05"),
        ("August 6 at 7 p.m.", "2027-08-06"),
        ("August 6 7 p.m.", "2027-08-06"),
    ],
)
def test_a_date_is_read(text: str, expected: str) -> None:
    assert found(text, "date") == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("August 6", "--08-06"),
        ("the 6th", "---06"),
        ("tomorrow", "tomorrow"),
        ("next Monday", "monday"),
        ("February 29", "--02-29"),
    ],
)
def test_without_a_reference_date_unsaid_parts_stay_open(text: str, expected: str) -> None:
    assert found(text, "date", None) == [expected]


@pytest.mark.parametrize(
    "text", ["31 April", "February 30, 2027", "2027-13-01", "the 32nd", "May I book it?", "may be"]
)
def test_what_the_calendar_lacks_is_no_date(text: str) -> None:
    assert found(text, "date") == []


@pytest.mark.case("B05")
@pytest.mark.parametrize(
    ("reference", "tomorrow", "monday"),
    [(date(2027, 3, 5), "2027-03-06", "2027-03-08"), (date(2027, 12, 31), "2028-01-01", "2028-01-03")],
)
def test_tomorrow_depends_on_the_reference_date_alone(reference: date, tomorrow: str, monday: str) -> None:
    """B05: relative dates follow the scenario's reference date, whatever today is."""
    assert found("tomorrow or next Monday", "date", reference) == [tomorrow, monday]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at 7 p.m.", "19:00"),
        ("at 7pm", "19:00"),
        ("seven p.m.", "19:00"),
        ("at 7:30 PM", "19:30"),
        ("seven thirty p.m.", "19:30"),
        ("at 7.30 p.m.", "19:30"),
        ("at 9 a.m.", "09:00"),
        ("at 12 a.m.", "00:00"),
        ("at 12 p.m.", "12:00"),
        ("at 19:00", "19:00"),
        ("at 07:30", "07:30"),
        ("at 7:30", "19:30"),
        ("half past six", "18:30"),
        ("at half past six in the morning", "06:30"),
        ("a quarter past seven", "19:15"),
        ("quarter to eight in the evening", "19:45"),
        ("ten to nine a.m.", "08:50"),
        ("five minutes past six", "18:05"),
        ("six in the evening", "18:00"),
        ("at six", "18:00"),
        ("at six thirty", "18:30"),
        ("at seven for two", "19:00"),
        ("seven o'clock", "19:00"),
        ("six o'clock in the morning", "06:00"),
        ("dinner at eight", "20:00"),
        ("a meeting at nine", "09:00"),
        ("around seven", "19:00"),
        ("at noon", "12:00"),
        ("at midnight", "00:00"),
        ("12 at night", "00:00"),
        ("2027-05-15T19:00:00", "19:00"),
        ("on August 6 at 7", "19:00"),
    ],
)
def test_a_time_is_read(text: str, expected: str) -> None:
    assert found(text, "time") == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open from 5 to 11 p.m.", ["17:00", "23:00"]),
        ("between five and seven p.m.", ["17:00", "19:00"]),
        ("from 11 to 2 p.m.", ["11:00", "14:00"]),
        ("from 17:00 to 23:00", ["17:00", "23:00"]),
    ],
)
def test_both_ends_of_a_span_are_times(text: str, expected: list[str]) -> None:
    assert found(text, "time") == expected


@pytest.mark.parametrize("text", ["at 12 Main Street", "at six people", "at 25:00", "room 7", "for 7 days"])
def test_other_numbers_are_no_times(text: str) -> None:
    assert found(text, "time") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a table for two", 2),
        ("a table for two on Friday", 2),
        ("for 4 people", 4),
        ("party of four", 4),
        ("a party of twelve", 12),
        ("a table of six", 6),
        ("four guests", 4),
        ("there are five of us", 5),
        ("we are three.", 3),
        ("a four person table", 4),
        ("a 4-person table", 4),
        ("just me", 1),
        ("for one at noon", 1),
        ("for three, please", 3),
    ],
)
def test_a_number_of_people_is_read(text: str, expected: int) -> None:
    assert found(text, "count") == [expected]


@pytest.mark.parametrize("text", ["for two nights", "for 7 p.m.", "for August 6", "for two hours", "for 45 dollars"])
def test_other_numbers_are_no_people(text: str) -> None:
    assert found(text, "count") == []


def test_a_quantity_keeps_its_noun() -> None:
    (nights, bags) = [each for each in entities("three nights and 2 bags") if each.kind == "quantity"]
    assert (nights.value, nights.unit) == (3, "night")
    assert (bags.value, bags.unit) == (2, "bag")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a table for Maya", "Maya"),
        ("for Maya Lind on Friday", "Maya Lind"),
        ("under the name Leo", "Leo"),
        ("in the name of Leo Brandt, please", "Leo Brandt"),
        ("This is Nora.", "Nora"),
        ("Hello, this is Nora and I need a table", "Nora"),
        ("My name is Priya Nair.", "Priya Nair"),
        ("my name is nora", "Nora"),
        ("I'm Leo", "Leo"),
        ("Nora speaking", "Nora"),
        ("Put it under Anne-Marie O'Neil.", "Anne-Marie O'Neil"),
        ("für mich: for Zoë, please", "Zoë"),
        ("Good evening, I'd like a table for two, for Maya.", "Maya"),
    ],
)
def test_a_name_is_read(text: str, expected: str) -> None:
    assert found(text, "name") == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "for Friday",
        "for August 6",
        "I'm Sorry",
        "This is The place",
        "for two",
        "Hello, I'd like a table",
        "with Tomorrow",
    ],
)
def test_other_capitals_are_no_names(text: str) -> None:
    assert found(text, "name") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reservation R-100", "R-100"),
        ("reservation R100", "R-100"),
        ("reservation R 100", "R-100"),
        ("reservation R one hundred", "R-100"),
        ("R one zero zero, please", "R-100"),
        ("R dash four four seven one", "R-4471"),
        ("RES-2041", "RES-2041"),
        ("my code is XK4T9Q", "XK4T9Q"),
        ("parcel 4471", "4471"),
        ("order number 4471", "4471"),
        ("reservation number is four four seven one", "4471"),
        ("ticket #12", "12"),
    ],
)
def test_an_id_is_read(text: str, expected: str) -> None:
    assert found(text, "id") == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call +1 555 010 0134", "+15550100134"),
        ("call (415) 555-0132", "4155550132"),
        ("call 415-555-0132", "4155550132"),
        ("it is 555-0134", "5550134"),
        ("five five five, zero one three four", "5550134"),
        ("plus one, five five five, zero one zero, zero one three four", "+15550100134"),
    ],
)
def test_a_phone_number_is_read(text: str, expected: str) -> None:
    assert found(text, "phone") == [expected]


def test_money_and_mail_are_read() -> None:
    named = {each.kind: each for each in entities("It costs $45.50, ask Maya.K@Example.com")}
    assert (named["money"].value, named["money"].unit) == (45.5, "USD")
    assert named["email"].value == "maya.k@example.com"
    assert found("twenty euros", "money") == [20]


def test_a_whole_request_is_taken_apart() -> None:
    text = "Book a table for Nora on 14 May - sorry, 15 May - at six in the evening for three."
    assert [(each.kind, each.value) for each in entities(text, reference_date=FRIDAY)] == [
        ("name", "Nora"),
        ("date", "2027-05-14"),
        ("date", "2027-05-15"),
        ("time", "18:00"),
        ("count", 3),
    ]


@given(st.text(max_size=120), st.none() | st.dates(date(2000, 1, 1), date(2100, 1, 1)))
def test_any_text_is_read_without_overlaps(text: str, reference: date | None) -> None:
    named = entities(text, reference_date=reference)
    assert all(text[each.start : each.end] == each.text for each in named)
    assert all(one.end <= other.start for one, other in pairwise(named))
    corrections(text, reference_date=reference)


_MIXED = (
    "on August 6|the 31st|at seven|half past|no,|sorry,|not|for two|for Maya|R-100|R one|hundred|five five five|May|"
    "to|and|next Friday|in a|thousand weeks|12:60|$5|people|p.m.|-|name is|it's"
)
_PHRASES = st.sampled_from(_MIXED.split("|"))


@given(st.lists(_PHRASES, max_size=12), st.none() | st.dates(date(2020, 1, 1), date(2090, 1, 1)))
def test_any_mixture_of_phrases_is_read_without_overlaps(phrases: list[str], reference: date | None) -> None:
    test_any_text_is_read_without_overlaps.hypothesis.inner_test(" ".join(phrases), reference)  # type: ignore[attr-defined]


@given(st.dates(date(2020, 1, 1), date(2090, 12, 31)))
def test_every_day_of_the_calendar_is_read_back(day: date) -> None:
    for text in (day.isoformat(), f"{day:%B} {day.day}, {day.year}", f"the {day.day} of {day:%B} {day.year}"):
        assert found(text, "date", None) == [day.isoformat()]


@given(st.integers(0, 23), st.integers(0, 59))
def test_every_time_is_read_back(hour: int, minute: int) -> None:
    half = "a.m." if hour < 12 else "p.m."
    assert found(f"at {hour % 12 or 12}:{minute:02} {half}", "time") == [f"{hour:02}:{minute:02}"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("twenty-seven", 27),
        ("one hundred and five", 105),
        ("two thousand three hundred", 2300),
        ("12", 12),
        ("Zero", 0),
    ],
)
def test_a_number_in_words_has_a_value(text: str, number: int) -> None:
    assert number_of(text) == number


@pytest.mark.parametrize("text", ["", "many", "two many", "hundred"])
def test_what_is_no_number_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        number_of(text)
    with pytest.raises(ValueError, match="not an"):
        ordinal_of(text)


def test_digits_and_ordinals() -> None:
    assert digits_of("four four seven one") == "4471"
    assert digits_of("one oh three") == "103"
    assert digits_of("one hundred") == "100"
    assert [ordinal_of(text) for text in ("sixth", "6th", "twenty-first", "thirtieth")] == [6, 6, 21, 30]
