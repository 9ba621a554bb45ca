"""Bodies as an OpenAI-compatible judge sends them, for the scripted HTTP server."""

from __future__ import annotations

import json
from typing import Any

from tests.speech_server import Answer

JSON = {"Content-Type": "application/json"}


def says(text: Any, *, usage: bool = True, input_tokens: Any = 90) -> Answer:
    """A Responses API answer whose one text is `text` (JSON is written out)."""
    said = text if isinstance(text, str) else json.dumps(text)
    content = [{"type": "output_text", "text": said, "annotations": []}]
    body: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "judge-1",
        "status": "completed",
        "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    if usage:
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        body["usage"] = {"input_tokens": input_tokens, "output_tokens": 20, "total_tokens": 110, **details}
    return Answer(json.dumps(body).encode(), 200, JSON)


def chat_says(text: Any) -> Answer:
    """The same in the older chat form."""
    message = {"role": "assistant", "content": text if isinstance(text, str) else json.dumps(text)}
    body = {
        "id": "chat_1",
        "object": "chat.completion",
        "created": 1,
        "model": "judge-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110},
    }
    return Answer(json.dumps(body).encode(), 200, JSON)


def grade_of(score: Any, passed: bool | None = None, rationale: str = "It fits.") -> dict[str, Any]:
    verdict = score in (0.75, 1, 1.0) if passed is None else passed
    return {"passed": verdict, "score": score, "rationale": rationale, "evidence": ["15 May at six"]}
