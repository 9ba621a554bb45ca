"""The exported schemas are JSON Schema, take what the parsers take, and refuse plain mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from scenarios_app.spec.schema import application_schema, configuration_schema, scenario_file_schema
from tests.spec.examples import APPLICATION, CONFIGURATION, FULL_1_0, SCENARIO, changed
from tests.spec.test_configuration import FULL
from tests.spec.test_scenario import SCENARIOS

SCHEMAS = {
    "scenarios": scenario_file_schema(),
    "application": application_schema(),
    "configuration": configuration_schema(),
}


def errors(name: str, document: Any) -> list[str]:
    return [
        "/".join(map(str, error.absolute_path)) for error in Draft202012Validator(SCHEMAS[name]).iter_errors(document)
    ]


def in_file(*scenarios: dict[str, Any]) -> dict[str, Any]:
    return {"schema_version": "1.1", "scenarios": list(scenarios)}


@pytest.mark.parametrize("name", list(SCHEMAS))
def test_a_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("scenarios", in_file(SCENARIO, FULL_1_0)),
        ("application", APPLICATION),
        ("configuration", CONFIGURATION),
        ("configuration", FULL),
        ("configuration", changed(CONFIGURATION, {"turn_detection": {"type": "server_vad", "threshold": 1}})),
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
        ("scenarios", in_file(changed(SCENARIO, {"extra": 1})), "scenarios/0"),
        ("scenarios", in_file(changed(SCENARIO, {"id": "a b"})), "scenarios/0/id"),
        ("scenarios", in_file(changed(SCENARIO, {"id": "a."})), "scenarios/0/id"),
        ("scenarios", in_file(changed(SCENARIO, {"title": " "})), "scenarios/0/title"),
        ("scenarios", in_file(changed(SCENARIO, {"tags": [1]})), "scenarios/0/tags/0"),
        ("scenarios", in_file(changed(SCENARIO, {"interaction": "x"})), "scenarios/0/interaction"),
        ("application", changed(APPLICATION, {"name": "a,b"}), "name"),
        ("application", changed(APPLICATION, {"tools[0].name": "a b"}), "tools/0/name"),
        ("application", changed(APPLICATION, {"tools[0].answers[1].delay_ms": -1}), "tools/0/answers/1/delay_ms"),
        ("configuration", changed(CONFIGURATION, {"timeouts": {"turn": "5m"}}), "timeouts/turn"),
        ("configuration", changed(CONFIGURATION, {"timeouts": {"turn": 0}}), "timeouts/turn"),
        ("configuration", changed(CONFIGURATION, {"turn_detection": "vad"}), "turn_detection"),
        ("configuration", changed(CONFIGURATION, {"mode": "video"}), "mode"),
    ],
)
def test_a_plain_mistake_is_found(name: str, document: Any, path: str) -> None:
    assert errors(name, document) == [path]
