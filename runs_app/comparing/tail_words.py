"""Percentiles and pass^k as a card tells them: the value, and its interval or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from runs_app.comparing.words import interval_text, signed_text
from runs_app.stats.estimate import Estimate, Tails
from runs_app.stats.rows import LATENCY
from runs_app.stats.summary import Summary
from runs_app.templatetags.figures import ms, score

THIN: Final = "; under 59 values the 95th percentile says little"


@dataclass(frozen=True)
class Tail:
    name: str
    text: str
    more: str
    is_thin: bool = False


def percentile_tails(numbers: Summary, tails: Tails | None) -> tuple[Tail, ...]:
    """p50 and p95 in ms; without the intervals of `tails` the plain percentiles of the trials."""
    if tails is None:
        return (
            Tail("p50", ms(numbers.p50), "interval being computed"),
            Tail("p95", ms(numbers.p95), "interval being computed", numbers.p95_is_thin),
        )
    thin = numbers.p95_is_thin
    return (
        Tail("p50", _late(tails.p50), _more(tails.p50, ms)),
        Tail("p95", _late(tails.p95), f"{_more(tails.p95, ms)}{THIN if thin else ''}", thin),
    )


def common_k(sides: Iterable[Tails | None]) -> int:
    """The largest k of which each has a pass^k that has any, so that only alike is told beside alike; 0 of none."""
    return min((max(tails.pass_k) for tails in sides if tails is not None and tails.pass_k), default=0)


def repeat_tails(tails: Tails | None, k: int) -> tuple[Tail, ...]:
    """pass^k: the chance that so many repeats of a scenario all pass."""
    if tails is None or k not in tails.pass_k:
        return ()
    estimate = tails.pass_k[k]
    return (
        Tail(f"pass^{k}", score(estimate.value), f"the chance that {k} repeats all pass; {_more(estimate, score)}"),
    )


def percentile_changes(pair: Tails, *, is_thin: bool) -> tuple[Tail, ...]:
    """B minus A over the paired scenarios. Empty where neither percentile was measured on both sides."""
    if pair.p50.value is None and pair.p95.value is None:
        return ()
    p95 = _change("p95", pair.p95, LATENCY)
    if is_thin:
        p95 = replace(p95, more=f"{p95.more}{THIN}", is_thin=True)
    return _change("p50", pair.p50, LATENCY), p95


def repeat_changes(pair: Tails, k: int) -> tuple[Tail, ...]:
    return (_change(f"pass^{k}", pair.pass_k[k], ""),) if k in pair.pass_k else ()


def _change(name: str, estimate: Estimate, metric: str) -> Tail:
    interval = interval_text(metric, estimate.low, estimate.high)
    why = f"95 % interval over {estimate.scenarios} scenarios" if interval else estimate.why or "no interval"
    text = f"{signed_text(metric, estimate.value)} {interval}".rstrip()
    return Tail(f"Δ\u202f{name}", text, f"difference of {name} over the paired scenarios, which decides nothing; {why}")


def _late(estimate: Estimate) -> str:
    return f"> {ms(estimate.value)}" if estimate.at_least and estimate.value is not None else ms(estimate.value)


def _more(estimate: Estimate, text: Callable[[float | None], str]) -> str:
    if estimate.low is None or estimate.high is None:
        return estimate.why or "no interval"
    return f"95 % interval {text(estimate.low)} to {text(estimate.high)} over {estimate.scenarios} scenarios"
