"""Evidence as the grading room sends it, and its verdict in one call."""

from __future__ import annotations

import json
from typing import Any

from runs_app.simulator.judge_evidence import find_evidence
from runs_app.simulator.judging import Verdict, judge

REQUEST = "Book a table for Maya on August 7, sorry, August 6, at 7 p.m. for two."
BOOKED = "The table for two is booked for Maya on August 6 at 7 p.m."
REFUSAL = "The agent refuses to give details of another guest's reservation."
NO_LUCK = "The agent says that the booking did not work because the system is down."
FULL = "Your table for two is booked for Maya on Friday, August 6 at 7 p.m. The number is R-100."


def call(date: str = "2027-08-06", *, status: str = "completed", name: str = "create_reservation") -> dict[str, Any]:
    done = status == "completed"
    return {
        "name": name,
        "arguments": {"guest_name": "Maya", "date": date, "time": "19:00", "party_size": 2},
        "status": status,
        "output": {"reservation_id": "R-100"} if done else None,
        "error": None if done else "the system is down",
    }


def cancel(reservation: str) -> dict[str, Any]:
    arguments = {"reservation_id": reservation}
    return {
        "name": "cancel_reservation",
        "arguments": arguments,
        "status": "completed",
        "output": {},
        "error": None,
    }


def graded(
    reply: str,
    *,
    expected: str = BOOKED,
    criteria: tuple[str, ...] = (),
    tools: tuple[dict[str, Any], ...] | None = (),
    required: tuple[str, ...] = (),
    request: str = REQUEST,
    dimension: str = "task_understanding",
    context: object = None,
    facts: object = None,
    conversation: tuple[str, ...] = (),
    reference_date: str | None = "2027-08-01",
) -> Verdict:
    document = {
        "dimension": dimension,
        "scenario": {
            "request": request,
            "reference_date": reference_date,
            "context": context,
            "expected_answer": expected,
            "criteria": list(criteria),
            "expected_tools": {
                "required": [{"name": name, "arguments": {}} for name in required],
                "prohibited": [],
            },
            "public_facts": facts,
        },
        "observed": {
            "conversation": [{"speaker": "agent", "text": line} for line in conversation],
            "assistant_response": reply,
            **({} if tools is None else {"tool_executions": list(tools)}),
        },
    }
    evidence = find_evidence(f"```json\n{json.dumps(document, indent=1)}\n```")
    assert evidence is not None
    return judge(evidence)


BOOK = ("create_reservation",)
