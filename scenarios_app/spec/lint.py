"""Remarks: things that are allowed and yet rarely meant. Errors are the contracts' own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from scenarios_app.spec.application import Application, Tool
from scenarios_app.spec.configuration import Configuration
from scenarios_app.spec.errors import path_of
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.providers import provider_remarks
from scenarios_app.spec.scenario import Scenario
from scenarios_app.spec.templates import PLACEHOLDER

_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_UNIT = "(?:day|week|weekend|month|year)"
_COUNT = r"(?:a|an|one|two|three|four|five|six|seven|\d+)"
# English only. A weekday alone is relative too: "on Friday" is another day next week.
_RELATIVE = re.compile(
    rf"\b(?:today|tonight|tomorrow|yesterday|{_DAY}s?|(?:this|next|last|coming) {_UNIT}"
    rf"|in {_COUNT} {_UNIT}s?|{_COUNT} {_UNIT}s? (?:ago|from now))\b",
    re.IGNORECASE,
)
_LOOKS_SECRET = re.compile(r"\bsk-[A-Za-z0-9_-]{8,}|\bBearer\s+\S{16,}|[A-Za-z0-9_-]{32,}")
_ELSEWHERE = ("endpoint", "api_key", "token")
_TUNING = ("reasoning", "verbosity", "max_output_tokens")
PRICES = ("text_in", "text_cached", "text_out", "audio_in", "audio_cached", "audio_out", "per_minute")


class Remark(NamedTuple):
    """`path` as in errors.Problem; it begins at the scenario, application or configuration."""

    path: str
    message: str


def lint(scenario: Scenario) -> list[Remark]:
    return [*_relative_dates(scenario), *_expectations(scenario), *_contradictions(scenario)]


def _spoken(scenario: Scenario) -> Iterator[tuple[str, str]]:
    yield "input.text", scenario.input.text
    for index, turn in enumerate(scenario.input.turns):
        yield f"input.turns[{index}].text", turn.text or ""
    context = scenario.input.context
    if context is not None:
        yield "input.context.summary", context.summary or ""
        for index, message in enumerate(context.history):
            yield f"input.context.history[{index}].text", message.text


def _relative_dates(scenario: Scenario) -> Iterator[Remark]:
    if scenario.reference_date is not None:
        return
    for path, text in _spoken(scenario):
        if match := _RELATIVE.search(text):
            yield Remark(path, f'"{match[0]}" means another day each time; set reference_date')


def _expectations(scenario: Scenario) -> Iterator[Remark]:
    expected = scenario.expected
    if "state" in expected.model_fields_set and not expected.state:
        yield Remark("expected.state", "an empty state is not checked; write the keys that matter, or unchanged: true")
    if not _has_checks(scenario):
        if expected.answer is None and not expected.criteria:
            yield Remark("expected", "nothing is expected, so this scenario stays ungraded")
        else:
            yield Remark("expected", "only a judge can grade this; without one it stays ungraded")


def _has_checks(scenario: Scenario) -> bool:
    """Whether anything can be decided without a judge."""
    expected = scenario.expected
    certain = [assertion for assertion in scenario.assertions if assertion.judge is None]
    tools = expected.tools.required or expected.tools.prohibited
    return bool(tools or expected.state or certain or expected.delegation != "optional")


def _contradictions(scenario: Scenario) -> Iterator[Remark]:
    required = {call.name for call in scenario.expected.tools.required}
    for index, call in enumerate(scenario.expected.tools.prohibited):
        if call.name in required and not call.arguments:
            yield Remark(
                f"expected.tools.prohibited[{index}]", f'every "{call.name}" is prohibited, yet one is required'
            )


def lint_application(application: Application) -> list[Remark]:
    declared = {tool.name for tool in application.tools}
    remarks = [
        Remark(f"tool_results.{name}", "no tool of this application has this name")
        for name in application.tool_results
        if name not in declared
    ]
    for index, tool in enumerate(application.tools):
        answered = tool.answers or tool.http or tool.python or tool.name in application.tool_results
        if not answered:
            remarks.append(Remark(f"tools[{index}]", f'"{tool.name}" has no answer, so every call of it fails'))
        remarks += (Remark(f"tools[{index}].{path}", message) for path, message in _answers(tool))
    return remarks


def _answers(tool: Tool) -> Iterator[Remark]:
    for index, answer in enumerate(tool.answers):
        path = f"answers[{index}]"
        if answer.error is not None and {"result", "effects"} & answer.model_fields_set:
            yield Remark(path, "an answer with an error sends no result and changes no state")
        if answer.when is None and index + 1 < len(tool.answers):
            yield Remark(path, "an answer without when always holds; those after it are never used")


def lint_configuration(configuration: Configuration) -> list[Remark]:
    remarks = [
        Remark(path, "this looks like a key; write {{secrets.NAME}} and keep the key in the environment")
        for path, text in _places_of_keys(configuration)
        if _LOOKS_SECRET.search(PLACEHOLDER.sub("", text))
    ]
    remarks += [*_idle_backend(configuration), *_unread_prices(configuration)]
    return remarks + [Remark(*remark) for remark in provider_remarks(configuration)]


def _idle_backend(configuration: Configuration) -> Iterator[Remark]:
    """What of the backend is read by nobody, in the mode that it has."""
    backend, own = configuration.backend, configuration.own_backend
    if backend is None:
        return
    idle: tuple[str, ...] = _TUNING
    why = "a remote assistant decides that by itself"
    if own is None and backend.mode == "direct":
        idle, why = ("model", "instructions", *_ELSEWHERE, *_TUNING), "in mode: direct the voice itself thinks"
    elif own is None:
        idle, why = _ELSEWHERE, "in mode: responses GPT Live asks its provider's model; mode: client asks yours"
    elif not (backend.endpoint or "").startswith(("ws://", "wss://")):
        return
    for name in idle:
        if getattr(backend, name) is not None:
            yield Remark(f"backend.{name}", f"is not used: {why}")


def _unread_prices(configuration: Configuration) -> list[Remark]:
    """Prices that no estimate can use: the cost of a run would be told as unknown, and nobody could see why."""
    prices = configuration.price_table
    if prices is None:
        return []
    if not isinstance(prices, dict) or not prices:
        return [Remark("price_table", f"is not used: it must be an object with any of {', '.join(PRICES)}")]
    strange = [name for name in prices if name not in PRICES]
    wrong = [name for name, price in prices.items() if name in PRICES and not _is_price(price)]
    known = f"is no price: these are {', '.join(PRICES)}"
    return [
        *(Remark(path_of(("price_table", name)), f"{known}; the whole table is not used") for name in strange),
        *(
            Remark(path_of(("price_table", name)), "must be a number, 0 or more; the table is not used")
            for name in wrong
        ),
    ]


def _is_price(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _places_of_keys(configuration: Configuration) -> Iterator[tuple[str, str]]:
    for name, value in configuration.headers.items():
        yield f"headers.{name}", value
    for name in ("backend", "caller", "judge", "persona"):
        service = getattr(configuration, name)
        for key in ("api_key", "token"):
            yield f"{name}.{key}", getattr(service, key, None) or ""
