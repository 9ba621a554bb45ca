"""What a Responses endpoint answers, read as leniently as the calls of a voice: servers leave things out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import openai

from runs_app.realtime import faults
from runs_app.realtime.delegation.assistant import Answered, DelegationError
from runs_app.realtime.dialects.base import Body, CallSeen
from runs_app.realtime.dialects.fields import object_in, objects_in, response_usage_in, text_in

BY_STATUS = {401: "authorisation", 403: "authorisation", 429: "provider_limit"}


def answered_of(body: Any, *, latency_ms: float) -> Answered:
    """Raises DelegationError when it is no response, or one that failed."""
    if not isinstance(body, dict) or not isinstance(body.get("output"), list):
        raise DelegationError("the backend's answer is not a response of the Responses API", code="no_response")
    status = text_in(body, "status") or "completed"
    if status in ("failed", "cancelled"):
        error = object_in(body, "error")
        code, message = text_in(error, "code"), text_in(error, "message")
        stage = faults.FATAL_STAGES.get(code or "", "delegation")
        raise DelegationError(f"the backend's response {status}: {message or 'no reason'}", code=code, stage=stage)
    response_id, output = text_in(body, "id"), objects_in(body, "output")
    return Answered(
        response_id=response_id,
        status=status,
        text=" ".join(text for item in output if (text := _words(item))),
        calls=tuple(_call(item, index, response_id) for index, item in enumerate(output) if _is_call(item)),
        usage=response_usage_in(body),
        latency_ms=round(latency_ms, 3),
    )


def items_of(body: Body, *, answered_calls: Collection[str]) -> list[Body]:
    """A response's output as the input of the next one. A call without an output would be refused there."""
    kept: list[Body] = []
    for index, item in enumerate(objects_in(body, "output")):
        if _is_call(item):
            call_id = _call_id(item, index)
            told = {"name": text_in(item, "name") or "", "arguments": text_in(item, "arguments") or "{}"}
            kept += [{"type": "function_call", "call_id": call_id, **told}] if call_id in answered_calls else []
        elif item.get("type") == "reasoning" and answered_calls and item.get("encrypted_content"):
            kept.append({key: item[key] for key in ("type", "id", "summary", "encrypted_content") if key in item})
        elif words := _words(item):
            kept.append({"type": "message", "role": "assistant", "content": words})
    return kept


def http_refusal(error: openai.APIStatusError) -> DelegationError:
    told = error.body if isinstance(error.body, dict) else {}
    code, message = text_in(told, "code") or text_in(told, "type"), text_in(told, "message")
    stage = faults.FATAL_STAGES.get(code or "") or BY_STATUS.get(error.status_code, "delegation")
    said = f": {' '.join(message.split())[:200]}" if message else ""
    return DelegationError(
        f"the backend answered HTTP {error.status_code}{said}", code=code or str(error.status_code), stage=stage
    )


def _is_call(item: Body) -> bool:
    return item.get("type") == "function_call"


def _call_id(item: Body, index: int) -> str:
    return text_in(item, "call_id") or text_in(item, "id") or f"call_{index}"


def _call(item: Body, index: int, response_id: str | None) -> CallSeen:
    return CallSeen(
        response_id,
        output_index=index,
        item_id=text_in(item, "id"),
        call_id=_call_id(item, index),
        name=text_in(item, "name"),
        arguments=text_in(item, "arguments") or "",
        status=text_in(item, "status"),
    )


def _words(item: Body) -> str:
    if item.get("type") != "message":
        return ""
    parts = objects_in(item, "content")
    return "".join(text_in(part, "text") or text_in(part, "refusal") or "" for part in parts).strip()
