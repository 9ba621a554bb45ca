"""Every operator reads as words."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios_app.spec.matcher_words import in_words
from scenarios_app.spec.matchers import OPERATORS


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"$date": "2027-05-22"}, "the date 2027-05-22"),
        ({"$any_of": [4, {"$time": "19:00"}]}, "4 or the time 19:00"),
        ({"$approx": 3.5, "tolerance": 0.1}, "3.5 ± 0.1"),
        ({"$not": {"$absent": True}}, "not nothing"),
        ({"$unordered": ["a", "b"]}, '["a", "b"] in any order'),
        ({"name": {"$text": "O'Neil", "nfkc": True}}, '{"name": the text "O\'Neil"}'),
        ([1, {"$present": True}], "[1, anything]"),
        ("plain", '"plain"'),
        (None, "null"),
    ],
)
def test_an_expected_value_reads_as_words(value: Any, words: str) -> None:
    assert in_words(value) == words


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_no_operator_is_shown_raw(name: str) -> None:
    assert "$" not in in_words({name: ["x"]})
