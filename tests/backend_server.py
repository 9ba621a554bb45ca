"""Bodies as a Responses endpoint with tools sends them, for the scripted HTTP server."""

from __future__ import annotations

import json
from typing import Any

from tests.speech_server import Answer

JSON = {"Content-Type": "application/json"}


def calls(*made: tuple[str, str, str], text: str = "", response: str = "resp_1") -> Answer:
    """A response that calls functions (name, arguments, call id), with words before them if there are any."""
    items: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs_1", "summary": []}]
    items += [message(text)] if text else []
    for name, arguments, call_id in made:
        told = {"call_id": call_id, "name": name, "arguments": arguments, "status": "completed"}
        items.append({"type": "function_call", "id": f"fc_{call_id}", **told})
    return respond(items, response)


def answers(text: str, response: str = "resp_2") -> Answer:
    return respond([message(text)] if text else [], response)


def failed(code: str, why: str) -> Answer:
    body = {"id": "resp_1", "status": "failed", "output": [], "error": {"code": code, "message": why}}
    return Answer(json.dumps(body).encode(), 200, JSON)


def message(text: str) -> dict[str, Any]:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def respond(items: list[dict[str, Any]], response: str) -> Answer:
    usage = {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25, "input_tokens_details": {"cached_tokens": 2}}
    body = {"id": response, "object": "response", "status": "completed", "output": items, "usage": usage}
    return Answer(json.dumps(body).encode(), 200, JSON)
