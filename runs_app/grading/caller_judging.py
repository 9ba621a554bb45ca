"""A judge's word on a caller that a model played: whether he kept to his part."""

from __future__ import annotations

from typing import Any, Final

from runs_app.grading.caller_mistakes import Mistake, caller_mistakes
from runs_app.grading.case import Case
from runs_app.grading.check import Check, not_assessed, verdict
from runs_app.grading.judge import JudgeClient, Question
from runs_app.grading.outcome import CALLER_VALIDITY as CHECK
from runs_app.grading.payload import fenced, observed_evidence
from runs_app.grading.rubric import Dimension, Rubric
from runs_app.grading.semantic import Grade, graded_reply
from scenarios_app.spec.simulation import played

Json = Any

ID: Final = "caller_fidelity"
QUESTION: Final = (
    "Here the caller is graded, not the agent. The caller is played by a model that was told `scenario.caller` alone. "
    "Did the caller keep to it: nothing made up that neither the part nor the agent had given, the goal kept in mind "
    "to the end, no talk out of the part? The agent's mistakes do not count, nor does how politely he spoke."
)


async def ask_about_caller(case: Case, rubric: Rubric, judge: JudgeClient) -> Grade | None:
    """None where no model played the caller."""
    who = played(case.scenario)
    if case.record.persona is None or who is None:
        return None
    document = {
        "dimension": ID,
        "scenario": {
            "id": case.scenario.id,
            "caller": who.persona.to_json(),
            "first_words": case.scenario.input.text,
            "reference_date": case.scenario.reference_date,
        },
        "observed": {"conversation": observed_evidence(case)["conversation"]},
    }
    question = Question(ID, rubric.instructions(Dimension(ID, QUESTION)), fenced(document))
    return await graded_reply(judge, question, rubric)


def caller_validity(case: Case, grade: Grade | None) -> Check:
    """Failed for any mistake, whoever found it. A judge that could not be asked leaves it to the rules."""
    mistakes = [*caller_mistakes(case), *_judged(grade)]
    told = case.record.persona
    evidence: dict[str, Json] = {
        "mistakes": [{"kind": one.kind, "turn": one.turn, "reason": one.reason} for one in mistakes],
        "ended_by": told.ended_by if told else "",
        "judge_model": grade.judge_model if grade else "",
        "score": grade.score if grade else None,
        "quotes": list(grade.evidence) if grade else [],
    }
    if mistakes:
        return verdict(CHECK, False, required=True, reason="; ".join(one.reason for one in mistakes), **evidence)
    asked = grade is not None and not grade.judge_error
    reason = "the caller kept to his part" if asked else "no rule found a mistake of the caller, and no judge was asked"
    return verdict(CHECK, True, required=True, reason=reason, **evidence)


def unassessed(case: Case, reason: str) -> list[Check]:
    """The check of a trial that was not looked at; none where a script leads."""
    return [] if case.record.persona is None else [not_assessed(CHECK, reason)]


def _judged(grade: Grade | None) -> list[Mistake]:
    failed = grade is not None and grade.status == "failed"
    return [Mistake("judged", None, f"the judge: {grade.rationale}")] if grade is not None and failed else []
