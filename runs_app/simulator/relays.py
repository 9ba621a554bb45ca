"""Servers and gateways that pass events on not quite as they should: what faults make of an event on its way out."""

from __future__ import annotations

from runs_app.simulator.beta import EVENTS as BETA_EVENTS
from runs_app.simulator.faults import Faults
from runs_app.simulator.luck import luck
from runs_app.simulator.wire import Json

_BARE = (
    "response.output_item.added",
    "response.output_item.done",
    "response.content_part.added",
    "response.content_part.done",
    "conversation.item.added",
    "conversation.item.done",
)
_LONGEST_PADDING = 16


def relayed(event: dict[str, Json], faults: Faults) -> dict[str, Json] | None:
    """The event as the active faults leave it; None when it is left out."""
    if "bare_events" in faults and event["type"] in _BARE:
        return None
    if "mixed_dialect" in faults and event["type"].startswith("response."):
        event = event | {"type": BETA_EVENTS.get(event["type"], event["type"])}
    if "no_response_id" in faults and "response_id" in event:
        event = {name: value for name, value in event.items() if name != "response_id"}
    if "obfuscation" in faults and event["type"].endswith(".delta"):
        padding = "x" * int(1 + luck(event["event_id"], "padding") * _LONGEST_PADDING)
        event = event | {"obfuscation": padding}
    return event
