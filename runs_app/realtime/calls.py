"""Function calls put together from the up to five places in which a server tells of them, once per call id."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isinf
from typing import Literal, NoReturn

from runs_app.realtime.dialects.base import ArgumentsPiece, CallSeen
from runs_app.realtime.record import Json, ToolCall
from scenarios_app.spec.jsontext import clean


@dataclass
class CallDraft:
    """`complete` once a server gave the whole arguments; pieces alone may have been cut off."""

    order: int
    call_id: str | None = None
    item_id: str | None = None
    name: str | None = None
    pieces: str = ""
    arguments: str | None = None
    item_status: str | None = None
    response_id: str | None = None
    output_index: int | None = None
    called_ms: float = 0.0

    @property
    def complete(self) -> bool:
        return self.arguments is not None and self.item_status not in ("incomplete", "in_progress")

    @property
    def raw(self) -> str:
        return self.pieces if self.arguments is None else self.arguments

    @property
    def id(self) -> str:
        return self.call_id or self.item_id or f"call_{self.order}"


@dataclass
class CallBook:
    """All calls of a conversation. `take` gives those of a finished response that were not given before."""

    _drafts: list[CallDraft] = field(default_factory=list)
    _by_id: dict[str, CallDraft] = field(default_factory=dict)
    _taken: int = 0

    def see(self, call: CallSeen, t_ms: float) -> bool:
        """False for a call id that a response used which has ended: counted once, so this says nothing new."""
        draft = self._draft(call.call_id, call.item_id, t_ms)
        if draft.order < self._taken:
            return call.response_id is None or draft.response_id in (None, call.response_id)
        draft.name = draft.name or call.name
        draft.response_id = draft.response_id or call.response_id
        if draft.output_index is None:
            draft.output_index = call.output_index
        draft.item_status = call.status or draft.item_status
        if call.arguments is not None and (draft.arguments is None or call.arguments):
            if draft.arguments is None:
                draft.called_ms = t_ms
            draft.arguments = call.arguments
        return True

    @property
    def waiting(self) -> bool:
        """Whether a call was told of that nobody took yet."""
        return self._taken < len(self._drafts)

    def add_piece(self, piece: ArgumentsPiece, t_ms: float) -> None:
        self._draft(piece.call_id, piece.item_id, t_ms).pieces += piece.text

    def take(self) -> list[CallDraft]:
        """In the order of the agent's output, then of arrival."""
        new, self._taken = self._drafts[self._taken :], len(self._drafts)
        last = len(self._drafts)
        return sorted(new, key=lambda draft: (last if draft.output_index is None else draft.output_index, draft.order))

    def _draft(self, call_id: str | None, item_id: str | None, t_ms: float) -> CallDraft:
        names = [f"call {call_id}"] if call_id else []
        names += [f"item {item_id}"] if item_id else []
        known = next((self._by_id[name] for name in names if name in self._by_id), None)
        # A reused item id with a call id of its own is another call; without any id the latest call is meant.
        if known is not None and call_id and known.call_id and known.call_id != call_id:
            known = None
        if known is None and not names and self._taken < len(self._drafts):
            known = self._drafts[-1]
        draft = known or self._new(t_ms)
        draft.call_id, draft.item_id = draft.call_id or call_id, draft.item_id or item_id
        self._by_id.update(dict.fromkeys(names, draft))
        return draft

    def _new(self, t_ms: float) -> CallDraft:
        draft = CallDraft(order=len(self._drafts), called_ms=t_ms)
        self._drafts.append(draft)
        return draft


@dataclass(frozen=True)
class Arguments:
    """`value` is None exactly when `error` says why the text could not be read."""

    value: dict[str, Json] | None
    error: str | None


def read_arguments(raw: str, *, required: Iterable[str] = ()) -> Arguments:
    """A JSON object. No text at all is an empty object for a tool that requires nothing."""
    if not raw.strip():
        missing = ", ".join(required)
        if missing:
            return Arguments(None, f"the arguments are empty, but the tool requires {missing}")
        return Arguments({}, None)
    try:
        value = json.loads(raw, parse_constant=_refuse_constant, parse_float=_finite_float)
    except json.JSONDecodeError as exc:
        return Arguments(None, f"the arguments are not JSON: {exc.msg} at character {exc.pos}")
    except ValueError as exc:
        return Arguments(None, f"the arguments are not JSON: {exc}")
    except RecursionError:
        return Arguments(None, "the arguments are nested too deeply")
    if not isinstance(value, dict):
        return Arguments(None, f"the arguments are a JSON {_json_name(value)}, not an object")
    return Arguments(clean(value), None)


def required_arguments(tools: Iterable[Mapping[str, Json]]) -> dict[str, tuple[str, ...]]:
    """By tool name: what its JSON Schema requires."""
    return {str(tool.get("name")): _required(tool.get("parameters")) for tool in tools}


def _required(parameters: Json) -> tuple[str, ...]:
    required = parameters.get("required") if isinstance(parameters, Mapping) else None
    return tuple(str(name) for name in required) if isinstance(required, list | tuple) else ()


def tool_call(
    draft: CallDraft,
    arguments: Arguments,
    *,
    turn: int,
    round: int,
    status: Literal["completed", "failed", "recorded"],
    answered_ms: float | None = None,
    output: Json = None,
    error: str | None = None,
    fault: str | None = None,
) -> ToolCall:
    return ToolCall(
        call_id=draft.id,
        name=draft.name or "",
        arguments_raw=draft.raw,
        arguments=arguments.value,
        parse_error=arguments.error,
        turn=turn,
        round=round,
        response_id=draft.response_id,
        output_index=draft.output_index or 0,
        called_ms=draft.called_ms,
        status=status,
        answered_ms=answered_ms,
        output=output,
        error=error,
        fault=fault,
    )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite_float(text: str) -> float:
    value = float(text)
    if isinf(value):
        raise ValueError(f"{text[:20]} is larger than any number that can be kept")
    return value


def _json_name(value: Json) -> str:
    if value is None:
        return "null"
    names = {list: "list", str: "text", bool: "boolean", int: "number", float: "number"}
    return names[type(value)]
