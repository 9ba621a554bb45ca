"""The exported schemas are JSON Schema, take what the parsers take, and refuse plain mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from scenarios_app.spec.schema import SCHEMAS
from tests.spec.examples import APPLICATION, CONFIGURATION, FULL_1_0, SCENARIO, changed
from tests.spec.test_configuration import FULL
from tests.spec.test_scenario import SCENARIOS

VALIDATORS = {name: Draft202012Validator(schema()) for name, schema in SCHEMAS.items()}


def errors(name: str, document: Any) -> list[str]:
    return ["/".join(map(str, error.absolute_path)) for error in VALIDATORS[name].iter_errors(document)]


def in_file(*scenarios: dict[str, Any]) -> dict[str, Any]:
    return {"schema_version": "1.1", "scenarios": list(scenarios)}


@pytest.mark.parametrize("name", list(SCHEMAS))
def test_a_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name]())


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("scenarios", in_file(SCENARIO, FULL_1_0)),
        ("applications", [APPLICATION]),
        ("configurations", [CONFIGURATION]),
        ("configurations", [FULL]),
        ("configurations", [changed(CONFIGURATION, {"turn_detection": {"type": "server_vad", "threshold": 1}})]),
    ],
)
def test_a_good_document_is_valid(name: str, document: Any) -> None:
    assert errors(name, document) == []


@settings(deadline=None)  # the machine may be busy
@given(SCENARIOS)
def test_any_scenario_that_the_parser_takes_is_valid(document: dict[str, Any]) -> None:
    assert errors("scenarios", in_file(document)) == []


@pytest.mark.parametrize(
    ("name", "document", "path"),
    [
        ("scenarios", {"scenarios": [SCENARIO]}, ""),
        ("scenarios", {"schema_version": "2.0", "scenarios": [SCENARIO]}, "schema_version"),
        ("scenarios", in_file(), "scenarios"),
        ("applications", APPLICATION, ""),
        ("configurations", CONFIGURATION, ""),
        ("scenarios", in_file(changed(SCENARIO, {"extra": 1})), "scenarios/0"),
        ("scenarios", in_file(changed(SCENARIO, {"id": "a b"})), "scenarios/0/id"),
        ("scenarios", in_file(changed(SCENARIO, {"id": "a."})), "scenarios/0/id"),
        ("scenarios", in_file(changed(SCENARIO, {"title": " "})), "scenarios/0/title"),
        ("scenarios", in_file(changed(SCENARIO, {"tags": [1]})), "scenarios/0/tags/0"),
        ("scenarios", in_file(changed(SCENARIO, {"interaction": "x"})), "scenarios/0/interaction"),
        ("applications", [changed(APPLICATION, {"name": "a,b"})], "0/name"),
        ("applications", [changed(APPLICATION, {"tools[0].name": "a b"})], "0/tools/0/name"),
        ("applications", [changed(APPLICATION, {"tools[0].answers[1].delay_ms": -1})], "0/tools/0/answers/1/delay_ms"),
        ("configurations", [changed(CONFIGURATION, {"timeouts": {"turn": "5m"}})], "0/timeouts/turn"),
        ("configurations", [changed(CONFIGURATION, {"timeouts": {"turn": 0}})], "0/timeouts/turn"),
        ("configurations", [changed(CONFIGURATION, {"turn_detection": "vad"})], "0/turn_detection"),
        ("configurations", [changed(CONFIGURATION, {"mode": "video"})], "0/mode"),
    ],
)
def test_a_plain_mistake_is_found(name: str, document: Any, path: str) -> None:
    assert errors(name, document) == [path]
