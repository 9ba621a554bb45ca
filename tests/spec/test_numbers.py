"""Numbers written in digits."""

from __future__ import annotations

import pytest

from scenarios_app.spec.numbers import number_of


@pytest.mark.parametrize(("text", "number"), [("7", 7), ("007", 7), ("0", 0), ("9" * 18, 10**18 - 1)])
def test_digits_are_a_number(text: str, number: int) -> None:
    assert number_of(text) == number


@pytest.mark.parametrize("text", ["", "x", "-1", "+1", "1.0", " 1", "1_0", "²", "٣", "9" * 19, "9" * 5000])
def test_what_no_database_holds_as_a_number_is_none(text: str) -> None:
    assert number_of(text) is None
