"""The tools of a trial whose calls are answered elsewhere: what is known of them is what is reported."""

from __future__ import annotations

import copy

from runs_app.realtime.record import Json
from runs_app.realtime.tools import ToolOutcome


class ToolsElsewhere:
    """An Executor that executes nothing. Its state is the scenario's until another one is reported."""

    def __init__(self, initial_state: dict[str, Json]) -> None:
        self._state = initial_state

    def report(self, state: dict[str, Json]) -> None:
        self._state = copy.deepcopy(state)

    async def execute(self, name: str, arguments: dict[str, Json]) -> ToolOutcome:
        return ToolOutcome("recorded", error="this trial's tools are answered by its remote assistant")

    def declares(self, name: str) -> bool:
        return False

    def snapshot(self) -> dict[str, Json]:
        return copy.deepcopy(self._state)
