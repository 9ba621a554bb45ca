"""The one function of a voice on the Realtime protocol whose tasks are done behind it."""

from __future__ import annotations

from runs_app.realtime.delegation.assistant import DELEGATE_TOOL
from runs_app.realtime.dialects.base import Body

REQUEST = "request"


def definition() -> Body:
    """The one function of the voice, as a session declares it."""
    told = "What the caller wants, with every detail that matters, in the caller's own words where possible."
    return {
        "type": "function",
        "name": DELEGATE_TOOL,
        "description": "Hands a task to the back office, which has the tools for it. Returns what to tell the caller.",
        "parameters": {
            "type": "object",
            "properties": {REQUEST: {"type": "string", "description": told}},
            "required": [REQUEST],
            "additionalProperties": False,
        },
    }
