"""The steps that a call should take, as CRAWL's scenarios tell them in `expected.procedure`.

CRAWL leaves its outside open: a list of steps, or an object with `steps`. What cannot be read is told, and kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from scenarios_app.spec.contract import Contract, Flag, Text
from scenarios_app.spec.errors import Problem
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.wording import kind_of, problems_of

StepKind = Literal["clarification", "tool", "correction", "authorization", "state", "grounded_confirmation", "refusal"]


class ProcedureStep(Contract):
    """`arguments`: of the call, or of a `state` step what the state holds. `after`: ids of steps that come first. Only
    critical steps decide."""

    id: Text
    kind: StepKind
    tool: Text | None = None
    arguments: dict[str, Json] = {}
    after: tuple[Text, ...] = ()
    required: Flag = True
    critical: Flag = False


@dataclass(frozen=True)
class Procedure:
    steps: tuple[ProcedureStep, ...]
    problems: tuple[Problem, ...] = ()


def read_procedure(value: Json, path: str = "expected.procedure") -> Procedure:
    """All steps that can be read, and the problems of the others."""
    given, inside = (value.get("steps"), f"{path}.steps") if isinstance(value, dict) else (value, path)
    if given is None:
        return Procedure((), (Problem(inside, "holds no steps that can be checked"),) if value else ())
    if not isinstance(given, list):
        return Procedure((), (Problem(inside, f"must be a list of steps, not {kind_of(given)}: not checked"),))
    steps: list[ProcedureStep] = []
    problems: list[Problem] = []
    for index, entry in enumerate(given):
        try:
            steps.append(ProcedureStep.model_validate(_lenient(entry)))
        except ValidationError as error:
            problems += [
                Problem(f"{inside}[{index}]", f"is not checked: {problem}")
                for problem in problems_of(error, ProcedureStep)
            ]
    ids = {step.id for step in steps}
    problems += [
        Problem(f"{inside}.{step.id}.after", f'there is no step "{before}" to come first')
        for step in steps
        for before in step.after
        if before not in ids
    ]
    return Procedure(tuple(steps), tuple(problems))


def _lenient(entry: Json) -> Json:
    """`after` may be one id; whatever else stands in a step is no matter of ours."""
    if not isinstance(entry, dict):
        return entry
    known = {name: entry[name] for name in ProcedureStep.model_fields if entry.get(name) is not None}
    return {**known, "after": [known["after"]]} if isinstance(known.get("after"), str) else known
