"""The evidence that a judge reads: one JSON document, fenced, that cannot step out of its fence.

docs/grading.md describes it. What the agent's side said is data: a backtick inside any text is written as \\u0060, so
no text can close the fence and speak to the judge.
"""

from __future__ import annotations

from typing import Any

from runs_app.grading.case import Case
from runs_app.realtime.record import ToolCall, Turn
from scenarios_app.spec.jsontext import dumps, finite
from scenarios_app.spec.scenario import ExpectedCall
from scenarios_app.spec.simulation import played

Json = Any


def evidence_text(case: Case, dimension: str, criterion: str | None = None) -> str:
    """A fenced JSON block with the keys dimension, scenario and observed; with criterion for an assertion."""
    document = {"dimension": dimension}
    if criterion is not None:
        document["criterion"] = criterion
    return fenced({**document, "scenario": scenario_evidence(case), "observed": observed_evidence(case)})


def fenced(document: dict[str, Json]) -> str:
    """The document as a block that none of its texts can close."""
    text = dumps(finite(document), indent=1).replace("`", "\\u0060")
    return f"```json\n{text}\n```"


def scenario_evidence(case: Case) -> dict[str, Json]:
    scenario, expected = case.scenario, case.scenario.expected
    return {
        "id": scenario.id,
        "type": scenario.task_type,
        "request": scenario.input.text,
        "further_turns": [turn.text for turn in scenario.input.turns],
        **_caller(case),
        "reference_date": scenario.reference_date,
        "context": scenario.input.context.to_json() if scenario.input.context else None,
        "expected_answer": expected.answer,
        "criteria": list(expected.criteria),
        "expected_delegation": expected.delegation,
        "expected_tools": {
            "required": [_expected_call(call) for call in expected.tools.required],
            "prohibited": [_expected_call(call) for call in expected.tools.prohibited],
        },
        "expected_state": expected.state,
        "public_facts": case.evidence.facts,
    }


def _caller(case: Case) -> dict[str, Json]:
    """What the caller wanted and knew, where no script says it."""
    who = played(case.scenario)
    return {"caller": {"goal": who.persona.goal, "facts": who.persona.facts}} if who else {}


def _expected_call(call: ExpectedCall) -> dict[str, Json]:
    return {"name": call.name, "arguments": call.arguments, "status": call.status}


def observed_evidence(case: Case) -> dict[str, Json]:
    record = case.record
    return {
        "conversation": [line for turn in record.turns for line in _lines(turn)],
        "assistant_response": case.reply,
        "delegations": case.delegations,
        "tool_executions": [_execution(call) for call in case.calls],
        "initial_state": record.initial_state,
        "final_state": record.final_state,
        "incomplete": next((turn.status_reason for turn in record.turns if turn.status == "incomplete"), None),
    }


def _lines(turn: Turn) -> list[dict[str, Json]]:
    caller = {"speaker": "caller", "text": turn.caller_text, "heard_as": turn.heard_text}
    return [caller, {"speaker": "agent", "text": turn.agent_text}]


def _execution(call: ToolCall) -> dict[str, Json]:
    return {
        "name": call.name,
        "arguments": call.arguments if call.arguments is not None else call.arguments_raw,
        "status": call.status,
        "output": call.output,
        "error": call.error or call.parse_error,
    }
