"""Percentiles and pass^k as a card tells them: the value, and its interval or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from runs_app.stats.estimate import Estimate, Tails
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


def repeat_tails(tails: Tails | None) -> tuple[Tail, ...]:
    """pass^k for the largest k: the chance that so many repeats of a scenario all pass."""
    if tails is None or not tails.pass_k:
        return ()
    k, estimate = max(tails.pass_k.items())
    return (
        Tail(f"pass^{k}", score(estimate.value), f"the chance that {k} repeats all pass; {_more(estimate, score)}"),
    )


def _late(estimate: Estimate) -> str:
    return f"> {ms(estimate.value)}" if estimate.at_least and estimate.value is not None else ms(estimate.value)


def _more(estimate: Estimate, text: Callable[[float | None], str]) -> str:
    if estimate.low is None or estimate.high is None:
        return estimate.why or "no interval"
    return f"95 % interval {text(estimate.low)} to {text(estimate.high)} over {estimate.scenarios} scenarios"
