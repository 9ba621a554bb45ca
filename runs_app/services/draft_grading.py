"""What the expectations of a draft would say of a conversation that was kept: graded again, and nothing stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from runs_app import loop
from runs_app.grading.grade import Evidence, GradingResult, grade
from runs_app.models import Grading, Trial
from runs_app.services import judging, secrets
from runs_app.services.grading import Judge, evidence_of
from runs_app.services.material import material_of
from runs_app.services.results import short_reason
from runs_app.services.runs import NotPossible
from runs_app.services.trying import with_name
from scenarios_app.spec.scenario import Scenario, parse_scenario


@dataclass(frozen=True)
class Prepared:
    """A trial with everything that grading it needs. `judge` may hold a key."""

    trial: Trial
    grading: Grading | None  # the current one
    evidence: Evidence
    judge: Judge
    other_words: bool  # the draft's caller says something else than was said


@dataclass(frozen=True)
class Line:
    """One check or dimension, before and after: its status, and the reason or score. Empty: it was not asked."""

    name: str
    before: str
    before_why: str
    after: str
    after_why: str

    @property
    def changed(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True)
class Regraded:
    """`outcome` and `reason` are the draft's; what was graded stands on the trial."""

    trial: Trial
    outcome: str
    reason: str
    lines: tuple[Line, ...]
    other_words: bool

    @property
    def changed(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.changed)

    @property
    def same(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if not line.changed)


def prepare_draft_grading(*, trial: Trial, content: Mapping[str, Any]) -> Prepared:
    """Raises SpecError for a draft that is not right, and NotPossible for a trial without a conversation."""
    scenario = parse_scenario(with_name(content))
    if trial.record is None or not trial.is_done:
        raise NotPossible(f"{trial} has no recorded conversation to grade")
    material = material_of(trial)
    return Prepared(
        trial=trial,
        grading=trial.gradings.filter(current=True).prefetch_related("checks", "grades").first(),
        evidence=evidence_of(trial, replace(material, scenario=scenario)),
        judge=judging.judge_settings(trial, material.configuration),
        other_words=_said(material.scenario) != _said(scenario),
    )


async def grade_draft(prepared: Prepared) -> GradingResult:
    async with judging.opened(prepared.judge) as client:
        return await grade(prepared.evidence, judge=client)


async def grade_now(prepared: Prepared) -> GradingResult:
    """On the loop of gradings, whose work is slow; the caller's goes on meanwhile. Cancelled with its caller."""
    return await asyncio.wrap_future(loop.gradings.submit(grade_draft(prepared)))


def held_beside(prepared: Prepared, result: GradingResult) -> Regraded:
    """The draft's verdicts beside those that the trial has. What a judge's service answered may repeat its key: as in
    what is stored, no secret is left in it."""
    stored = prepared.grading
    before = {check.check_id: (check.status, check.reason) for check in stored.checks.all()} if stored else {}
    graded = {one.dimension: (one.status, _score(one)) for one in stored.grades.all()} if stored else {}
    after = secrets.redact({check.id: (check.status, check.reason) for check in result.checks})
    scored = secrets.redact({one.dimension: (one.status, _score(one)) for one in result.grades})
    return Regraded(
        trial=prepared.trial,
        outcome=result.outcome.outcome,
        reason=short_reason(result.outcome.reason),
        lines=(*_lines(before, after), *_lines(graded, scored)),
        other_words=prepared.other_words,
    )


def _lines(before: Mapping[str, tuple[str, str]], after: Mapping[str, tuple[str, str]]) -> Iterable[Line]:
    for name in dict.fromkeys([*before, *after]):
        yield Line(name, *before.get(name, ("", "")), *after.get(name, ("", "")))


def _score(grade: Any) -> str:
    told = "" if grade.score is None else f"{grade.score:g}"
    return ": ".join(part for part in (told, grade.rationale) if part)


def _said(scenario: Scenario) -> list[str | None]:
    return [scenario.input.text, *(turn.text for turn in scenario.input.turns or ())]
