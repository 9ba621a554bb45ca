"""Small documents of each contract, and the ways to bend them."""

from __future__ import annotations

import copy
import json
from typing import Any

from scenarios_app.spec.errors import SpecError, parts_of

SCENARIO: dict[str, Any] = {
    "id": "table_01",
    "title": "A corrected date",
    "interaction": "single_turn",
    "input": {"text": "A table for Nora on 14 May, sorry, 15 May, at six in the evening for three."},
    "expected": {"answer": "Confirms 15 May."},
}

# Every field that schema 1.0 has for one turn.
FULL_1_0: dict[str, Any] = {
    **SCENARIO,
    "type": "booking",
    "tags": ["booking", "correction"],
    "input": {
        "text": "At six, please.",
        "recordings": [{"id": "r1", "path": "audio/r1.wav", "condition": "noisy", "metadata": {"language": "en"}}],
        "context": {"summary": "Nora wants a table.", "history": [{"role": "user", "text": "Hello"}]},
    },
    "application": {"initial_state": {"reservations": [], "limit": 12.5}},
    "expected": {
        "answer": "Confirms six o'clock.",
        "criteria": ["names the time"],
        "delegation": "required",
        "tools": {
            "required": [{"name": "create_reservation", "arguments": {"time": "18:00"}, "status": "any"}],
            "prohibited": [{"name": "cancel_reservation"}],
        },
        "state": {"reservation_created": True},
        "golden_path": {"turns": 2, "delegations": 1, "steps": ["asks", {"then": "confirms"}]},
        "diagnostic_terms": ["six|18:00"],
    },
}

APPLICATION: dict[str, Any] = {
    "name": "Restaurant",
    "facts": {"opens": "11:00"},
    "tools": [
        {
            "name": "create_reservation",
            "description": "Books a table.",
            "parameters": {
                "type": "object",
                "properties": {"guest_name": {"type": "string"}, "party_size": {"type": "integer"}},
                "required": ["guest_name"],
            },
            "reads": ["reservations"],
            "answers": [
                {"when": "args.party_size > 8", "error": "At most 8 guests, {{ args.guest_name }}."},
                {
                    "result": {"id": "{{ counter('R-', 3) }}", "guests": "{{ args.party_size }}"},
                    "effects": {"reservation_created": True, "guest": "{{ args.guest_name }}"},
                    "delay_ms": 250,
                },
            ],
        },
    ],
    "tool_results": {"lookup_policy": {"topic": "{{args.topic}}", "window_days": 30}},
}

CONFIGURATION: dict[str, Any] = {
    "name": "Front desk",
    "protocol": "realtime",
    "endpoint": "wss://agent.example.com/v1/realtime",
    "model": "agent-1",
}


def changed(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy with the value at each path replaced; missing objects on the way are made."""
    result = copy.deepcopy(document)
    for path, value in changes.items():
        *way, last = parts_of(path)
        holder: Any = result
        for part in way:
            holder = holder.setdefault(part, {}) if isinstance(holder, dict) else holder[part]
        holder[last] = value
    return result


def file_of(*scenarios: dict[str, Any], version: str = "1.0") -> str:
    return json.dumps({"schema_version": version, "scenarios": list(scenarios)}, indent=2)


def complaints(error: SpecError) -> dict[str, str]:
    """path -> message"""
    return {problem.path: problem.message for problem in error.problems}
