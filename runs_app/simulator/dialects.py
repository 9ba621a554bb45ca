"""The two dialects of the Realtime wire. A session is GA inside; its dialect translates what comes in and goes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from runs_app.simulator.beta import Beta
from runs_app.simulator.wire import Json, Refusal

# The deprecated Azure address speaks beta without being asked.
BETA_PATH = "/openai/realtime"


class Dialect(Protocol):
    """`incoming` may raise a Refusal; `outgoing` gives None for an event that the dialect does not have."""

    name: str

    def incoming(self, raw: Json) -> Json: ...

    def outgoing(self, event: dict[str, Json]) -> dict[str, Json] | None: ...

    def refusal(self, given: Refusal) -> Refusal: ...


class Ga:
    """What the session speaks anyway."""

    name = "ga"

    def incoming(self, raw: Json) -> Json:
        return raw

    def outgoing(self, event: dict[str, Json]) -> dict[str, Json] | None:
        return event

    def refusal(self, given: Refusal) -> Refusal:
        return given


def choose(path: str, headers: Mapping[str, str], subprotocols: Iterable[str]) -> Dialect:
    """The dialect of a handshake; `headers` with lower-case names. It stays for the whole session."""
    asked = headers.get("openai-beta") == "realtime=v1" or "openai-beta.realtime-v1" in subprotocols
    return Beta() if asked or path.rstrip("/") == BETA_PATH else Ga()
