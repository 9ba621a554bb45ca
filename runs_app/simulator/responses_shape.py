"""OpenAI's response object, as the judge, the backend and the callers answer it."""

from __future__ import annotations

import hashlib
import json
import time

from runs_app.simulator.http_reply import Json

Asked = dict[str, Json]


def digest_of(asked: Asked) -> str:
    """The same request has the same ids."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def response_object(asked: Asked, output: list[Json], *, model: str, read: int, written: int) -> Asked:
    """`read` and `written`: words, the simulator's honest measure: it has no tokens."""
    return {
        "id": f"resp_{digest_of(asked)[:32]}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": asked.get("instructions"),
        "max_output_tokens": asked.get("max_output_tokens"),
        "metadata": asked.get("metadata") or {},
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": asked.get("reasoning") or {"effort": None, "summary": None},
        "store": bool(asked.get("store", False)),
        "temperature": asked.get("temperature", 1.0),
        "text": asked.get("text") or {"format": {"type": "text"}},
        "tool_choice": asked.get("tool_choice") or "auto",
        "tools": asked.get("tools") or [],
        "top_p": asked.get("top_p", 1.0),
        "truncation": "disabled",
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        },
    }


def text_response(asked: Asked, prompt: str, text: str, *, model: str) -> Asked:
    """A response whose one output is `text`."""
    read = len(prompt.split()) + len(str(asked.get("instructions") or "").split())
    output = [message_item(f"msg_{digest_of(asked)[32:]}", text)]
    return response_object(asked, output, model=model, read=read, written=len(text.split()))


def message_item(identity: str, text: str) -> Asked:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": identity, "type": "message", "role": "assistant", "status": "completed", "content": [part]}
