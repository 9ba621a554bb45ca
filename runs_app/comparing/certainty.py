"""The price of certainty: which extra repeats would tell, how long they take and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from runs_app.comparing.loading import Column, Loaded
from runs_app.comparing.page import Page
from runs_app.comparing.words import plural, share_text, signed_text
from runs_app.models import Trial
from runs_app.spending import Place, Spent, charge, charges_in_words, spent, spent_on
from runs_app.stats.planning import Plan
from runs_app.stats.rows import LATENCY


@dataclass(frozen=True)
class Offer:
    """What would tell, in words, and the repeats by scenario id that a button starts. With a `why` they are a first
    step or none."""

    column: Column
    target: str
    repeats_of: Mapping[str, int]
    trials: int
    minutes: str
    cost: str
    why: str

    @property
    def words(self) -> str:
        counts = sorted(set(self.repeats_of.values()))
        several = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
        more = "repeat" if counts == [1] else "repeats"
        of = plural(len(self.repeats_of), "scenario")
        if self.why:
            return f"{several} more {more} of {of} would be a first step"
        return f"{several} more {more} of {of} would tell {self.target}"


def offers(page: Page) -> dict[tuple[str, str], Offer]:
    """(metric, configuration key) -> what more repeats would tell, where the pair on show cannot tell yet."""
    beside = page.pair[1] if page.pair and page.pair[0] == page.columns[0] else None
    asked = [
        (card.metric, one.column)
        for card in page.cards
        for one in card.differences
        if one.column == beside and one.can_ask and not card.empty
    ]
    if page.comparison is None or not asked:
        return {}
    baseline = page.columns[0]
    plans = {(metric, column): page.comparison.plan(baseline.key, column.key, metric) for metric, column in asked}
    scenarios = {extra.scenario_id for plan in plans.values() for extra in plan.extra}
    known = _known(page.loaded, scenarios) if scenarios else {}
    return {
        (metric, column.key): _offer(metric, (baseline, column), plan, page.loaded, known)
        for (metric, column), plan in plans.items()
    }


def _offer(
    metric: str,
    pair: tuple[Column, Column],
    plan: Plan,
    loaded: Loaded,
    known: Mapping[Place, Spent],
) -> Offer:
    repeats_of = {extra.scenario_id: extra.repeats for extra in plan.extra}
    return Offer(
        column=pair[1],
        target=_target(metric, plan),
        repeats_of=repeats_of,
        trials=plan.trials,
        minutes=_minutes(pair, repeats_of, loaded, known) if repeats_of else "",
        cost=_cost(pair, repeats_of, known) if repeats_of else "",
        why=_why(plan),
    )


def _target(metric: str, plan: Plan) -> str:
    if plan.target is None:
        return ""
    size = share_text(abs(plan.target)) if metric == LATENCY else signed_text(metric, abs(plan.target)).lstrip("+")
    return f"a difference of {size}"


def _why(plan: Plan) -> str:
    if not plan.why:
        return ""
    needed = f"; about {plan.scenarios_needed} scenarios would do" if plan.scenarios_needed else ""
    return f"{plan.why[:1].upper()}{plan.why[1:]}{needed}"


def _minutes(
    pair: Sequence[Column],
    repeats_of: Mapping[str, int],
    loaded: Loaded,
    known: Mapping[Place, Spent],
) -> str:
    each = [
        (spent_on(known, column.version.pk, scenario).seconds, n)
        for column in pair
        for scenario, n in repeats_of.items()
    ]
    if any(seconds is None for seconds, _ in each):
        return "time unknown"
    total = sum((seconds or 0.0) * n for seconds, n in each)
    minutes = total / max(1, loaded.runs[-1].concurrency) / 60
    return "under a minute" if minutes < 1 else f"about {minutes:.0f} min"


def _cost(pair: Sequence[Column], repeats_of: Mapping[str, int], known: Mapping[Place, Spent]) -> str:
    return charges_in_words(
        [charge(column.spec, column.label, repeats_of, known, [column.version.pk]) for column in pair]
    )


def _known(loaded: Loaded, scenarios: Iterable[str]) -> dict[Place, Spent]:
    trials = Trial.objects.filter(
        run__in=[run.pk for run in loaded.runs], scenario_version__scenario__key__in=list(scenarios)
    )
    return spent(trials, {column.version.pk: column.spec for column in loaded.columns})
