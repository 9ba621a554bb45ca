"""Tool faults as JSON and as the lines that people write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.tool_faults import (
    MODES,
    TEXT_MODES,
    VALUE_MODES,
    fault_lines,
    fault_text,
    parse_faults,
    read_faults,
    unknown_tools,
)


def test_lines_say_which_tool_fails_and_how() -> None:
    text = """
        create_reservation=delay:3s
        find = delay : 250ms
        * = error: the system is down: call later
        cancel=stale:{"day": "2027-05-14"}
        quote=wrong_type:three
        notify=timeout
    """
    assert read_faults(text) == {
        "create_reservation": {"mode": "delay", "ms": 3000},
        "find": {"mode": "delay", "ms": 250},
        "*": {"mode": "error", "text": "the system is down: call later"},
        "cancel": {"mode": "stale", "value": {"day": "2027-05-14"}},
        "quote": {"mode": "wrong_type", "value": "three"},
        "notify": {"mode": "timeout"},
    }
    assert read_faults("  \n") == {}
    assert read_faults('{"find": {"mode": "empty"}}') == {"find": {"mode": "empty"}}


@pytest.mark.parametrize(
    ("text", "path", "part"),
    [
        ("find", "tool_faults", "write TOOL=MODE"),
        ("a b=error", "tool_faults", "write TOOL=MODE"),
        ("find=slow", "tool_faults", "the modes are error, empty"),
        ("find=delay", "tool_faults", "a delay needs its time"),
        ("find=delay:soon", "tool_faults", "a delay needs its time"),
        ("find=empty:1", "tool_faults", "empty takes no detail"),
        ("find=error\nfind=empty", "tool_faults", "find has a fault already"),
        ("find=delay:2000s", "tool_faults.find.ms", ""),
        ('{"find": {"mode": "delay"}}', "tool_faults.find.ms", "belongs to mode delay"),
        ('{"find": {"mode": "empty", "extra": 1}}', "tool_faults.find.extra", ""),
        ('{"find": ', "tool_faults.find", "not JSON"),
    ],
)
def test_what_cannot_be_read_names_the_line_or_the_field(text: str, path: str, part: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_faults(text)
    (problem,) = caught.value.problems
    assert problem.path == path
    assert part in problem.message


def test_every_bad_line_is_named_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        read_faults("a\nb=slow\nc=error")
    assert [problem.message.split('"')[1] for problem in caught.value.problems] == ["a", "b=slow"]


def test_faults_read_as_sentences() -> None:
    faults = read_faults("*=delay:3s\nfind=error:closed\nquote=wrong_type:[1]\nnotify=timeout")
    assert fault_lines(faults) == [
        "every tool: delay 3000 ms",
        "find: error closed",
        "quote: wrong type [1]",
        "notify: timeout",
    ]


def test_a_fault_of_a_tool_that_does_not_exist_is_named_with_the_one_that_was_meant() -> None:
    faults = parse_faults({"create_resevation": {"mode": "error"}, "*": {"mode": "empty"}})
    (problem,) = unknown_tools(faults, {"create_reservation", "find"})
    assert problem.path == "tool_faults.create_resevation"
    assert "create_reservation" in problem.message


def faults() -> st.SearchStrategy[dict[str, Any]]:
    storable = st.characters(exclude_categories=["Cs"], exclude_characters="\0")  # JSON that we read has no other
    text = st.text(storable, min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
    plain = st.sampled_from([mode for mode in MODES if mode != "delay"]).map(lambda mode: {"mode": mode})
    late = st.integers(0, 600_000).map(lambda ms: {"mode": "delay", "ms": ms})
    told = st.tuples(st.sampled_from(TEXT_MODES), text).map(lambda pair: {"mode": pair[0], "text": pair[1]})
    valued = st.tuples(st.sampled_from(VALUE_MODES), text | st.integers() | st.lists(st.booleans(), max_size=2))
    given_values = valued.map(lambda pair: {"mode": pair[0], "value": pair[1]})
    names = st.sampled_from(["find", "create-it", "a_1", "*"])
    return st.dictionaries(names, plain | late | told | given_values, max_size=4)


@given(faults())
def test_what_is_written_out_reads_back_the_same(given_faults: dict[str, Any]) -> None:
    assert read_faults(fault_text(given_faults)) == {
        name: parsed.to_json() for name, parsed in parse_faults(given_faults).items()
    }
