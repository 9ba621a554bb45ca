"""The Responses backend of a Live session: one delegation's rounds, as nested Responses events."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from runs_app.simulator.clerk import Call, Decision, Say
from runs_app.simulator.faults import Faults
from runs_app.simulator.wire import Json, new_id

Emit = Callable[[dict[str, Json]], Awaitable[None]]


@dataclass
class Work:
    """One delegation to the backend. `open_calls` wait for their outputs; `over` when a round has made no call."""

    id: str = field(default_factory=lambda: new_id("dlg"))
    open_calls: set[str] = field(default_factory=set)
    over: bool = False


class Backend:
    """Tells a round's events; what it decides comes from the session."""

    def __init__(self, *, emit: Emit, settings: dict[str, Json], faults: Faults) -> None:
        self._emit, self._settings, self._faults = emit, settings, faults

    async def run(self, work: Work, response_id: str, decision: Decision) -> tuple[str, list[dict[str, Json]]]:
        """A whole response: the words that it says, and the function calls that it makes."""
        sequence = _Sequence(self._emit, work.id)
        await sequence.tell("response.created", response=self._object(response_id, "in_progress"))
        if failure := self._faults.failure():
            # The Responses API has no code for an empty account but that of a limit.
            code = "rate_limit_exceeded" if failure[1] == "insufficient_quota" else failure[1]
            error = {"code": code, "message": f"The simulator fails on request: {failure[1]}."}
            await sequence.tell("response.failed", response=self._object(response_id, "failed", error))
            work.over = True
            return "", []
        await self._think_aloud(sequence)
        words: list[str] = []
        calls: list[dict[str, Json]] = []
        for index, output in enumerate(decision.outputs, start=1):
            if isinstance(output, Call):
                calls.append(await self._call(sequence, index, output))
            else:
                words.append(await self._message(sequence, index, output))
        await sequence.tell("response.completed", response=self._object(response_id, "completed"))
        work.open_calls |= {call["call_id"] for call in calls}
        work.over = not calls
        return " ".join(words), calls

    async def _think_aloud(self, sequence: _Sequence) -> None:
        """The first item of a reasoning model is no answer."""
        item = {"id": new_id("rs"), "type": "reasoning", "summary": []}
        for name in ("added", "done"):
            await sequence.tell(f"response.output_item.{name}", output_index=0, item=item)

    async def _call(self, sequence: _Sequence, index: int, call: Call) -> dict[str, Json]:
        item: dict[str, Json] = {"id": new_id("fc"), "type": "function_call", "status": "in_progress"}
        item |= {"call_id": new_id("call"), "name": call.name, "arguments": ""}
        where = {"item_id": item["id"], "output_index": index}
        await sequence.tell("response.output_item.added", output_index=index, item=item)
        arguments = self._faults.spoil(json.dumps(call.arguments, ensure_ascii=False))
        await sequence.tell("response.function_call_arguments.delta", **where, delta=arguments)
        await sequence.tell("response.function_call_arguments.done", **where, arguments=arguments)
        item = item | {"status": "completed", "arguments": arguments}
        await sequence.tell("response.output_item.done", output_index=index, item=item)
        return item

    async def _message(self, sequence: _Sequence, index: int, say: Say) -> str:
        item: dict[str, Json] = {"id": new_id("msg"), "type": "message", "role": "assistant"}
        item |= {"status": "in_progress", "content": []}
        where = {"item_id": item["id"], "output_index": index, "content_index": 0}
        part = {"type": "output_text", "annotations": [], "logprobs": []}
        await sequence.tell("response.output_item.added", output_index=index, item=item)
        await sequence.tell("response.content_part.added", **where, part=part | {"text": ""})
        await sequence.tell("response.output_text.delta", **where, delta=say.text, logprobs=[])
        await sequence.tell("response.output_text.done", **where, text=say.text, logprobs=[])
        whole = part | {"text": say.text}
        await sequence.tell("response.content_part.done", **where, part=whole)
        item = item | {"status": "completed", "content": [whole]}
        await sequence.tell("response.output_item.done", output_index=index, item=item)
        return say.text

    def _object(self, response_id: str, status: str, error: Json = None) -> dict[str, Json]:
        """Live's snapshots leave the output empty: what a response made stands in its items."""
        return {
            "id": response_id,
            "object": "response",
            "created_at": int(time.time()),
            "status": status,
            "error": error,
            "model": self._settings["model"],
            "output": [],
            "parallel_tool_calls": self._settings.get("parallel_tool_calls") is not False,
            "tool_choice": self._settings.get("tool_choice") or "auto",
            "tools": self._settings.get("tools") or [],
        }


class _Sequence:
    """The nested events of one response, numbered."""

    def __init__(self, emit: Emit, delegation_id: str) -> None:
        self._emit, self._delegation_id, self._number = emit, delegation_id, 0

    async def tell(self, type: str, **fields: Json) -> None:
        event = {"type": type, "sequence_number": self._number, **fields}
        self._number += 1
        await self._emit({"type": "response.event", "delegation_id": self._delegation_id, "event": event})
