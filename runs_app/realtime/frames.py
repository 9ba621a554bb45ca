"""Frames of the wire: parsed, stripped of audio and credentials for the record, halves of characters joined."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from runs_app.realtime.record import Json
from scenarios_app.spec.jsontext import clean_text

SHOWN_OF_BAD_FRAME = 200
DEEPEST = 100  # levels of lists and objects
REMOVED = "[removed]"


class BadFrame(ValueError):
    """The frame is not a JSON object with a type. `shown` is its beginning, for the event; logs get the reason only."""

    def __init__(self, reason: str, shown: str) -> None:
        super().__init__(reason)
        self.shown = shown


@dataclass(frozen=True)
class Frame:
    """One event of the wire. `body` is what came; `payload` is what the record keeps of it."""

    type: str
    body: dict[str, Json]
    payload: dict[str, Json]


def is_audio_delta(type: str) -> bool:
    return type in ("response.output_audio.delta", "response.audio.delta", "session.output_audio.delta")


def without_audio(body: dict[str, Json]) -> dict[str, Json]:
    """The event as the record keeps it: no type, no audio but its size, no credentials of MCP tools.
    Raises BadFrame when it is nested too deeply."""
    kept = {key: _kept(key, value) for key, value in body.items() if key != "type"}
    if is_audio_delta(str(body.get("type"))) and isinstance(body.get("delta"), str):
        kept["delta"] = _size(body["delta"])
    return kept


class FrameReader:
    """Reads the frames of one connection in order."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        self._secrets = secrets
        self._halves: dict[Hashable, tuple[str, dict[str, Json]]] = {}
        self._digests: dict[str, int] = {}
        self._repeatable: set[str] = set()
        self._ids_are_unique = True

    def read(self, raw: str | bytes) -> Frame:
        """Raises BadFrame. A character whose second half comes with the next delta waits for it."""
        text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
        for secret in self._secrets:
            text = text.replace(secret, REMOVED)
        body = _object(text)
        if isinstance(body.get("delta"), str) and not is_audio_delta(body["type"]):
            body["delta"] = self._whole(body)
        return Frame(body["type"], body, without_audio(body))

    def is_repeat(self, frame: Frame, raw: str | bytes) -> bool:
        """True for a delta that a relay sent again: same event_id, same bytes. Everything else may come twice.

        A server that gives one event_id to different events is not believed from then on.
        """
        event_id = frame.body.get("event_id")
        if not self._ids_are_unique or not isinstance(event_id, str) or not event_id:
            return False
        digest = hash(raw)
        before = self._digests.setdefault(event_id, digest)
        self._ids_are_unique = before == digest
        repeated = event_id in self._repeatable and before == digest
        if frame.type.endswith(".delta"):
            self._repeatable.add(event_id)
        return repeated

    def unfinished(self) -> list[dict[str, Json]]:
        """A last delta (U+FFFD) for each text that broke off in the middle of a character."""
        halves, self._halves = self._halves, {}
        return [{**body, "delta": "\ufffd"} for _, body in halves.values()]

    def _whole(self, body: dict[str, Json]) -> str:
        keys = ("type", "response_id", "item_id", "call_id", "output_index", "content_index")
        stream = tuple(str(body.get(key)) for key in keys)
        half, _ = self._halves.pop(stream, ("", {}))
        text: str = half + body["delta"]
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._halves[stream] = (text[-1], {key: body[key] for key in keys if key in body})
            text = text[:-1]
        return clean_text(text)


def _object(text: str) -> dict[str, Any]:
    shown = text[:SHOWN_OF_BAD_FRAME]
    try:
        body = json.loads(text)
    except json.JSONDecodeError as exc:
        raise BadFrame(f"{exc.msg} at character {exc.pos} of {len(text)}", shown) from None
    except ValueError:
        raise BadFrame("a number has too many digits", shown) from None
    except RecursionError:
        raise BadFrame("nested too deeply", shown) from None
    if not isinstance(body, dict):
        raise BadFrame(f"JSON {type(body).__name__} where an object is expected", shown)
    if not isinstance(body.get("type"), str):
        raise BadFrame("the event has no type", shown)
    return body


def _kept(key: str, value: Json, level: int = 0) -> Json:
    if isinstance(value, str):
        return _size(value) if key == "audio" else value
    if level > DEEPEST and isinstance(value, list | dict):
        raise BadFrame("nested too deeply", "")
    if isinstance(value, list):
        return [_kept("", item, level + 1) for item in value]
    if isinstance(value, dict):
        hidden = _credentials(key, value)
        return {name: REMOVED if name in hidden else _kept(name, item, level + 1) for name, item in value.items()}
    return value


def _credentials(key: str, value: dict[str, Json]) -> frozenset[str]:
    if key == "client_secret":
        return frozenset({"value"})
    return frozenset({"authorization", "headers"}) if value.get("type") == "mcp" else frozenset()


def _size(base64_text: str) -> dict[str, int]:
    stripped = len(base64_text.rstrip("="))
    return {"bytes": stripped * 3 // 4}
