from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.matchers import OPERATORS, matcher_problems, operator_of, uses_operators

GOOD: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"$any_of": [1, "two", {"$regex": "^3"}]}, "$any_of", {}),
    ({"$regex": "^R-[0-9]{3}$"}, "$regex", {}),
    ({"$exact": {"$ref": 1}}, "$exact", {}),
    ({"$exact": None}, "$exact", {}),
    ({"$approx": 3.5, "tolerance": 0.1}, "$approx", {"tolerance": 0.1}),
    ({"tolerance": 0, "$approx": 3}, "$approx", {"tolerance": 0}),
    ({"$unordered": []}, "$unordered", {}),
    ({"$unordered": [{"$numeric_text": 3}]}, "$unordered", {}),
    ({"$numeric_text": 3}, "$numeric_text", {}),
    ({"$numeric_text": "-2.5"}, "$numeric_text", {}),
    ({"$date": "2027-05-15"}, "$date", {}),
    ({"$date": "2028-02-29"}, "$date", {}),
    ({"$time": "19:00"}, "$time", {}),
    ({"$time": "00:00:30"}, "$time", {}),
    ({"$phone": "+1 555 0100", "region": "US"}, "$phone", {"region": "US"}),
    ({"$phone": "+49 30 1234567"}, "$phone", {}),
    ({"$phone": "030 1234567", "region": "DE"}, "$phone", {"region": "DE"}),
    ({"$present": True}, "$present", {}),
    ({"$absent": True}, "$absent", {}),
    ({"$not": {"$any_of": ["a"]}}, "$not", {}),
    ({"$not": "plain"}, "$not", {}),
    ({"$text": "Ｎｏｒａ", "nfkc": True}, "$text", {"nfkc": True}),
    ({"$text": "x"}, "$text", {}),
]

BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"$any_of": "a"}, "x.$any_of", "must be a list, not text"),
    ({"$any_of": []}, "x.$any_of", "could never match"),
    ({"$any_of": [1, {"$time": "25:00"}]}, "x.$any_of[1].$time", "time of day"),
    ({"$unordered": {"a": 1}}, "x.$unordered", "must be a list, not an object"),
    ({"$unordered": [[{"$regex": "["}]]}, "x.$unordered[0][0].$regex", "regular expression"),
    ({"$regex": 5}, "x.$regex", "must be text, not a number"),
    ({"$regex": "(unclosed"}, "x.$regex", "is not a regular expression: "),
    ({"$regex": "a" * 1001}, "x.$regex", "at most 1000 characters"),
    ({"$approx": 3.5}, "x.tolerance", "is required"),
    ({"$approx": "3", "tolerance": 1}, "x.$approx", "must be a number, not text"),
    ({"$approx": True, "tolerance": 1}, "x.$approx", "must be a number, not true"),
    ({"$approx": 3, "tolerance": -0.1}, "x.tolerance", "0 or more"),
    ({"$approx": 3, "tolerance": "1"}, "x.tolerance", "0 or more"),
    ({"$numeric_text": "three"}, "x.$numeric_text", "must be a number"),
    ({"$numeric_text": False}, "x.$numeric_text", "must be a number"),
    ({"$date": "15 May"}, "x.$date", "such as 2027-05-15"),
    ({"$date": "2027-02-29"}, "x.$date", "such as 2027-05-15"),
    ({"$date": 20270515}, "x.$date", "such as 2027-05-15"),
    ({"$time": "7 p.m."}, "x.$time", "such as 19:00"),
    ({"$time": "24:00"}, "x.$time", "such as 19:00"),
    ({"$phone": "555 0100"}, "x.$phone", "without a region"),
    ({"$phone": 5550100, "region": "US"}, "x.$phone", "must be text"),
    ({"$phone": "555 0100", "region": "usa"}, "x.region", "two capital letters"),
    ({"$phone": "555 0100", "region": ["US"]}, "x.region", "two capital letters"),
    ({"$present": False}, "x.$present", "use $present or $absent"),
    ({"$absent": 1}, "x.$absent", "must be true"),
    ({"$not": {"$foo": 1}}, "x.$not.$foo", "no such operator"),
    ({"$text": 1}, "x.$text", "must be text, not a number"),
    ({"$text": "a", "nfkc": "yes"}, "x.nfkc", "true or false"),
    ({"$any": [1]}, "x.$any", "did you mean $any_of?"),
    ({"$zzz": 1}, "x.$zzz", "known are $any_of"),
    ({"$date": "2027-05-15", "tolerance": 1}, "x.tolerance", "$date takes no other key"),
    ({"$approx": 1, "tolerance": 1, "unit": "m"}, "x.unit", "$approx takes only tolerance"),
    ({"$present": True, "$not": 3}, "x", "one operator per object"),
]


@pytest.mark.parametrize(("value", "name", "options"), GOOD)
def test_an_operator_object_is_taken_apart(value: dict[str, Any], name: str, options: dict[str, Any]) -> None:
    assert list(matcher_problems({"x": value})) == []
    assert operator_of(value) == (name, value[name], options)
    assert uses_operators([{"deep": [value]}])


def test_every_operator_has_a_good_and_a_bad_example() -> None:
    assert {name for _, name, _ in GOOD} == set(OPERATORS)
    assert set(OPERATORS) - {"$exact"} <= {key for value, _, _ in BAD for key in value}


@pytest.mark.parametrize(("value", "path", "words"), BAD)
def test_a_malformed_operator_is_named(value: dict[str, Any], path: str, words: str) -> None:
    (problem,) = matcher_problems({"x": value})
    assert problem.path == path
    assert words in problem.message


@pytest.mark.parametrize("value", [None, True, 3, "$regex", [], {}, {"regex": "x"}, {"a": {"$regex": "x"}}])
def test_a_plain_value_is_no_operator(value: Any) -> None:
    assert operator_of(value) is None


@pytest.mark.parametrize("value", [{"$foo": 1}, {"$date": "2027-05-15", "x": 1}, {"$present": True, "$not": 1}])
def test_an_object_that_is_neither_is_never_taken_for_plain(value: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        operator_of(value)


def test_inside_exact_a_dollar_key_is_data() -> None:
    assert list(matcher_problems({"x": {"$exact": {"$foo": {"$regex": "("}}}})) == []


def test_plain_values_use_no_operators() -> None:
    assert not uses_operators({"a": [1, {"b": "$regex"}]})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*OPERATORS, "$other", "tolerance", "region", "nfkc", "plain"]), inner, max_size=3
        )
    ),
    max_leaves=10,
)


@settings(deadline=None)  # the machine may be busy
@given(VALUES)
def test_any_value_is_judged_without_an_exception_and_a_judged_good_one_is_taken_apart(value: Any) -> None:
    if not list(matcher_problems(value)):
        operator = operator_of(value)
        assert (operator is not None) == (isinstance(value, dict) and any(key.startswith("$") for key in value))


@settings(deadline=None)  # the machine may be busy
@given(st.text(max_size=60))
def test_any_pattern_is_judged_without_an_exception(pattern: str) -> None:
    assert len(list(matcher_problems({"$regex": pattern}))) <= 1


def test_a_pattern_of_endless_brackets_is_judged() -> None:
    assert [problem.path for problem in matcher_problems({"$regex": "(" * 1000})] == ["$regex"]
    list(matcher_problems({"$regex": "(" * 500 + ")" * 500}))
