"""One configuration's numbers: the pass rate with all it leaves out, and a summary of every metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs_app.stats.estimate import Tails
from runs_app.stats.rates import rate_interval
from runs_app.stats.rows import PASS_RATE, WITHOUT_VERDICT, TrialRow, by_scenario, counts, value_of
from runs_app.stats.summary import Summary, measured, summarise


@dataclass(frozen=True)
class PassRate:
    """`passed` of `n` graded trials, of `of` trials in all. `value` is null when none was graded.

    `excluded` counts the others by outcome, `invalid_stages` the invalid ones by stage, `timeouts` the fails that
    are time-outs. `best` and `worst` are the rates if every trial without a verdict had passed or failed. The
    interval is at 95 %; null where there is nothing to tell from.
    """

    value: float | None
    passed: int
    n: int
    of: int
    excluded: dict[str, int]
    invalid_stages: dict[str, int]
    timeouts: int
    best: float | None
    worst: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ConfigurationSummary:
    key: str
    trials: int
    scenarios: int
    outcomes: dict[str, int]
    pass_rate: PassRate
    metrics: dict[str, Summary]
    tails: Tails | None = None  # null while it is being computed


def summarise_configuration(key: str, rows: Sequence[TrialRow], metrics: Sequence[str]) -> ConfigurationSummary:
    return ConfigurationSummary(
        key=key,
        trials=len(rows),
        scenarios=len({row.scenario_id for row in rows}),
        outcomes=counts(row.outcome for row in rows),
        pass_rate=pass_rate(rows),
        metrics={name: summarise([value_of(row, name) for row in rows]) for name in metrics if name != PASS_RATE},
    )


def pass_rate(rows: Sequence[TrialRow]) -> PassRate:
    passed = sum(row.outcome == "passed" for row in rows)
    n = sum(row.graded for row in rows)
    missing = sum(row.outcome in WITHOUT_VERDICT for row in rows)
    groups = [measured(value_of(row, PASS_RATE) for row in group) for group in by_scenario(rows).values()]
    interval = rate_interval(groups)
    return PassRate(
        value=passed / n if n else None,
        passed=passed,
        n=n,
        of=len(rows),
        excluded=counts(row.outcome for row in rows if not row.graded),
        invalid_stages=counts(row.stage or "unknown" for row in rows if row.outcome == "invalid"),
        timeouts=sum(row.timed_out for row in rows),
        best=(passed + missing) / (n + missing) if n + missing else None,
        worst=passed / (n + missing) if n + missing else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )


def rate_in_words(rate: PassRate) -> str:
    """`75.0 % (6/8), 2 of 10 invalid`; an en dash when nothing was graded."""
    value = "–" if rate.value is None else f"{rate.value:.1%}".replace("%", " %")
    left_out = [f"{count} of {rate.of} {outcome}" for outcome, count in rate.excluded.items()]
    timeouts = [f"{rate.timeouts} of {rate.of} timed out"] if rate.timeouts else []
    return ", ".join([f"{value} ({rate.passed}/{rate.n})", *left_out, *timeouts])
