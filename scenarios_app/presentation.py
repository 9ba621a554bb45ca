"""Content made ready for pages: plain values that templates only lay out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scenarios_app.spec.errors import SpecError

Json = Any


def pretty_json(value: Json, *, sort_keys: bool = False) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, sort_keys=sort_keys)


def inline_json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


class Parsed(Protocol):
    def to_json(self) -> dict[str, Json]: ...


def in_contract_order(content: Mapping[str, Json], parse: Callable[[Json], Parsed]) -> dict[str, Json]:
    """The same content with its fields in the order of the contract: PostgreSQL gives keys back sorted by length."""
    try:
        return parse(content).to_json()
    except SpecError:  # stored under an older contract: shown as it is
        return dict(content)


@dataclass(frozen=True)
class Parameter:
    """One row of a tool's parameters. `depth` counts the objects and lists around it."""

    name: str
    kind: str
    required: bool
    description: str
    limits: str
    depth: int


_LIMITS = {
    "format": "format {}",
    "pattern": "pattern {}",
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "{} characters or more",
    "maxLength": "{} characters or fewer",
    "minItems": "{} entries or more",
    "maxItems": "{} entries or fewer",
    "default": "default {}",
}


def schema_rows(schema: Mapping[str, Json], depth: int = 0) -> Iterator[Parameter]:
    """The properties of a JSON Schema as table rows, nested ones below their parent."""
    required = schema.get("required", [])
    for name, part in (schema.get("properties") or {}).items():
        if not isinstance(part, Mapping):  # true and false are schemas too: anything, nothing
            yield Parameter(name, "anything" if part else "nothing", name in required, "", "", depth)
            continue
        yield Parameter(name, _kind(part), name in required, str(part.get("description", "")), _limits(part), depth)
        yield from schema_rows(part, depth + 1)
        items = part.get("items")
        if isinstance(items, Mapping):
            yield from schema_rows(items, depth + 1)


def _kind(schema: Mapping[str, Json]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(plain(value) for value in schema["enum"])
    if "const" in schema:
        return f"always {plain(schema['const'])}"
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(_kind(part) for part in schema[word] if isinstance(part, Mapping))
    kinds = schema.get("type", "anything")
    if isinstance(kinds, list):
        return " or ".join(kinds)
    items = schema.get("items")
    return f"list of {_kind(items)}" if kinds == "array" and isinstance(items, Mapping) else str(kinds)


def plain(value: Json) -> str:
    return value if isinstance(value, str) else inline_json(value)


def _limits(schema: Mapping[str, Json]) -> str:
    return ", ".join(text.format(plain(schema[key])) for key, text in _LIMITS.items() if key in schema)


@dataclass(frozen=True)
class Answer:
    """One declared answer of a tool, its parts as the text that a page shows."""

    when: str
    result: str
    error: str
    effects: str
    delay_ms: Json


@dataclass(frozen=True)
class Endpoint:
    """The author's own endpoint that answers a tool. Header values may name secrets and never hold them."""

    url: str
    headers: tuple[tuple[str, str], ...]
    timeout: str
    send_state: bool
    effects: str


@dataclass(frozen=True)
class ToolCard:
    """`result` is its entry of the plain tool_results; `python` the name of a registered class. Empty: not given."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    reads: tuple[str, ...]
    answers: tuple[Answer, ...]
    http: Endpoint | None
    python: str
    result: str
    other: str  # what the card has no place for, as JSON


_SHOWN_OF_TOOL = {"name", "description", "parameters", "reads", "answers", "http", "python", "type"}


def tool_cards(content: Mapping[str, Json]) -> list[ToolCard]:
    results = content.get("tool_results") or {}
    return [_tool_card(tool, results) for tool in content.get("tools", [])]


def other_results(content: Mapping[str, Json]) -> dict[str, Json]:
    """The plain tool_results of tools that the application does not declare."""
    declared = {tool["name"] for tool in content.get("tools", [])}
    return {name: value for name, value in (content.get("tool_results") or {}).items() if name not in declared}


def _tool_card(tool: Mapping[str, Json], results: Mapping[str, Json]) -> ToolCard:
    other = {key: value for key, value in tool.items() if key not in _SHOWN_OF_TOOL}
    return ToolCard(
        name=tool["name"],
        description=tool.get("description", ""),
        parameters=tuple(schema_rows(tool.get("parameters", {}))),
        reads=tuple(tool.get("reads") or ()),
        answers=tuple(_answer(answer) for answer in tool.get("answers") or []),
        http=_endpoint(tool["http"]) if tool.get("http") else None,
        python=tool.get("python") or "",
        result=pretty_json(results[tool["name"]]) if tool["name"] in results else "",
        other=pretty_json(other) if other else "",
    )


def _endpoint(http: Mapping[str, Json]) -> Endpoint:
    return Endpoint(
        url=http["url"],
        headers=tuple((http.get("headers") or {}).items()),
        timeout=plain(http["timeout"]) if http.get("timeout") else "",
        send_state=bool(http.get("send_state")),
        effects=pretty_json(http["effects"]) if http.get("effects") else "",
    )


def _answer(answer: Mapping[str, Json]) -> Answer:
    return Answer(
        when=str(answer.get("when", "")),
        result=pretty_json(answer["result"]) if "result" in answer else "",
        error=str(answer.get("error", "")),
        effects=pretty_json(answer["effects"]) if answer.get("effects") else "",
        delay_ms=answer.get("delay_ms"),
    )
