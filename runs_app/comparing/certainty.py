"""The price of certainty: which extra repeats would tell, how long they take and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Avg, DurationField, ExpressionWrapper, F, FloatField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from pydantic import ValidationError

from runs_app.comparing.loading import Column, Loaded
from runs_app.comparing.page import Page
from runs_app.comparing.words import LATENCY, plural, share_text, signed_text
from runs_app.models import Trial
from runs_app.prices.cost import Cost, Price, cost_of, price_of, price_table
from runs_app.realtime.record import Usage
from runs_app.stats.planning import Plan

USAGE: Final = {
    "input_tokens": "agent_input_tokens",
    "output_tokens": "agent_output_tokens",
    "input_text_tokens": "agent_input_text_tokens",
    "input_audio_tokens": "agent_input_audio_tokens",
    "input_cached_tokens": "agent_input_cached_tokens",
    "output_text_tokens": "agent_output_text_tokens",
    "output_audio_tokens": "agent_output_audio_tokens",
}
MOST_TRIALS: Final = 4000  # whose usage is looked at


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


@dataclass(frozen=True)
class Known:
    """Of one configuration and scenario, or of all its scenarios: mean seconds and mean cost of a trial."""

    seconds: float | None
    cost: Cost | None


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
    known: Mapping[tuple[str, str], Known],
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
    known: Mapping[tuple[str, str], Known],
) -> str:
    each = [(_of(known, column, scenario).seconds, n) for column in pair for scenario, n in repeats_of.items()]
    if any(seconds is None for seconds, _ in each):
        return "time unknown"
    total = sum((seconds or 0.0) * n for seconds, n in each)
    minutes = total / max(1, loaded.runs[-1].concurrency) / 60
    return "under a minute" if minutes < 1 else f"about {minutes:.0f} min"


def _of(known: Mapping[tuple[str, str], Known], column: Column, scenario: str) -> Known:
    """Of the scenario, or where it is not known there of the configuration."""
    rest = known.get((column.key, ""), Known(None, None))
    own = known.get((column.key, scenario), rest)
    return Known(own.seconds or rest.seconds, own.cost or rest.cost)


def _cost(pair: Sequence[Column], repeats_of: Mapping[str, int], known: Mapping[tuple[str, str], Known]) -> str:
    total = Cost(0.0, 0.0)
    for column in pair:
        if column.simulated:
            continue
        price = price_for(column)
        if price is None:
            return f"cost unknown: no price of {column.spec.model}"
        for scenario, repeats in repeats_of.items():
            cost = _of(known, column, scenario).cost
            if cost is None:
                return f"cost unknown: {column.label} told no usage"
            total += cost.times(repeats)
    if all(column.simulated for column in pair):
        return "costs nothing (simulated)"
    return f"{total} for the agents, at prices of {price_table().as_of}"


def price_for(column: Column) -> Price | None:
    """The configuration's own price table wins, where it is one."""
    own = column.spec.price_table
    if isinstance(own, dict):
        try:
            return Price.model_validate(own)
        except ValidationError:
            return None
    return price_of(column.spec.model)


def _known(loaded: Loaded, scenarios: Iterable[str]) -> dict[tuple[str, str], Known]:
    """By (configuration key, scenario id), and under the scenario "" over all of them."""
    rows = list(_rows(loaded, scenarios))
    columns = {column.version.pk: column for column in loaded.columns}
    found: dict[tuple[str, str], Known] = {}
    grouped: dict[str, list[Known]] = {}
    for row in rows:
        column = columns[row["configuration_version_id"]]
        one = Known(row["lasted"].total_seconds() if row["lasted"] else None, _row_cost(row, column))
        found[column.key, row["scenario"]] = one
        grouped.setdefault(column.key, []).append(one)
    return found | {(key, ""): _mean(own) for key, own in grouped.items()}


def _rows(loaded: Loaded, scenarios: Iterable[str]) -> Iterable[dict[str, Any]]:
    trials = Trial.objects.filter(
        run__in=[run.pk for run in loaded.runs],
        configuration_version__in=[column.version.pk for column in loaded.columns],
        scenario_version__scenario__key__in=list(scenarios),
        outcome__in=("passed", "failed"),
    )
    tokens = {name: Avg(Cast(KT(f"metrics__{metric}"), FloatField())) for name, metric in USAGE.items()}
    lasted = ExpressionWrapper(F("recorded_at") - F("started_at"), output_field=DurationField())
    newest = trials.order_by("-pk").values("pk")[:MOST_TRIALS]
    rows: Iterable[Any] = (
        Trial.objects.filter(pk__in=newest)
        .order_by()
        .values("configuration_version_id", scenario=F("scenario_version__scenario__key"))
        .annotate(lasted=Avg(lasted), **tokens)
    )
    return rows


def _row_cost(row: Mapping[str, Any], column: Column) -> Cost | None:
    price = price_for(column)
    if price is None:
        return None
    tokens = {name: None if row[name] is None else round(row[name]) for name in USAGE}
    seconds = row["lasted"].total_seconds() if row["lasted"] else 0.0
    return cost_of(Usage(**tokens), price, minutes=seconds / 60)


def _mean(known: Sequence[Known]) -> Known:
    seconds = [one.seconds for one in known if one.seconds is not None]
    costs = [one.cost for one in known if one.cost is not None]
    total = sum(costs, Cost(0.0, 0.0))
    return Known(
        sum(seconds) / len(seconds) if seconds else None,
        total.times(1 / len(costs)) if costs else None,
    )
