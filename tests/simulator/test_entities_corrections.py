"""What a speaker took back: the first value said and the one that holds."""

from __future__ import annotations

from datetime import date

import pytest

from runs_app.simulator.entities import corrections, first_and_last

FRIDAY = date(2027, 3, 5)


@pytest.mark.parametrize(
    ("text", "kind", "first", "last"),
    [
        ("on August 7, sorry, August 6", "date", "2027-08-07", "2027-08-06"),
        ("on 14 May - sorry, 15 May - at six in the evening for three", "date", "2027-05-14", "2027-05-15"),
        ("August 7, no, the 6th", "date", "2027-08-07", "2027-08-06"),
        ("on August 7. Actually, make it August 6.", "date", "2027-08-07", "2027-08-06"),
        ("not August 7 but August 6", "date", "2027-08-07", "2027-08-06"),
        ("August 6, not August 7", "date", "2027-08-07", "2027-08-06"),
        ("on Friday, I mean Saturday", "date", "2027-03-12", "2027-03-06"),
        ("at six, sorry, seven", "time", "18:00", "19:00"),
        ("at 6 p.m., wait, half past seven", "time", "18:00", "19:30"),
        ("at six, no, seven thirty", "time", "18:00", "19:30"),
        ("for two, no, three people", "count", 2, 3),
        ("for two, sorry, for three", "count", 2, 3),
        ("for Leo, sorry, Nora", "name", "Leo", "Nora"),
        ("for Leo, sorry, for Nora", "name", "Leo", "Nora"),
        ("for Nora, not Leo", "name", "Leo", "Nora"),
        ("cancel R-100, no, R-200", "id", "R-100", "R-200"),
        ("August 5, sorry, August 6, no, August 7", "date", "2027-08-05", "2027-08-07"),
    ],
)
def test_a_correction_has_a_first_and_a_last_value(text: str, kind: str, first: object, last: object) -> None:
    found_first, found_last = first_and_last(text, kind, reference_date=FRIDAY)  # type: ignore[arg-type, misc]
    assert (found_first.value, found_last.value) == (first, last)
    assert [each.kind for each in corrections(text, reference_date=FRIDAY)] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "a table on August 6 at 7 p.m. for two, for Maya",
        "a table on August 6 or August 7",
        "August 6. Is August 7 free too? Sorry to ask so much.",
        "Sorry, I need a table on August 6",
        "from May 3 to May 6",
    ],
)
def test_two_values_without_a_correction_are_none(text: str) -> None:
    assert corrections(text, reference_date=FRIDAY) == ()


def test_without_a_correction_first_and_last_are_the_same() -> None:
    first, last = first_and_last("on August 6", "date", reference_date=FRIDAY)  # type: ignore[misc]
    assert first == last
    assert first_and_last("for two", "date") is None
