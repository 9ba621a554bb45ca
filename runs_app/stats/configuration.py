"""One configuration's numbers: the pass rate with all it leaves out, and a summary of every metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from runs_app.stats.estimate import Tails
from runs_app.stats.moments import Moments, moments
from runs_app.stats.rates import rate_interval
from runs_app.stats.rows import PASS_RATE, TrialRow
from runs_app.stats.summary import Summary, summarise
from runs_app.stats.tails import TailInputs, tails_of
from runs_app.stats.trials import INVALID, NEVER_RAN, OUTCOMES, PASSED, Ints, Trials, trials_of


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
    tails: Tails


def summarise_configurations(trials: Trials, inputs: TailInputs | None = None) -> tuple[ConfigurationSummary, ...]:
    rates = moments(trials, trials.value(PASS_RATE))
    inputs = inputs or TailInputs(trials)
    return tuple(_summary(trials, place, rates, inputs) for place in range(len(trials.configuration_keys)))


def summarise_configuration(key: str, rows: Sequence[TrialRow], metrics: Sequence[str]) -> ConfigurationSummary:
    """Of rows that all carry this key."""
    return summarise_configurations(trials_of(rows, configurations=(key,), metrics=metrics))[0]


def _summary(trials: Trials, place: int, rates: Moments, inputs: TailInputs) -> ConfigurationSummary:
    own = trials.own[place]
    return ConfigurationSummary(
        key=trials.configuration_keys[place],
        trials=len(own),
        scenarios=int(np.count_nonzero(trials.contents[place] != NEVER_RAN)),
        outcomes=_outcomes(trials, own),
        pass_rate=_pass_rate(trials, own, place, rates),
        metrics={name: summarise(trials.value(name)[own]) for name in trials.values},
        tails=tails_of(inputs.configuration(place)),
    )


def _outcomes(trials: Trials, own: Ints) -> dict[str, int]:
    return _named(OUTCOMES, trials.outcome[own])


def _named(names: Sequence[str], codes: Ints) -> dict[str, int]:
    found = Counter[str]()
    for code, count in enumerate(np.bincount(codes)):
        found[names[code]] += int(count)
    return {name: count for name, count in sorted(found.items()) if count and name}


def _pass_rate(trials: Trials, own: Ints, place: int, rates: Moments) -> PassRate:
    passed = int((trials.outcome[own] == PASSED).sum())
    n, missing = int(trials.graded[own].sum()), int(trials.missing[own].sum())
    interval = rate_interval(rates.n[place], rates.mean[place], rates.squares[place])
    invalid = trials.stage[own][trials.outcome[own] == INVALID]
    outcomes = _outcomes(trials, own)
    return PassRate(
        value=passed / n if n else None,
        passed=passed,
        n=n,
        of=len(own),
        excluded={name: count for name, count in outcomes.items() if name not in ("passed", "failed")},
        invalid_stages=_named([stage or "unknown" for stage in trials.stages], invalid),
        timeouts=int(trials.timed_out[own].sum()),
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
