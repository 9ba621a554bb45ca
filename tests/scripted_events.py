"""GA events and whole replies for `scripted_server`, as a GA server would send them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

from tests.scripted_server import Send

Event = dict[str, Any]


def session_created(**session: Any) -> Event:
    known = {"type": "realtime", "object": "realtime.session", "id": "sess_1", "output_modalities": ["audio"]}
    return {
        "type": "session.created",
        "event_id": "event_created",
        "session": {**known, "audio": {}, **session},
    }


def session_updated(**session: Any) -> Event:
    return {**session_created(**session), "type": "session.updated", "event_id": "event_updated"}


def error(code: str | None, message: str = "no", **more: Any) -> Event:
    about = {"type": "invalid_request_error", "code": code, "message": message, "param": None, **more}
    return {"type": "error", "event_id": f"event_error_{code}", "error": about}


def created(response: str = "resp_1") -> Event:
    return {"type": "response.created", "response": {"id": response, "status": "in_progress", "output": []}}


def usage(total_in: int = 12, total_out: int = 8) -> Event:
    return {
        "total_tokens": total_in + total_out,
        "input_tokens": total_in,
        "output_tokens": total_out,
        "input_token_details": {"text_tokens": 2, "audio_tokens": total_in - 2, "cached_tokens": 4},
        "output_token_details": {"text_tokens": 1, "audio_tokens": total_out - 1},
    }


def done(response: str = "resp_1", status: str = "completed", **more: Any) -> Event:
    known = {"id": response, "object": "realtime.response", "status": status, "status_details": None}
    return {"type": "response.done", "response": {**known, "output": [], "usage": usage(), **more}}


def text_delta(delta: str, response: str = "resp_1", item: str = "item_1", output_index: int = 0) -> Event:
    return _part("response.output_text.delta", response, item, output_index, delta=delta)


def transcript_delta(delta: str, response: str = "resp_1", item: str = "item_1", output_index: int = 0) -> Event:
    return _part("response.output_audio_transcript.delta", response, item, output_index, delta=delta)


def audio_delta(pcm: bytes, response: str = "resp_1", item: str = "item_1", output_index: int = 0) -> Event:
    delta = base64.b64encode(pcm).decode()
    return _part("response.output_audio.delta", response, item, output_index, delta=delta)


def _part(kind: str, response: str, item: str, output_index: int, **more: Any) -> Event:
    place = {"response_id": response, "item_id": item, "output_index": output_index, "content_index": 0}
    return {"type": kind, **place, **more}


def call_item(
    name: str, arguments: str, *, call_id: str = "call_1", item: str = "item_c1", status: str = "completed"
) -> Event:
    known = {"id": item, "type": "function_call", "status": status, "call_id": call_id}
    return {**known, "name": name, "arguments": arguments}


def call_added(item: Event, *, response: str = "resp_1", output_index: int = 0) -> Event:
    empty = {**item, "arguments": "", "status": "in_progress"}
    place = {"response_id": response, "output_index": output_index}
    return {"type": "response.output_item.added", **place, "item": empty}


def call_delta(item: Event, delta: str, *, response: str = "resp_1", output_index: int = 0) -> Event:
    place = {"response_id": response, "item_id": item["id"], "output_index": output_index}
    return {
        "type": "response.function_call_arguments.delta",
        **place,
        "call_id": item["call_id"],
        "delta": delta,
    }


def call_done(item: Event, *, response: str = "resp_1", output_index: int = 0) -> Event:
    place = {"response_id": response, "item_id": item["id"], "output_index": output_index}
    known = {"call_id": item["call_id"], "name": item["name"], "arguments": item["arguments"]}
    return {"type": "response.function_call_arguments.done", **place, **known}


def item_done(item: Event, *, response: str = "resp_1", output_index: int = 0) -> Event:
    return {
        "type": "response.output_item.done",
        "response_id": response,
        "output_index": output_index,
        "item": item,
    }


def text_reply(text: str, response: str = "resp_1") -> list[Send]:
    """A whole text response, one delta a word."""
    item = f"item_{response}"
    deltas = [text_delta(word, response, item) for word in _words(text)]
    return [Send(event) for event in (created(response), *deltas, done(response))]


def audio_reply(
    chunks: Iterable[bytes], transcript: str = "", response: str = "resp_1", **done_with: Any
) -> list[Send]:
    """A whole spoken response: the transcript first, then one delta a chunk of PCM16."""
    item = f"item_{response}"
    words = [transcript_delta(word, response, item) for word in _words(transcript)]
    sound = [audio_delta(chunk, response, item) for chunk in chunks]
    return [Send(event) for event in (created(response), *words, *sound, done(response, **done_with))]


def call_reply(items: Sequence[Event], response: str = "resp_1") -> list[Send]:
    """A whole response that holds function calls and nothing else."""
    events = [created(response)]
    for place, item in enumerate(items):
        events.append(call_added(item, response=response, output_index=place))
        events.append(call_done(item, response=response, output_index=place))
        events.append(item_done(item, response=response, output_index=place))
    return [Send(event) for event in (*events, done(response, output=list(items)))]


def _words(text: str) -> list[str]:
    words = text.split(" ")
    return [word if place == 0 else f" {word}" for place, word in enumerate(words) if text]
