"""Scenarios, configurations and runs for tests, made by the services that people's files go through."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from runs_app.models import Run
from runs_app.services.runs import start_run
from scenarios_app.models import ConfigurationVersion, Suite
from scenarios_app.services.applications import import_applications
from scenarios_app.services.configurations import find_configuration_version, import_configurations
from scenarios_app.services.scenario_files import import_scenarios
from scenarios_app.spec.scenario import parse_scenario, schema_version_of

APPLICATION = {
    "name": "Trattoria",
    "facts": {"opens": "17:00"},
    "tools": [
        {
            "name": "create_reservation",
            "description": "Books a table",
            "parameters": {
                "type": "object",
                "properties": {"guest_name": {"type": "string"}, "party_size": {"type": "integer"}},
                "required": ["guest_name"],
            },
            "answers": [{"result": {"id": "R-1"}, "effects": {"reservation_created": True}}],
        }
    ],
}


def scenario(key: str = "book_table", **more: Any) -> dict[str, Any]:
    return {
        "id": key,
        "title": f"Title of {key}",
        "interaction": "single_turn",
        "tags": ["plain"],
        "input": {"text": f"A table for Nora, please ({key})."},
        "application": {"initial_state": {"reservation_created": False}},
        "expected": {"answer": "The table is booked.", "state": {"unchanged": True}},
        **more,
    }


def configuration(name: str = "Front desk", **more: Any) -> dict[str, Any]:
    known = {"protocol": "realtime", "endpoint": "wss://agent.example/v1/realtime", "model": "voice-1"}
    return {"name": name, **known, "mode": "text", "application": {"name": "Trattoria"}, **more}


def make_suite(scenarios: Sequence[Mapping[str, Any]] | int = 1, *, name: str = "demo") -> Suite:
    listed = [scenario(f"case_{n}") for n in range(1, scenarios + 1)] if isinstance(scenarios, int) else scenarios
    version = max((schema_version_of(parse_scenario(entry)) for entry in listed), default="1.0")
    data = json.dumps({"schema_version": version, "scenarios": list(listed)}).encode()
    import_scenarios(data=data, suite_name=name)
    return Suite.objects.get(name=name)


def make_configuration(name: str = "Front desk", **more: Any) -> ConfigurationVersion:
    import_applications(data=json.dumps([APPLICATION]).encode())
    import_configurations(data=json.dumps([configuration(name, **more)]).encode())
    return find_configuration_version(name)


def make_run(
    scenarios: Sequence[Mapping[str, Any]] | int = 1,
    *,
    configurations: Sequence[ConfigurationVersion] | None = None,
    repeats: int = 1,
    concurrency: int = 2,
    seed: int | None = 7,
    **more: Any,
) -> Run:
    chosen = configurations or [make_configuration()]
    return start_run(
        suite=make_suite(scenarios, name=f"suite {Suite.objects.count() + 1}"),
        configuration_versions=chosen,
        repeats=repeats,
        concurrency=concurrency,
        seed=seed,
        **more,
    )
