"""What an agent is allowed to know before the call begins: never a byte of what an evaluator expects."""

from __future__ import annotations

import json
from typing import Literal

from runs_app.realtime.record import Json
from scenarios_app.spec.application import Application
from scenarios_app.spec.scenario import Scenario

TITLE = "Context that you may use, as JSON:"

History = tuple[tuple[Literal["user", "assistant"], str], ...]


def history_of(scenario: Scenario) -> History:
    context = scenario.input.context
    return tuple((message.role, message.text) for message in context.history) if context else ()


def context_of(scenario: Scenario, application: Application | None) -> str:
    """One fenced JSON block; empty when there is nothing to know."""
    return _block(
        {
            "summary": _summary(scenario),
            "facts": application.facts if application else None,
            "state": scenario.application.initial_state,
            "reference_date": scenario.reference_date,
        }
    )


def context_here(facts: dict[str, Json], state: dict[str, Json]) -> str:
    """Of an assistant that keeps facts and a state of its own."""
    return _block({"facts": facts, "state": state})


def context_elsewhere(scenario: Scenario) -> str:
    """For a remote assistant, which has facts and a state of its own."""
    return _block({"summary": _summary(scenario), "reference_date": scenario.reference_date})


def _summary(scenario: Scenario) -> str | None:
    return scenario.input.context.summary if scenario.input.context else None


def _block(known: dict[str, object]) -> str:
    given = {key: value for key, value in known.items() if value}
    return f"{TITLE}\n```json\n{json.dumps(given, ensure_ascii=False, indent=2)}\n```" if given else ""


def with_context(instructions: str, context: str) -> str:
    return "\n\n".join(part for part in (instructions, context) if part)
