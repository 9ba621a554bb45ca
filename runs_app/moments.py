"""A scenario that begins where a trial was at a moment: what was said until then is its history."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from typing import Any

from runs_app.event_lines import clock_text
from runs_app.realtime.record import Record
from runs_app.trial_page.transcript import transcript

Json = Any
Content = dict[str, Json]

_OF_THE_WHOLE_CALL = ("assertions", "simulation_parameters", "persona", "stop_when", "max_turns", "critical", "owner")
_OF_ITS_COURSE = ("golden_path", "procedure")
SAME_MS = 10.0  # addresses carry a moment in hundredths of a second
_AGENTS = {"caller": "user", "agent": "assistant"}


def content_from(original: Mapping[str, Json], record: Record, t_ms: float, *, key: str, state: Content) -> Content:
    """One turn: the caller's next words after `t_ms`, "" when there were none. What was expected of the whole call and
    has happened by then is left out."""
    content: Content = {
        name: copy.deepcopy(value) for name, value in original.items() if name not in _OF_THE_WHOLE_CALL
    }
    lines = [line for line in transcript(record) if line.who in _AGENTS and line.text.strip()]
    said = [{"role": _AGENTS[line.who], "text": line.text.strip()} for line in lines if line.at_ms < t_ms - SAME_MS]
    following = next((line.text for line in lines if line.who == "caller" and line.at_ms >= t_ms - SAME_MS), "")
    before = (original["input"].get("context") or {}).get("history") or []
    context = dict(original["input"].get("context") or {})
    if before or said:
        context["history"] = [*before, *said]
    content["id"], content["title"] = key, f"{original['title']}, from {clock_text(max(t_ms, 0.0))}"
    content["interaction"] = "single_turn"
    content["input"] = {"text": following} | ({"context": context} if context else {})
    content["application"] = {**content.get("application", {}), "initial_state": state}
    if record.reference_date:
        content["reference_date"] = record.reference_date
    content["expected"] = _still_expected(content.get("expected", {}), record, t_ms)
    return content


def _still_expected(expected: Content, record: Record, t_ms: float) -> Content:
    rest = {name: value for name, value in expected.items() if name not in _OF_ITS_COURSE}
    made = Counter(call.name for call in record.tool_calls if call.called_ms < t_ms and call.status == "completed")
    tools = rest.get("tools") or {}
    open_calls = []
    for call in tools.get("required") or []:
        if made[call["name"]] > 0:
            made[call["name"]] -= 1
        else:
            open_calls.append(call)
    if "required" in tools and open_calls != tools["required"]:
        rest["tools"] = {**tools, "required": open_calls}
        if not open_calls and rest.get("delegation") == "required":
            del rest["delegation"]
    return rest
