from __future__ import annotations

from typing import Any

import pytest

from scenarios_app.spec.hashing import content_hash, run_hash
from scenarios_app.spec.scenario import parse_scenario
from tests.spec.examples import FULL_1_0, SCENARIO, changed


def hash_of(changes: dict[str, Any]) -> str:
    return run_hash(parse_scenario(changed(SCENARIO, changes)))


def test_the_hash_is_a_sha256_that_knows_no_order() -> None:
    assert content_hash({"a": 1, "b": [2.0]}) == content_hash({"b": [2], "a": 1})
    assert content_hash({"a": 1}) != content_hash({"a": "1"})
    assert len(content_hash(None)) == 64


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("title", "Another"),
        ("type", "booking"),
        ("tags", ["x"]),
        ("owner", "Nora"),
        ("notes", "n"),
        ("source", "bug 7"),
        ("critical", True),
    ],
)
def test_what_people_write_for_people_does_not_change_the_run(path: str, value: Any) -> None:
    assert hash_of({path: value}) == hash_of({})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("id", "other"),
        ("input.text", "Other words."),
        ("input.context", {"summary": "s"}),
        ("application.initial_state", {"a": 1}),
        ("application.ref", {"name": "Restaurant"}),
        ("expected.answer", "Other."),
        ("expected.state", {"a": 1}),
        ("expected.tools", {"required": [{"name": "x"}]}),
        ("expected.delegation", "forbidden"),
        ("reference_date", "2027-05-01"),
        ("assertions", [{"tool_not_called": "x"}]),
        ("mode", "audio"),
        ("tool_faults", {"x": {"mode": "error"}}),
    ],
)
def test_what_a_run_depends_on_changes_the_run(path: str, value: Any) -> None:
    assert hash_of({path: value}) != hash_of({})


def test_a_default_written_out_is_the_same_run() -> None:
    written: dict[str, Any] = {
        "expected.delegation": "optional",
        "expected.state": {},
        "expected.tools": {"required": []},
        "application": {"initial_state": {}},
        "mode": None,
    }
    assert hash_of(written) == hash_of({})


def test_a_call_with_its_defaults_written_out_is_the_same_run() -> None:
    short = {"expected.tools": {"required": [{"name": "x"}]}}
    long = {"expected.tools": {"required": [{"name": "x", "arguments": {}, "status": "completed"}], "prohibited": []}}
    assert hash_of(short) == hash_of(long)


def test_the_hash_of_a_known_scenario_never_changes() -> None:
    """Stored runs are compared by it: if this fails, the hashes of every stored scenario have changed."""
    assert run_hash(parse_scenario(FULL_1_0)) == "d19c04429956d21c52a19e06f96cc9e81fc8c0b56959ec605ce0a00a8abd9bab"
