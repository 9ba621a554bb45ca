"""The console's side of a call: from the fields of a page to arguments, and from an outcome to what the page shows.

A field takes what it is given: a word in a field for a number goes to the tool as that word, since an agent may send it
too, and the schema's answer is what one came to see.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs_app.realtime.application import ApplicationExecutor
from runs_app.realtime.tool_arguments import ArgumentSchema, SchemaFault
from runs_app.realtime.toolround import output_text
from runs_app.realtime.tools import ToolOutcome, ToolSandboxError
from runs_app.services import secrets
from runs_app.trial_page.state import StateRow, rows_between
from scenarios_app.presentation import plain, pretty_json
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import load

Json = Any

PREFIX = "arg-"
WITHIN_S = 60.0


@dataclass(frozen=True)
class Field:
    """One argument. kind: text, number, choice, json. `choices` are pairs of the value sent and its label."""

    name: str
    kind: str
    required: bool
    description: str
    hint: str
    value: str
    choices: tuple[tuple[str, str], ...] = ()
    error: str = ""

    @property
    def input_name(self) -> str:
        return f"{PREFIX}{self.name}"


def fields_of(schema: Mapping[str, Json], sent: Mapping[str, str]) -> list[Field]:
    """A field for each property of a tool's JSON Schema, with what was sent for it."""
    required = schema.get("required") or []
    return [
        _field(name, part if isinstance(part, dict) else {}, name in required, sent.get(f"{PREFIX}{name}", ""))
        for name, part in (schema.get("properties") or {}).items()
    ]


def _field(name: str, schema: Mapping[str, Json], required: bool, value: str) -> Field:
    kind, choices = _kind(schema)
    hint = "YYYY-MM-DD" if schema.get("format") == "date" else "JSON" if kind == "json" else ""
    error = "" if kind != "json" or not value.strip() else _json_problem(value)
    return Field(name, kind, required, str(schema.get("description", "")), hint, value, choices, error)


def _kind(schema: Mapping[str, Json]) -> tuple[str, tuple[tuple[str, str], ...]]:
    if isinstance(schema.get("enum"), list):
        return "choice", tuple((json.dumps(value, ensure_ascii=False), plain(value)) for value in schema["enum"])
    match schema.get("type"):
        case "boolean":
            return "choice", (("true", "true"), ("false", "false"))
        case "integer" | "number":
            return "number", ()
        case "string":
            return "text", ()
    return "json", ()


def arguments_of(fields: list[Field]) -> dict[str, Json]:
    """What the filled fields say; an empty one is left out. Fields with an error are left out as well."""
    return {field.name: _read(field) for field in fields if field.value != "" and not field.error}


def _read(field: Field) -> Json:
    if field.kind == "text":
        return field.value
    try:
        return load(field.value)
    except SpecError:
        return field.value


def sent_as(arguments: Mapping[str, Json], schema: Mapping[str, Json]) -> dict[str, str]:
    """The fields' values that say these arguments, for switching from JSON to the form."""
    kinds = {field.name: field.kind for field in fields_of(schema, {})}
    return {
        f"{PREFIX}{name}": value if isinstance(value, str) and kinds[name] in ("text", "number") else pretty_json(value)
        for name, value in arguments.items()
        if name in kinds
    }


def read_object(text: str, what: str) -> tuple[dict[str, Json], str]:
    """The JSON object of a text (empty: none) and what is wrong with it."""
    if not text.strip():
        return {}, ""
    try:
        value = load(text)
    except SpecError as error:
        return {}, str(error)
    return (value, "") if isinstance(value, dict) else ({}, f"{what} must be one JSON object")


def _json_problem(text: str) -> str:
    try:
        load(text)
    except SpecError as error:
        return str(error)
    return ""


@dataclass(frozen=True)
class Called:
    """What a call came to. `broke` is what would make a trial invalid: it says nothing about the agent."""

    tool: str
    arguments: str
    violations: tuple[str, ...]
    status: str = ""
    answer: str = ""  # letter for letter what goes back to the agent
    is_json: bool = False
    error: str = ""
    delay: str = ""
    fault: str = ""
    broke: str = ""
    changes: tuple[StateRow, ...] = ()


async def call(
    executor: ApplicationExecutor, tool: str, arguments: dict[str, Json], schema: Mapping[str, Json]
) -> Called:
    """Asks the trial's own executor; nothing is waited for but the answer itself."""
    before = executor.snapshot()
    asked: dict[str, Any] = {
        "tool": tool,
        "arguments": pretty_json(arguments),
        "violations": _violations(schema, arguments),
    }
    try:
        async with asyncio.timeout(WITHIN_S):
            outcome = secrets.redact_outcome(await executor.execute(tool, arguments))
    except ToolSandboxError as error:
        return Called(**asked, broke=secrets.redact(str(error)))
    except TimeoutError:
        return Called(**asked, broke=f"no result within {WITHIN_S:g} s")
    changes = [row for row in rows_between(before, executor.snapshot()) if row.changed]
    return Called(**asked, **_shown(outcome), changes=tuple(changes))


def _violations(schema: Mapping[str, Json], arguments: dict[str, Json]) -> tuple[str, ...]:
    try:
        return tuple(ArgumentSchema(schema).problems(arguments))
    except SchemaFault:  # told by the call itself
        return ()


def _shown(outcome: ToolOutcome) -> dict[str, Any]:
    never = outcome.delay_ms == float("inf")
    letters = "" if never or outcome.status == "recorded" else output_text(outcome)
    return {
        "status": outcome.status,
        "answer": pretty_json(outcome.output) if outcome.output_text is None and letters else letters,
        "is_json": outcome.output_text is None,
        "error": outcome.error or "",
        "delay": "never" if never else f"{outcome.delay_ms:g} ms" if outcome.delay_ms else "",
        "fault": outcome.fault.detail if outcome.fault else "",
    }
