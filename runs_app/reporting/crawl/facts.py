"""One trial as CRAWL's files tell it: what all of them need, worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from runs_app.grading.case import Case, Evidence
from runs_app.grading.grade import DIMENSIONS
from runs_app.grading.task_metrics import matched
from runs_app.models import Check, Grade, Grading, Outcome, Trial
from runs_app.realtime.record import Record, ToolCall
from runs_app.services.material import Material

Json = Any

DIMENSION_IDS: Final = tuple(check.__name__ for check in DIMENSIONS)

# our stages of an invalid trial -> the failure stages that CRAWL knows
STAGES: Final = {
    "speech": "audio_synthesis",
    "caller_audio": "audio_input",
    "caller": "caller_simulation",
    "connect": "session_start",
    "authorisation": "session_start",
    "session": "session_start",
    "provider_limit": "response_collection",
    "session_expired": "response_collection",
    "response_failed": "response_collection",
    "error_event": "response_collection",
    "socket_closed": "response_collection",
    "message_too_big": "response_collection",
    "protocol": "response_collection",
    "pacing": "audio_input",
    "tool_sandbox": "tool_execution",
    "delegation": "client_delegation",
}


@dataclass(frozen=True)
class Facts:
    """`record`, `grading` and what hangs on them are missing for a trial that never came so far."""

    trial: Trial
    material: Material
    simulated: bool
    record: Record | None
    grading: Grading | None
    checks: tuple[Check, ...]
    grades: tuple[Grade, ...]

    @property
    def id(self) -> str:
        return self.material.scenario.id

    @property
    def mode(self) -> str:
        return "offline_fixture" if self.simulated else "live"

    @cached_property
    def case(self) -> Case | None:
        """The evidence without its sound: what grading derives from tool calls and words."""
        if self.record is None:
            return None
        facts = self.material.application.facts if self.material.application else {}
        done_tool = self.material.configuration.done_tool
        return Case(Evidence(self.material.scenario, self.record, None, facts, done_tool))

    @property
    def status(self) -> str:
        """CRAWL knows no trial without a verdict: the ungraded, cancelled and invalid are its infrastructure errors."""
        graded = self.trial.outcome in (Outcome.PASSED, Outcome.FAILED)
        return self.trial.outcome if graded else "infrastructure_error"

    @property
    def is_told(self) -> bool:
        """Whether there is a conversation that was looked at: then it has a transcript."""
        graded = self.trial.outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.UNGRADED)
        return self.record is not None and graded

    @property
    def error(self) -> dict[str, str] | None:
        if self.status != "infrastructure_error":
            return None
        return {"stage": self._error_stage, "message": self.trial.reason or self.trial.outcome or self.trial.status}

    @property
    def _error_stage(self) -> str:
        if self.trial.outcome == Outcome.UNGRADED:
            return "semantic_judge"
        return STAGES.get(self.trial.stage, "example_execution")

    @property
    def judged(self) -> bool:
        return bool(self.grading and self.grading.judge_model)

    @property
    def executed(self) -> Sequence[ToolCall]:
        """Calls that our application answered; one that is only recorded was not executed."""
        return [call for call in (self.case.calls if self.case else ()) if call.status != "recorded"]


def assessment(facts: Facts) -> dict[str, Json]:
    """What decided: CRAWL's outcome checks, the dimensions that decide with us, and the scenario's assertions."""
    return {
        "passed": facts.trial.outcome == Outcome.PASSED,
        "source": "semantic_judge" if facts.judged else "deterministic",
        "rationale": facts.trial.reason or _all_well(facts),
        "checks": [
            {"id": check.check_id, "status": check.status, "required": check.required}
            for check in facts.checks
            if check.required or check.check_id not in DIMENSION_IDS
        ],
    }


def _all_well(facts: Facts) -> str:
    return "no required check failed" if facts.trial.outcome == Outcome.PASSED else "no verdict"


def failed_checks(facts: Facts) -> list[str]:
    return [check.check_id for check in facts.checks if check.required and check.status == "failed"]


def observability(facts: Facts) -> dict[str, Json]:
    record, case, trial = facts.record, facts.case, facts.trial
    completed = [call for call in facts.executed if call.status == "completed"]
    matching = matched(case) if case else 0
    told = assessment(facts)
    return {
        "provenance": _provenance(record),
        "interaction": {
            "mode": facts.material.scenario.interaction,
            "audio_source": audio_source(record),
            "assistant_turns": sum(bool(turn.agent_text or turn.agent) for turn in record.turns) if record else 0,
            "caller_turns": len(record.turns) if record else 0,
            "delegations": case.delegations if case else 0,
        },
        "tools": {
            "executed": [_executed(call) for call in facts.executed],
            "expected_count": len(facts.material.scenario.expected.tools.required),
            "matched_count": matching,
            "unexpected_completed_count": max(0, len(completed) - matching),
            "failed_count": sum(call.status == "failed" for call in facts.executed),
        },
        "grading": {
            "deterministic": {c.check_id: c.status for c in facts.checks if c.check_id in DIMENSION_IDS},
            "semantic": {grade.dimension: grade.status for grade in facts.grades},
            "semantic_scores": {grade.dimension: grade.score for grade in facts.grades if grade.score is not None},
        },
        "completion": {
            "termination_reason": record.ending.kind if record else (trial.stage or trial.outcome or trial.status),
            "passed": told["passed"],
            "source": told["source"],
            "rationale": told["rationale"],
            "failed_checks": failed_checks(facts),
        },
        "scenario": {"id": facts.id, "type": facts.material.scenario.task_type},
    }


def _provenance(record: Record | None) -> dict[str, str]:
    spoken = record is not None and record.mode == "audio"
    return {
        "api_version": f"{record.protocol}-{record.dialect}" if record else "none",
        "turn_derivation": "response.done",
        "audio_timing": "samples of conversation.wav" if spoken else "none",
        "transcript_timing": "arrival of the delta",
    }


def audio_source(record: Record | None) -> str:
    return "none" if record is not None and record.mode == "text" else "synthetic"


def _executed(call: ToolCall) -> dict[str, Json]:
    return {"name": call.name, "status": call.status, "arguments": call.arguments, "call_id": call.call_id}
