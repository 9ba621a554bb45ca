"""Tools and situations for tests of the clerk: a restaurant, and two trades it has never heard of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from runs_app.simulator.clerk import Call, Decision, Say, decide
from runs_app.simulator.lines import Answered, Called, Line, Said

Json = Any


def tool(name: str, description: str = "", required: list[str] | None = None, **properties: Json) -> dict[str, Json]:
    parameters = {"type": "object", "properties": properties, "required": required or []}
    return {"type": "function", "name": name, "description": description, "parameters": parameters}


TEXT = {"type": "string"}
DATE = {"type": "string", "format": "date"}
COUNT = {"type": "integer"}

CHECK = tool(
    "check_availability",
    "Check whether a table is free at a date and time.",
    ["date", "time", "party_size"],
    date=DATE,
    time=TEXT,
    party_size=COUNT,
)
CREATE = tool(
    "create_reservation",
    "Book a table.",
    ["guest_name", "date", "time", "party_size"],
    guest_name=TEXT,
    date=DATE,
    time=TEXT,
    party_size=COUNT,
    seating={"type": "string", "enum": ["indoor", "terrace"]},
)
CANCEL = tool("cancel_reservation", "Cancel a reservation.", ["reservation_id"], reservation_id=TEXT)
END = tool("end_session", "Call when the caller is done.")
BOOK = "Book a table for Maya on June 12 at 7 p.m. for two."
RESTAURANT = [CHECK, CREATE, CANCEL, END]

FACTS = {
    "restaurant": "The Copper Heron",
    "opening_hours": "We are open daily from noon to 10 p.m., on Sundays until 8 p.m.",
    "parking": "There is free parking behind the house.",
}


def context(**block: Json) -> str:
    """The block that ends the instructions."""
    known = {"reference_date": "2027-06-01", "facts": FACTS, "state": {"verified": True}} | block
    return f"\n```json\n{json.dumps(known)}\n```"


def ask(
    text: str | None,
    instructions: str = "",
    *,
    tools: list[dict[str, Json]] | None = None,
    before: Sequence[Line] = (),
    after: Sequence[Line] = (),
    tool_choice: Json = "auto",
    forgetful: bool = False,
    all_at_once: bool = False,
    **block: Json,
) -> Decision:
    """What the clerk does when a caller says `text`, `before` and `after` being the rest of the conversation."""
    return decide(
        instructions=instructions + context(**block),
        tools=RESTAURANT if tools is None else tools,
        tool_choice=tool_choice,
        lines=[*before, Said("user", text), *after],
        forgetful=forgetful,
        all_at_once=all_at_once,
    )


def only_call(decision: Decision) -> Call:
    (output,) = decision.outputs
    assert isinstance(output, Call), output
    return output


def only_words(decision: Decision) -> str:
    (output,) = decision.outputs
    assert isinstance(output, Say), output
    return output.text


def answered(name: str, output: Json, arguments: Json = None, call_id: str = "call_1") -> list[Line]:
    """A call of this turn and its output."""
    text = output if isinstance(output, str) else json.dumps(output)
    return [Called(call_id, name, json.dumps(arguments or {})), Answered(call_id, text)]
