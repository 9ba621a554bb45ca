"""Scenarios and configurations as their pages read them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scenarios_app.presentation import Json, inline_json, plain, pretty_json
from scenarios_app.spec.conditions import told_value
from scenarios_app.spec.configuration import JUDGE_MODEL, OPENAI, mode_of
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.tool_faults import fault_lines


@dataclass(frozen=True)
class ExpectedCall:
    name: str
    arguments: tuple[tuple[str, str], ...]
    status: str


def expected_calls(entries: Sequence[Mapping[str, Json]]) -> list[ExpectedCall]:
    return [
        ExpectedCall(
            name=entry["name"],
            arguments=tuple((name, inline_json(value)) for name, value in (entry.get("arguments") or {}).items()),
            status=entry.get("status", "completed"),
        )
        for entry in entries
    ]


@dataclass(frozen=True)
class Spoken:
    who: str  # caller or agent
    text: str


@dataclass(frozen=True)
class FurtherTurn:
    """What the caller says after his first words, and `when`."""

    text: str
    when: str


@dataclass(frozen=True)
class ScenarioCard:
    """A scenario as its page reads it out. Empty text or an empty list: it is not given."""

    says: str
    turns: tuple[FurtherTurn, ...]
    summary: str
    history: tuple[Spoken, ...]
    initial_state: str
    application: str
    reference_date: str
    answer: str
    criteria: tuple[str, ...]
    delegation: str
    required: tuple[ExpectedCall, ...]
    prohibited: tuple[ExpectedCall, ...]
    state: str
    state_is_unchanged: bool
    assertions: tuple[str, ...]
    faults: tuple[str, ...]
    mode: str
    owner: str
    source: str
    notes: str
    critical: bool
    kind: str
    interaction: str
    other: str  # what the page has no place for, as JSON


_CARD_FIELDS = frozenset(
    {"id", "title", "type", "interaction", "tags", "input", "application", "expected", "reference_date"}
    | {"assertions", "tool_faults", "mode", "owner", "source", "notes", "critical"}
)


# of a caller who finds his own words; caller_card.py reads him out
_CALLER_FIELDS = frozenset({"persona", "stop_when", "max_turns"})


def scenario_card(content: Mapping[str, Json]) -> ScenarioCard:
    given, expected = content["input"], content.get("expected", {})
    context, tools = given.get("context") or {}, expected.get("tools", {})
    application = content.get("application", {})
    state = expected.get("state") or {}
    return ScenarioCard(
        says=given["text"],
        turns=tuple(_further_turn(turn) for turn in given.get("turns", [])),
        summary=context.get("summary") or "",
        history=tuple(_spoken(message) for message in context.get("history", [])),
        initial_state=_json_or_nothing(application.get("initial_state")),
        application=reference_label(application.get("ref")),
        reference_date=content.get("reference_date") or "",
        answer=expected.get("answer") or "",
        criteria=tuple(expected.get("criteria", [])),
        delegation=expected.get("delegation", "optional"),
        required=tuple(expected_calls(tools.get("required", []))),
        prohibited=tuple(expected_calls(tools.get("prohibited", []))),
        state=_json_or_nothing(state),
        state_is_unchanged=state == {"unchanged": True},
        assertions=tuple(inline_json(assertion) for assertion in content.get("assertions", [])),
        faults=tuple(fault_lines(content.get("tool_faults") or {})),
        mode=content.get("mode") or "",
        owner=content.get("owner") or "",
        source=plain(content["source"]) if content.get("source") else "",
        notes=content.get("notes") or "",
        critical=bool(content.get("critical")),
        kind=content.get("type") or "",
        interaction=content["interaction"],
        other=_json_or_nothing(_other_parts(content)),
    )


def _further_turn(turn: Mapping[str, Json]) -> FurtherTurn:
    after_ms = turn.get("interrupt_after_ms")
    when = "after the reply"
    if after_ms is not None:
        when = f"over the reply, after {plain(after_ms)} ms of it" if after_ms else "as soon as the reply begins"
    elif turn.get("wait") == "silence":
        when = "after a second of silence"
    return FurtherTurn(turn.get("text") or f"(recording {turn.get('recording')})", when)


def _spoken(message: Mapping[str, Json]) -> Spoken:
    return Spoken("caller" if message["role"] == "user" else "agent", message["text"])


def _json_or_nothing(value: Json) -> str:
    return pretty_json(value) if value else ""


def _other_parts(content: Mapping[str, Json]) -> dict[str, Json]:
    shown_elsewhere = _CARD_FIELDS if content.get("input", {}).get("turns") else _CARD_FIELDS | _CALLER_FIELDS
    other = {key: value for key, value in content.items() if key not in shown_elsewhere}
    inner = {
        "input": {"text", "context", "turns", "recordings"},
        "expected": {"answer", "criteria", "delegation", "tools", "state"},
    }
    for name, shown in inner.items():
        rest = {key: value for key, value in content.get(name, {}).items() if key not in shown and value}
        if rest:
            other[name] = rest
    return other


def reference_label(reference: Mapping[str, Json] | None) -> str:
    """NAME@VERSION of {name, version}; "" for none."""
    if not reference:
        return ""
    version = reference.get("version")
    return reference["name"] if version is None else f"{reference['name']}@{version}"


@dataclass(frozen=True)
class ConfigurationCard:
    """A configuration at a glance; what was not given reads as the default that applies."""

    protocol: str
    dialect: str
    endpoint: str
    model: str
    mode: str
    voice: str
    application: str
    application_name: str
    instructions: str
    caller: str
    caller_endpoint: str
    caller_line: str
    judge: str
    judge_endpoint: str
    persona: str
    persona_endpoint: str
    backend: str
    backend_endpoint: str
    headers: tuple[tuple[str, str], ...]
    turn_detection: str
    codings: str
    real_time: bool
    timeouts: str
    other: str


_CONFIGURATION_FIELDS = frozenset(
    {"name", "protocol", "dialect", "endpoint", "model", "mode", "voice", "application", "instructions"}
    | {"caller", "judge", "persona", "headers", "turn_detection", "timeouts"}
)
_SHOWN_IN_PART = {
    "audio": ("input", "output", "real_time"),
    "backend": ("mode", "model", "endpoint"),
}


def configuration_card(content: Mapping[str, Json]) -> ConfigurationCard:
    caller, judge = content.get("caller") or {}, content.get("judge")
    timeouts, persona = content.get("timeouts") or {}, content.get("persona")
    audio, backend = content.get("audio") or {}, content.get("backend") or {}
    return ConfigurationCard(
        protocol=content["protocol"],
        dialect=content.get("dialect", "ga"),
        endpoint=content["endpoint"],
        model=content["model"],
        mode=mode_of(content),
        voice=content.get("voice") or "",
        application=reference_label(content.get("application")),
        application_name=(content.get("application") or {}).get("name", ""),
        instructions=content.get("instructions", ""),
        caller=_joined(caller.get("model", "gpt-4o-mini-tts"), caller.get("voice", "marin")),
        caller_endpoint=caller.get("endpoint", OPENAI),
        caller_line=_line(caller.get("condition")),
        judge=_joined(judge.get("model", JUDGE_MODEL), judge.get("reasoning_effort")) if judge is not None else "",
        judge_endpoint=judge.get("endpoint", OPENAI) if judge is not None else "",
        persona=persona["model"] if persona is not None else "",
        persona_endpoint=persona.get("endpoint", OPENAI) if persona is not None else "",
        backend=_joined(backend.get("mode"), backend.get("model")),
        backend_endpoint=backend.get("endpoint") or "",
        headers=tuple(content.get("headers", {}).items()),
        turn_detection=plain(content.get("turn_detection") or "none"),
        codings=_codings(audio.get("input", "pcm16"), audio.get("output", "pcm16")),
        real_time=audio.get("real_time", True),
        timeouts=", ".join(f"{name.replace('_', ' ')} {plain(value)}" for name, value in timeouts.items()),
        other=_json_or_nothing(_not_on_card(content)),
    )


def _not_on_card(content: Mapping[str, Json]) -> dict[str, Json]:
    other = {key: value for key, value in content.items() if key not in _CONFIGURATION_FIELDS and value}
    for part, shown in _SHOWN_IN_PART.items():
        if part in other:
            other[part] = {key: value for key, value in other[part].items() if key not in shown}
    return {key: value for key, value in other.items() if value}


def _line(condition: Json) -> str:
    """An older version may hold what no condition is."""
    try:
        return told_value(condition)
    except SpecError:
        return plain(condition)


def _codings(to_agent: str, from_agent: str) -> str:
    return to_agent if to_agent == from_agent else f"{to_agent} to the agent, {from_agent} from it"


def _joined(*parts: str | None) -> str:
    return " · ".join(part for part in parts if part)
