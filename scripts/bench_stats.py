"""How often the intervals that pages show hold the truth, and how often a page cries wolf: the table of
docs/statistics.md. python scripts/bench_stats.py [--simulations N] [--only NAME] [--hidden] [--pages N].

Trials come from plausible agents that pass more or less often: a scenario has its own difficulty (logit-normal), each
configuration its own strength in it, and repeats differ by luck. The truth is that of a hundred thousand scenarios of
the same kind.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from runs_app.stats.bootstrap import draws_of, mean_interval, quantile_interval, quantiles
from runs_app.stats.deciding import judged, measured_of
from runs_app.stats.moments import moments
from runs_app.stats.paired import sides, t_interval
from runs_app.stats.pairing import pairing_of
from runs_app.stats.rates import (
    FEWEST_FOR_COUNTED,
    FEWEST_FOR_MEAN,
    FEWEST_FOR_MEAN_TIME,
    FEWEST_FOR_PAIRS,
    FEWEST_FOR_REPEATS,
    mean_interval_of_shares,
    newcombe_paired,
    rate_interval,
)
from runs_app.stats.rows import LATENCY, PASS_RATE, PRIMARY
from runs_app.stats.tails import FEWEST, FEWEST_OF_PAIR, TailInput, TailInputs
from runs_app.stats.trials import Floats, Trials

SIZES = (8, 12, 20, 40)
REPEATS = 3
LIMIT_MS = 30_000.0
Z95 = 1.959963984540054
# Typical chances to pass. Many: of few yes-or-no answers an interval holds one rate .94 and its neighbour .98 of the
# time.
KINDS = {
    "": tuple(n / 100 for n in range(50, 96, 5)),
    ", near the ceiling": tuple(n / 100 for n in range(90, 98)),
}


@dataclass(frozen=True)
class Agent:
    """`rate`: typical chance to pass; `spread`: of difficulty over scenarios (logit); `shift` of B; `apart`: how
    differently the two take the same scenario (logit)."""

    rate: float = 0.75
    spread: float = 1.5
    shift: float = 0.0
    apart: float = 0.5
    late: float = 0.0


def drawn(rng: np.random.Generator, agent: Agent, scenarios: int, repeats: int, configurations: int = 2) -> Trials:
    """The first configuration is A; the others are shifted alike."""
    ease = math.log(agent.rate / (1 - agent.rate)) + rng.normal(0, agent.spread, scenarios)
    pace = rng.normal(6.7, 0.35, scenarios)
    parts = [_one(rng, agent, ease, pace, repeats, place) for place in range(configurations)]
    cells = configurations * scenarios * repeats
    outcome, quality, tools, latency = (np.concatenate([part[n] for part in parts]) for n in range(4))
    late = np.isnan(latency)
    scenario = np.tile(np.repeat(np.arange(scenarios), repeats), configurations)
    return Trials(
        scenario_ids=tuple(f"s{n:04}" for n in range(scenarios)),
        configuration_keys=tuple(f"c{n}" for n in range(configurations)),
        stages=("", "response_timeout"),
        scenario=scenario,
        configuration=np.repeat(np.arange(configurations), scenarios * repeats),
        content=scenario.copy(),
        outcome=np.where(late, 2, outcome),
        stage=late.astype(np.int64),
        timeout_ms=np.full(cells, LIMIT_MS),
        values={"semantic_quality": quality, "tool_accuracy": tools, LATENCY: latency},
    )


def _one(
    rng: np.random.Generator, agent: Agent, ease: Floats, pace: Floats, repeats: int, place: int
) -> tuple[Floats, Floats, Floats, Floats]:
    shift = agent.shift if place else 0.0
    own = np.repeat(ease + shift + rng.normal(0, agent.apart, len(ease)), repeats)
    chance = 1 / (1 + np.exp(-own))
    outcome = np.where(rng.random(len(own)) < chance, 1, 2)
    quality = np.clip(np.round(4 * (chance + rng.normal(0, 0.15, len(own)))) / 4, 0, 1)
    tools = np.where(rng.random(len(own)) < chance, 1.0, np.round(2 * rng.random(len(own))) / 2)
    slow = np.repeat(pace + rng.normal(0, 0.1, len(ease)), repeats) + shift / 5 + rng.normal(0, 0.25, len(own))
    return outcome, quality, tools, np.where(rng.random(len(own)) < agent.late, np.nan, np.exp(slow))


Interval = tuple[float | None, float | None]
Estimator = Callable[[Trials], Interval]
Truth = Callable[[Trials], float]


@dataclass(frozen=True)
class Case:
    """One interval that pages show. `truth` is read off very many trials of the same kind."""

    name: str
    estimate: Estimator
    truth: Truth
    repeats: int = REPEATS
    nominal: float = 0.95
    fewest: int = 2  # scenarios for which pages show it
    of_rates: bool = True  # so that it is tried near the ceiling too


def paired_t(metric: str, level: float = 0.95) -> Estimator:
    rule = next(rule for rule in PRIMARY if rule.name == metric)

    def interval(trials: Trials) -> Interval:
        means = moments(trials, trials.tested(rule)).mean
        return t_interval(sides(means[0], means[1], np.ones(means.shape[1], bool)).differences, level)

    return interval


def mean_difference(metric: str) -> Truth:
    rule = next(rule for rule in PRIMARY if rule.name == metric)

    def truth(trials: Trials) -> float:
        means = moments(trials, trials.tested(rule)).mean
        return float(np.nanmean(means[1]) - np.nanmean(means[0]))

    return truth


def newcombe(trials: Trials) -> Interval:
    means = moments(trials, trials.value(PASS_RATE)).mean
    neither, only_b, only_a, both = np.bincount((2 * means[0] + means[1]).astype(int), minlength=4).tolist()
    found = newcombe_paired(both, only_a, only_b, neither, Z95)
    return found.low, found.high


def one_rate(trials: Trials) -> Interval:
    found = moments(trials, trials.value(PASS_RATE))
    interval = rate_interval(found.n[0], found.mean[0], found.squares[0])
    return (interval.low, interval.high) if interval else (None, None)


def one_mean(metric: str) -> Estimator:
    def interval(trials: Trials) -> Interval:
        means = moments(trials, trials.value(metric)).mean[0]
        if metric == LATENCY:
            return t_interval(means[~np.isnan(means)], 0.95)
        found = mean_interval_of_shares(means)
        return (found.low, found.high) if found else (None, None)

    return interval


def first_mean(metric: str) -> Truth:
    return lambda trials: float(np.nanmean(trials.value(metric)[trials.configuration == 0]))


def percentile(share: float, *, pair: bool) -> Estimator:
    def interval(trials: Trials) -> Interval:
        found = _input(trials, pair)
        draws = draws_of(found.scenario_ids)
        each = [quantiles(side.ms, side.at, (share,), draws)[0] for side in found.sides]
        return tuple(quantile_interval(each, draws, symmetric=not (pair and share > 0.9)) or (None, None))  # type: ignore[return-value]

    return interval


def true_percentile(share: float, *, pair: bool) -> Truth:
    def truth(trials: Trials) -> float:
        values = [trials.value(LATENCY)[trials.configuration == place] for place in range(2)]
        found = [np.quantile(np.where(np.isnan(v), LIMIT_MS, v), share, method="inverted_cdf") for v in values]
        return float(found[1] - found[0]) if pair else float(found[0])

    return truth


def all_pass(k: int, *, pair: bool) -> Estimator:
    def interval(trials: Trials) -> Interval:
        found = _input(trials, pair)
        values = [side.pass_k[k] for side in found.sides]
        difference = values[1] - values[0] if pair else values[0]
        return tuple(mean_interval(difference, draws_of(found.scenario_ids)) or (None, None))  # type: ignore[return-value]

    return interval


def true_all_pass(k: int, *, pair: bool) -> Truth:
    def truth(trials: Trials) -> float:
        means = [float(side.pass_k[k].mean()) for side in _input(trials, pair).sides]
        return means[1] - means[0] if pair else means[0]

    return truth


def _input(trials: Trials, pair: bool) -> TailInput:
    inputs = TailInputs(trials)
    return inputs.pair(pairing_of(trials, 0, 1)) if pair else inputs.configuration(0)


CASES = (
    Case(
        "difference of the pass rate, one repeat (Newcombe)",
        newcombe,
        mean_difference(PASS_RATE),
        repeats=1,
        fewest=FEWEST_FOR_PAIRS,
    ),
    Case(
        "difference of the pass rate, 3 repeats (t)",
        paired_t(PASS_RATE),
        mean_difference(PASS_RATE),
        fewest=FEWEST_FOR_COUNTED,
    ),
    Case("difference of semantic_quality (t)", paired_t("semantic_quality"), mean_difference("semantic_quality")),
    Case(
        "difference of tool_accuracy (t)",
        paired_t("tool_accuracy"),
        mean_difference("tool_accuracy"),
        fewest=FEWEST_FOR_COUNTED,
    ),
    Case("ratio of latencies (t of logarithms)", paired_t(LATENCY), mean_difference(LATENCY), of_rates=False),
    Case("90 % interval for Equivalent (t)", paired_t(PASS_RATE, 0.90), mean_difference(PASS_RATE), nominal=0.90),
    Case("pass rate, one repeat (Wilson)", one_rate, first_mean(PASS_RATE), repeats=1),
    Case(
        "pass rate, 3 repeats (Wilson, effective n)",
        one_rate,
        first_mean(PASS_RATE),
        fewest=FEWEST_FOR_REPEATS,
    ),
    Case(
        "mean semantic_quality in a chart (Wilson, as many trials as vary so)",
        one_mean("semantic_quality"),
        first_mean("semantic_quality"),
        fewest=FEWEST_FOR_MEAN,
    ),
    Case(
        "mean latency in a chart (t)",
        one_mean(LATENCY),
        first_mean(LATENCY),
        fewest=FEWEST_FOR_MEAN_TIME,
        of_rates=False,
    ),
    Case(
        "p50 (bootstrap)",
        percentile(0.5, pair=False),
        true_percentile(0.5, pair=False),
        fewest=FEWEST["p50"],
        of_rates=False,
    ),
    Case(
        "difference of p50 (bootstrap)",
        percentile(0.5, pair=True),
        true_percentile(0.5, pair=True),
        fewest=FEWEST_OF_PAIR["p50"],
        of_rates=False,
    ),
    Case(
        "p95 (bootstrap)",
        percentile(0.95, pair=False),
        true_percentile(0.95, pair=False),
        fewest=FEWEST["p95"],
        of_rates=False,
    ),
    Case(
        "difference of p95 (bootstrap)",
        percentile(0.95, pair=True),
        true_percentile(0.95, pair=True),
        fewest=FEWEST_OF_PAIR["p95"],
        of_rates=False,
    ),
    Case("pass^3 (bootstrap)", all_pass(3, pair=False), true_all_pass(3, pair=False), fewest=FEWEST["pass_k"]),
    Case(
        "difference of pass^3 (bootstrap)",
        all_pass(3, pair=True),
        true_all_pass(3, pair=True),
        fewest=FEWEST_OF_PAIR["pass_k"],
    ),
)

ALARMS = "false alarms"
# Pages with nothing to find: agents that are alike, repeats, candidates.
QUIET = (
    (Agent(), "", REPEATS, 1),
    (Agent(rate=0.95, late=0.01), ", near the ceiling", REPEATS, 1),
    (Agent(), "", REPEATS, 4),
    (Agent(), "", 1, 4),
)


def coverage(
    case: Case, agents: Sequence[tuple[Agent, float]], scenarios: int, simulations: int
) -> tuple[float, float]:
    """How often an interval held the truth, of those that there were; and how often there was one. Each agent comes
    with its truth, and they take turns: of yes or no the coverage jumps from one rate to the next."""
    rng = np.random.default_rng([scenarios, case.repeats, len(case.name)])
    turns = [agents[turn % len(agents)] for turn in range(simulations)]
    found = [(truth, case.estimate(drawn(rng, agent, scenarios, case.repeats))) for agent, truth in turns]
    shown = [(truth, low, high) for truth, (low, high) in found if low is not None and high is not None]
    held = sum(low - 1e-12 <= truth <= high + 1e-12 for truth, low, high in shown)
    return held / max(1, len(shown)), len(shown) / simulations


def truth_of(case: Case, agent: Agent) -> float:
    rng = np.random.default_rng(1)
    return float(np.mean([case.truth(drawn(rng, agent, 20_000, case.repeats)) for _ in range(10)]))


def alarms(agent: Agent, scenarios: int, repeats: int, candidates: int, pages: int) -> float:
    """Share of whole pages with any Better or Worse, when no configuration is better than another."""
    rng = np.random.default_rng([scenarios, repeats, candidates])
    loud = 0
    for _ in range(pages):
        trials = drawn(rng, agent, scenarios, repeats, candidates + 1)
        pairings = [pairing_of(trials, 0, place) for place in range(1, candidates + 1)]
        found = judged(measured_of(trials, PRIMARY), PRIMARY, pairings, [{}] * candidates, pairings)
        words = {metric.verdict.word for metrics in found.metrics for metric in metrics.values()}
        loud += bool(words & {"Better", "Worse"})
    return loud / pages


def alarm_rows(pages: int) -> Iterable[str]:
    for agent, kind, repeats, candidates in QUIET:
        cells = [f"{alarms(agent, size, repeats, candidates, pages):.3f}" for size in SIZES]
        counted = f"{candidates} candidate{'s' * (candidates > 1)}, {repeats} repeat{'s' * (repeats > 1)}"
        yield f"| {counted}{kind} | {' | '.join(cells)} |"


def rows(cases: Iterable[Case], simulations: int, *, hidden: bool) -> Iterable[str]:
    for case in cases:
        for kind, rates in KINDS.items():
            if kind and not case.of_rates:
                continue
            agents = [Agent(rate=rate, shift=0.3, late=0.01) for rate in (rates if case.of_rates else (0.75,))]
            told = [(agent, truth_of(case, agent)) for agent in agents]
            cells = [_cell(case, told, size, simulations, hidden=hidden) for size in SIZES]
            yield f"| {case.name}{kind} | {case.nominal:.2f} | {' | '.join(cells)} |"


def _cell(case: Case, agents: Sequence[tuple[Agent, float]], size: int, simulations: int, *, hidden: bool) -> str:
    """`hidden`: measured too where pages show no interval."""
    if size < case.fewest and not hidden:
        return "not shown"
    held, there = coverage(case, agents, size, simulations)
    if not there:
        return "not shown"
    if size < case.fewest:
        return f"not shown ({held:.3f})"
    return f"{held:.3f}" + (f" ({there:.0%} have one)" if there < 0.995 else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--only", default="", help=f'only intervals with this in their name, or "{ALARMS}"')
    parser.add_argument("--pages", type=int, default=2000, help="simulated for each share of false alarms")
    parser.add_argument("--hidden", action="store_true", help="measure too where pages show none")
    options = parser.parse_args()
    began = time.perf_counter()
    print(f"| interval | nominal | {' | '.join(f'S = {size}' for size in SIZES)} |")
    print("|---|---|" + "---|" * len(SIZES))
    chosen = [case for case in CASES if options.only in case.name]
    for row in rows(chosen, options.simulations, hidden=options.hidden):
        print(row, flush=True)
    if options.only in ALARMS:
        print(f"\n| page with nothing to find | {' | '.join(f'S = {size}' for size in SIZES)} |")
        print("|---|" + "---|" * len(SIZES))
        for row in alarm_rows(options.pages):
            print(row, flush=True)
    print(f"\n{options.simulations} simulations, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
