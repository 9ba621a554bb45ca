"""What a run is to find out, written down as it starts. Afterwards nobody changes it."""

from __future__ import annotations

import math

from runs_app.models import Run, RunPlan
from runs_app.plans import Plan
from runs_app.stats.rows import PRIMARY
from scenarios_app.spec.errors import Problem, refuse_if

KNOWN = tuple(rule.name for rule in PRIMARY)
LARGEST = {rule.name: 1.0 for rule in PRIMARY if rule.scale == "linear"}  # shares and scores


def check_plan(plan: Plan | None) -> None:
    """Raises SpecError."""
    if not plan:
        return
    problems = [
        Problem(field, f"there is no metric {name!r}; known are {', '.join(KNOWN)}")
        for field, names in (("primaries", plan.primaries or ()), ("margins", plan.margins))
        for name in names
        if name not in KNOWN
    ]
    for name, margin in plan.margins.items():
        if not (math.isfinite(margin) and 0 < margin <= LARGEST.get(name, math.inf)):
            limit = " and at most 1" if name in LARGEST else ""
            problems.append(Problem(f"margin_{name}", f"must be above 0{limit}, not {margin:g}"))
    if any(len(hypothesis) > 500 for hypothesis in plan.hypotheses):
        problems.append(Problem("hypothesis", "is longer than 500 characters"))
    refuse_if(problems)


def store_plan(run: Run, plan: Plan | None) -> None:
    """Within the transaction that starts the run. A run without a plan has no row."""
    if plan:
        RunPlan.objects.create(
            run=run,
            hypothesis=" ".join(plan.hypotheses),
            primaries=list(plan.primaries or ()),
            margins=plan.margins,
        )
