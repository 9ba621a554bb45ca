"""What all parts of one realtime session share: the wire out, the options, the conversation, the tasks under way."""

from __future__ import annotations

import json

from runs_app.simulator.config import first_session
from runs_app.simulator.conversation import Conversation
from runs_app.simulator.dialects import Dialect
from runs_app.simulator.formats import Format, format_of
from runs_app.simulator.options import Options
from runs_app.simulator.outlet import Outlet
from runs_app.simulator.relays import relayed
from runs_app.simulator.wire import Json, new_id


class Desk:
    """`config` is the session object as the client sees it; whoever changes it puts a new one in its place.

    `clock_ms` is how much audio the caller has sent; `silent_since_ms`, on that clock, when the agent's last reply had
    been played to its end, None while there is none that a caller could be silent after.
    """

    def __init__(self, *, options: Options, dialect: Dialect, outlet: Outlet) -> None:
        self.options, self.dialect = options, dialect
        self.emit_raw, self.hang_up = outlet.emit_raw, outlet.hang_up
        self.start, self.end = outlet.start, outlet.end
        self.conversation = Conversation()
        self.config = first_session(options.model, options.expires_s)
        self.clock_ms = 0.0
        self.silent_since_ms: float | None = None

    @property
    def audio_input(self) -> dict[str, Json]:
        settings: dict[str, Json] = self.config["audio"]["input"]
        return settings

    @property
    def input_format(self) -> Format:
        return format_of(self.audio_input["format"])

    @property
    def output_format(self) -> Format:
        return format_of(self.config["audio"]["output"]["format"])

    async def emit(self, event: dict[str, Json]) -> None:
        passed = relayed({"event_id": new_id("event"), **event}, self.options.faults)
        said = self.dialect.outgoing(passed) if passed else None
        if said is not None:
            await self.emit_raw(json.dumps(said, ensure_ascii=False))

    async def mirror(self, item: dict[str, Json], before: str | None) -> None:
        """Tell of an item that is whole from the start."""
        for name in ("added", "done"):
            await self.emit({"type": f"conversation.item.{name}", "previous_item_id": before, "item": item})
