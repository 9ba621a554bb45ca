"""Semantic grades: one question to the judge per dimension that applies, and per judge assertion."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs_app.grading.assertions import assertion_id
from runs_app.grading.case import Case
from runs_app.grading.check import Check, Status, not_assessed, verdict
from runs_app.grading.judge import JudgeClient, Question, Reply, ask_safely
from runs_app.grading.payload import evidence_text
from runs_app.grading.reply import UnusableReply, read_reply
from runs_app.grading.rubric import Dimension, Rubric, why_not_applicable

Json = Any


@dataclass(frozen=True)
class Grade:
    """One dimension. `score` is null unless the judge gave one of 0, .25, .5, .75, 1; `judge_error` then says why.

    What the judge sent is kept in `raw_reply` as it came.
    """

    dimension: str
    status: Status
    score: float | None = None
    rationale: str = ""
    evidence: tuple[str, ...] = ()
    judge_error: str = ""
    raw_reply: str = ""
    judge_model: str = ""
    rubric_version: str = ""
    prompt_hash: str = ""
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    tries: int = 0


def ungraded(case: Case, rubric: Rubric, reason: str) -> list[Grade]:
    """Every dimension without asking anybody: not applicable, or not assessed for this reason."""
    return [_unasked(case, rubric, dimension, reason) for dimension in rubric.dimensions]


def _unasked(case: Case, rubric: Rubric, dimension: Dimension, reason: str) -> Grade:
    against = why_not_applicable(dimension.id, case.scenario)
    status: Status = "not_applicable" if against else "not_assessed"
    return Grade(dimension.id, status, rationale=against or reason, rubric_version=rubric.version)


async def ask_judge(case: Case, rubric: Rubric, judge: JudgeClient) -> tuple[list[Grade], dict[str, Grade]]:
    """(grades of the rubric's dimensions in its order, grades of judge assertions by their id); all asked at once."""
    questions = {dimension.id: _question(case, rubric, dimension) for dimension in _applicable(case, rubric)}
    criteria = judge_assertions(case)
    questions |= {id: _assertion_question(case, rubric, id, text) for id, text in criteria.items()}
    async with asyncio.TaskGroup() as group:
        tasks = {id: group.create_task(graded_reply(judge, question, rubric)) for id, question in questions.items()}
    answers = {id: task.result() for id, task in tasks.items()}
    grades = [answers.get(d.id) or _unasked(case, rubric, d, "") for d in rubric.dimensions]
    return grades, {id: answers[id] for id in criteria}


def _applicable(case: Case, rubric: Rubric) -> list[Dimension]:
    return [d for d in rubric.dimensions if not why_not_applicable(d.id, case.scenario)]


def judge_assertions(case: Case) -> dict[str, str]:
    """The sentences that the scenario asks a judge about, by check id."""
    return {
        assertion_id(index): assertion.judge
        for index, assertion in enumerate(case.scenario.assertions)
        if assertion.judge is not None
    }


def _question(case: Case, rubric: Rubric, dimension: Dimension) -> Question:
    return Question(dimension.id, rubric.instructions(dimension), evidence_text(case, dimension.id))


def _assertion_question(case: Case, rubric: Rubric, id: str, criterion: str) -> Question:
    question = "Is the sentence in `criterion` true of this call? Nothing else of the scenario counts here."
    return Question(id, rubric.instructions(Dimension(id, question)), evidence_text(case, id, criterion))


async def graded_reply(judge: JudgeClient, question: Question, rubric: Rubric) -> Grade:
    """The judge's word on one question; where it gave none, `judge_error` says why."""
    return _graded(judge, question, rubric, await ask_safely(judge, question))


def _graded(judge: JudgeClient, question: Question, rubric: Rubric, reply: Reply) -> Grade:
    common: dict[str, Any] = {
        "raw_reply": reply.body,
        "judge_model": judge.model,
        "rubric_version": rubric.version,
        "prompt_hash": question.prompt_hash,
        "latency_ms": reply.latency_ms,
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "tries": reply.tries,
    }
    if reply.error:
        return Grade(question.dimension, "not_assessed", judge_error=reply.error, **common)
    try:
        judgement = read_reply(reply.body)
    except UnusableReply as error:
        return Grade(question.dimension, "not_assessed", judge_error=str(error), **common)
    return Grade(
        question.dimension,
        "passed" if judgement.passed else "failed",
        score=judgement.score,
        rationale=judgement.rationale,
        evidence=judgement.evidence,
        **common,
    )


def semantic_outcome(grades: list[Grade], rubric: Rubric) -> Check:
    """The required dimension as a check: it decides when a judge was asked."""
    deciding = {dimension.id for dimension in rubric.dimensions if dimension.required}
    grade = next(grade for grade in grades if grade.dimension in deciding)
    asked = bool(grade.judge_model)
    evidence = {"dimension": grade.dimension, "score": grade.score, "quotes": list(grade.evidence)}
    if grade.status in ("passed", "failed"):
        ok = grade.status == "passed"
        return verdict("semantic_outcome", ok, required=True, reason=_because(grade), **evidence)
    if grade.status == "not_applicable":
        return Check("semantic_outcome", "not_applicable", False, grade.rationale, evidence)
    reason = f"judge error: {grade.judge_error}" if asked else grade.rationale
    return not_assessed("semantic_outcome", reason, required=asked, **evidence)


def _because(grade: Grade) -> str:
    return grade.rationale or f"the judge gave {grade.score:g} without a reason"


def judged_assertions(case: Case, grades: Mapping[str, Grade]) -> dict[str, Check]:
    return {id: _assertion(id, text, grades[id]) for id, text in judge_assertions(case).items() if id in grades}


def _assertion(id: str, criterion: str, grade: Grade) -> Check:
    asked = {"judge_model": grade.judge_model, "prompt_hash": grade.prompt_hash, "raw_reply": grade.raw_reply}
    evidence = {"question": criterion, "score": grade.score, "quotes": list(grade.evidence), **asked}
    if grade.status == "not_assessed":
        return not_assessed(id, f"judge error: {grade.judge_error}", required=True, **evidence)
    return verdict(id, grade.status == "passed", required=True, reason=_because(grade), **evidence)


def semantic_quality(grades: list[Grade]) -> float | None:
    """Mean score of the dimensions that were assessed; null when none was."""
    scores = [grade.score for grade in grades if grade.score is not None]
    return round(sum(scores) / len(scores), 4) if scores else None


def judge_tokens(grades: list[Grade]) -> dict[str, float | None]:
    def total(values: list[int | None]) -> float | None:
        told = [value for value in values if value is not None]
        return sum(told) if told else None

    return {
        "judge_input_tokens": total([grade.input_tokens for grade in grades]),
        "judge_output_tokens": total([grade.output_tokens for grade in grades]),
    }
