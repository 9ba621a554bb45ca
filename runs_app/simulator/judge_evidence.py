"""Reading the evidence out of a judge's prompt: the JSON document in it, whatever its keys are called in detail."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

Json = Any

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)


@dataclass(frozen=True)
class Execution:
    """A tool call as the evidence shows it; `completed` is False when it failed or nobody answered it."""

    name: str
    arguments: Json
    output: Json
    completed: bool
    failed: bool


@dataclass(frozen=True)
class Evidence:
    """What a judge is asked about. `tools` is None when the evidence says nothing about tool calls."""

    dimension: str
    request: str
    expected: str
    criteria: tuple[str, ...]
    response: str
    tools: tuple[Execution, ...] | None
    required_tools: tuple[str, ...]
    background: tuple[str, ...]
    agent_lines: tuple[str, ...]
    reference_date: date | None
    caller_lines: tuple[str, ...] = ()
    caller_knows: tuple[str, ...] = ()  # the part of a caller who was played, where the caller is judged


def find_evidence(prompt: str) -> Evidence | None:
    """The evidence in `prompt`: the first JSON object with an `observed` or `scenario` part, fenced or bare."""
    for document in _documents(prompt):
        if isinstance(document, dict) and ("observed" in document or "scenario" in document):
            return _read(document)
    return None


def _documents(prompt: str) -> Iterator[Json]:
    for text in [*_FENCE.findall(prompt), prompt]:
        try:
            yield json.loads(text)
        except ValueError:
            continue
    decoder = json.JSONDecoder()
    for brace in re.finditer(r"\{", prompt):
        try:
            yield decoder.raw_decode(prompt, brace.start())[0]
        except ValueError:
            continue


def _read(document: dict[str, Json]) -> Evidence:
    scenario, observed = _part(document, "scenario"), _part(document, "observed")
    criterion = document.get("criterion")
    tools = _first(observed, "tool_executions", "tool_calls", "tools")
    context, facts = scenario.get("context"), _first(scenario, "public_facts", "facts")
    observed_facts = _first(observed, "public_business_facts", "public_facts", "facts")
    return Evidence(
        dimension=str(document.get("dimension") or "task_understanding"),
        request=_text(_first(scenario, "request", "user_request", "input")),
        expected="" if criterion else _text(_first(scenario, "expected_answer", "expected_response", "answer")),
        criteria=(str(criterion),) if criterion else _texts(_first(scenario, "criteria", "success_criteria")),
        response=_text(_first(observed, "assistant_response", "response", "reply")),
        tools=tuple(_execution(each) for each in tools if isinstance(each, dict)) if isinstance(tools, list) else None,
        required_tools=tuple(_required(scenario)),
        background=tuple(strings([context, facts, observed_facts, observed.get("initial_state")])),
        agent_lines=tuple(_lines_of(observed, "agent", "assistant")),
        caller_lines=tuple(_lines_of(observed, "caller", "user")),
        caller_knows=tuple(strings([_first(scenario, "caller", "persona"), scenario.get("first_words")])),
        reference_date=_date(_first(scenario, "reference_date") or _first(document, "reference_date")),
    )


def _part(document: dict[str, Json], name: str) -> dict[str, Json]:
    part = document.get(name)
    return part if isinstance(part, dict) else {}


def _first(part: dict[str, Json], *names: str) -> Json:
    return next((part[name] for name in names if part.get(name) is not None), None)


def _text(value: Json) -> str:
    if isinstance(value, dict):
        value = value.get("text")
    return value if isinstance(value, str) else " ".join(_texts(value))


def _texts(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


def _execution(each: dict[str, Json]) -> Execution:
    status, error = str(each.get("status") or "completed").lower(), each.get("error")
    failed = status in ("failed", "error") or bool(error)
    arguments = _first(each, "arguments", "args")
    if isinstance(arguments, str):
        with contextlib.suppress(ValueError):  # cut off or not JSON: the text itself is the evidence
            arguments = json.loads(arguments)
    return Execution(
        name=str(each.get("name") or each.get("tool") or "a tool"),
        arguments=arguments,
        output=_first(each, "output", "result"),
        completed=status in ("completed", "success", "ok") and not failed,
        failed=failed,
    )


def _required(scenario: dict[str, Json]) -> Iterable[str]:
    expected = _first(scenario, "expected_tools", "expected_tool_calls", "expected_tool_call", "tools")
    if isinstance(expected, dict):
        expected = expected.get("required", [expected] if "name" in expected else [])
    if not isinstance(expected, list):
        return ()
    return [str(each["name"]) for each in expected if isinstance(each, dict) and "name" in each]


def _lines_of(observed: dict[str, Json], *speakers: str) -> Iterator[str]:
    lines = _first(observed, "conversation", "transcript")
    for line in lines if isinstance(lines, list) else ():
        if isinstance(line, dict) and (line.get("speaker") or line.get("role")) in speakers:
            yield str(line.get("text") or "")


def _date(value: Json) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def strings(value: Json, key: str = "") -> Iterator[str]:
    """Every leaf of a JSON value as text, keys before values ("guest_name Maya")."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from strings(each, str(name))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each, key)
    elif value is not None and not isinstance(value, bool):
        yield f"{key.replace('_', ' ')} {value}".strip()
