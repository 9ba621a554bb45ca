"""Builders for tests: people, scenarios, suites, applications and configurations, made by the real services."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User

from scenarios_app.models import (
    ApplicationVersion,
    ConfigurationVersion,
    Scenario,
    ScenarioVersion,
    Suite,
)
from scenarios_app.services import (
    add_to_suite,
    create_application,
    create_configuration,
    create_scenario,
    create_suite,
)


def make_user(name: str = "alice", **fields: Any) -> User:
    return User.objects.create_user(name, **fields)


def scenario_json(key: str = "book_table", /, **changes: Any) -> dict[str, Any]:
    """A valid single-turn scenario with an expected call and state; `changes` replace top-level fields."""
    document = {
        "id": key,
        "title": "A table for three",
        "type": "booking",
        "interaction": "single_turn",
        "tags": ["booking", "plain"],
        "input": {"text": "A table for Nora on 15 May 2027 at six in the evening, three people."},
        "application": {"initial_state": {"reservation_created": False}},
        "expected": {
            "answer": "Confirms the table for three on 15 May at six.",
            "delegation": "required",
            "tools": {"required": [{"name": "create_reservation", "arguments": {"party_size": 3}}]},
            "state": {"reservation_created": True},
        },
    }
    return {**document, **changes}


def scenario_file(scenarios: Iterable[Mapping[str, Any]], version: str = "1.0") -> bytes:
    return json.dumps({"schema_version": version, "scenarios": list(scenarios)}).encode()


def make_scenario(key: str = "book_table", /, user: User | None = None, **changes: Any) -> ScenarioVersion:
    return create_scenario(content=scenario_json(key, **changes), user=user)


def make_suite(name: str = "demo", scenarios: Iterable[Scenario] = ()) -> Suite:
    suite = create_suite(name=name)
    add_to_suite(suite=suite, scenarios=list(scenarios))
    return suite


def application_json(name: str = "Restaurant", /, **changes: Any) -> dict[str, Any]:
    """One tool with an answer that changes the state."""
    document = {
        "name": name,
        "facts": {"opens": "17:00"},
        "tools": [
            {
                "name": "create_reservation",
                "description": "Books a table.",
                "parameters": {
                    "type": "object",
                    "properties": {"party_size": {"type": "integer", "minimum": 1}},
                    "required": ["party_size"],
                },
                "answers": [{"result": {"id": "R-1"}, "effects": {"reservation_created": True}}],
            }
        ],
    }
    return {**document, **changes}


def make_application(name: str = "Restaurant", /, **changes: Any) -> ApplicationVersion:
    return create_application(content=application_json(name, **changes))


def configuration_json(name: str = "Front desk", /, **changes: Any) -> dict[str, Any]:
    """An agent at an endpoint that nothing listens on, in text mode, without tools and judge."""
    document = {
        "name": name,
        "protocol": "realtime",
        "endpoint": "ws://127.0.0.1:9/v1/realtime",
        "model": "test-voice",
        "instructions": "You answer the phone of a restaurant.\nRead details back.",
    }
    return {**document, **changes}


def make_configuration(name: str = "Front desk", /, **changes: Any) -> ConfigurationVersion:
    return create_configuration(content=configuration_json(name, **changes))
