"""What runs set out to find, as far as they agree on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from runs_app.models import Run, RunPlan


@dataclass(frozen=True)
class Plan:
    """`primaries` is None, and `margins` empty, where nothing was set before the start, or where the runs of one
    comparison set different things (`differs`): then no one of them may be picked afterwards."""

    hypotheses: tuple[str, ...] = ()
    primaries: tuple[str, ...] | None = None
    margins: dict[str, float] = field(default_factory=dict)
    differs: bool = False

    def __bool__(self) -> bool:
        return bool(self.hypotheses or self.primaries or self.margins)


def plan_of(runs: Iterable[Run]) -> Plan:
    """Runs without a plan have no say. One query."""
    return agreed(RunPlan.objects.filter(run__in=list(runs)))


def agreed(stored: Iterable[RunPlan]) -> Plan:
    """What these plans leave."""
    plans = sorted(stored, key=lambda plan: plan.run_id)
    hypotheses = tuple(dict.fromkeys(plan.hypothesis for plan in plans if plan.hypothesis))
    if not plans:
        return Plan()
    first = plans[0]
    if any((sorted(one.primaries), one.margins) != (sorted(first.primaries), first.margins) for one in plans):
        return Plan(hypotheses, differs=True)
    return Plan(hypotheses, tuple(first.primaries) or None, dict(first.margins))
