"""A run against a baseline, by the rule that the comparison page has: what `run_eval --baseline` judges and tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Final

from django.db.models import QuerySet

from runs_app.comparing.choice import MOST_CONFIGURATIONS, Choice
from runs_app.comparing.conditions import comparison_of
from runs_app.comparing.loading import load
from runs_app.comparing.words import plural
from runs_app.known import known_among, open_marks
from runs_app.models import Run, Trial
from runs_app.services.baselines import run_with
from runs_app.stats.comparison import Comparison
from runs_app.stats.pair import MetricComparison, PairComparison
from runs_app.stats.rows import PASS_RATE
from scenarios_app.models import ConfigurationVersion

FAIL_IF: Final = ("worse", "critical", "cant-tell")


@dataclass(frozen=True)
class Judged:
    """`failed`: reasons to fail. `unknown`: why it cannot be judged. `document` is what the JSON tells."""

    failed: tuple[str, ...]
    unknown: tuple[str, ...]
    document: dict[str, Any]


@dataclass(frozen=True)
class Held:
    """A configuration against the baseline, without the failures that are known. `known`: how many those were on
    either side; `critical_known`: critical scenarios that would newly always fail with them. `unmeasured`: metrics
    of which neither side has a value, and that nobody chose."""

    name: str
    pair: PairComparison
    known: tuple[int, int]
    critical_known: tuple[str, ...]
    unmeasured: tuple[str, ...]


def judge_against(baseline: ConfigurationVersion, run: Run, results: dict[str, Any], fail_if: Sequence[str]) -> Judged:
    """`results` as run_results gives them. Every other configuration of the run must not fail; the baseline's trials
    are the run's own where it has them, else those of its newest finished run of the suite."""
    candidates = [
        entry.configuration_version
        for entry in run.configurations.select_related("configuration_version__configuration")
        if entry.configuration_version != baseline
    ]
    if problem := _problem(baseline, run, candidates, results):
        return Judged((), (problem,), _document(baseline, None, fail_if, [], (), (problem,)))
    source = run_with(baseline, suite_id=run.suite_id, run=run)
    if source is None:
        problem = f"{baseline} is not in this run, and there is no finished run of the suite with it"
        return Judged((), (problem,), _document(baseline, None, fail_if, [], (), (problem,)))
    pairs = _held(baseline, source, run, candidates)
    failed = tuple(text for one in pairs for text in _failures(one, fail_if))
    unknown = tuple(text for one in pairs for text in _unknown(one))
    return Judged(failed, unknown, _document(baseline, source, fail_if, map(_pair, pairs), failed, unknown))


def _problem(
    baseline: ConfigurationVersion, run: Run, candidates: Sequence[ConfigurationVersion], results: dict[str, Any]
) -> str:
    if results["status"] == "cancelled":
        return "the run was cancelled: it cannot be held against the baseline"
    if not candidates:
        return f"the run has nothing but the baseline {baseline}"
    if problem := too_many(len(candidates)):
        return problem
    if not results["trials"]["passed"] + results["trials"]["failed"]:
        return "no trial was graded: nothing can be held against the baseline"
    return ""


def too_many(candidates: int) -> str:
    """Why so many configurations cannot be held against a baseline; empty when they can."""
    most = MOST_CONFIGURATIONS - 1
    return f"{candidates} configurations against one baseline: at most {most} are compared" if candidates > most else ""


def _held(
    baseline: ConfigurationVersion, source: Run, run: Run, candidates: Sequence[ConfigurationVersion]
) -> list[Held]:
    """The candidates' trials are this run's alone, whatever the other one has of them."""
    choice = Choice(runs=tuple({run.pk, source.pk}), a=str(baseline.pk), bs=tuple(str(one.pk) for one in candidates))
    places = {(source.pk, baseline.pk), *((run.pk, one.pk) for one in candidates)}
    marks = open_marks()
    known = {place: known_among(_trials(*place), marks) for place in places}
    every = load(choice, places=places)
    left_out = frozenset(chain.from_iterable(known.values()))
    whole = comparison_of(every)
    without = comparison_of(load(choice, places=places, without=left_out)) if left_out else whole
    of_baseline = len(known[source.pk, baseline.pk])
    return [
        Held(
            name=str(version),
            pair=(pair := without.pair(str(baseline.pk), str(version.pk))),
            known=(of_baseline, len(known[run.pk, version.pk])),
            critical_known=tuple(one for one in whole.pair(pair.a, pair.b).critical if one not in pair.critical),
            unmeasured=tuple(_unmeasured(without, pair, every.plan.primaries or ())),
        )
        for version in candidates
    ]


def _trials(run: int, version: int) -> QuerySet[Trial]:
    return Trial.objects.filter(run=run, configuration_version=version)


def _unmeasured(comparison: Comparison, pair: PairComparison, chosen: Sequence[str]) -> Iterable[str]:
    sides = [one for one in comparison.configurations if one.key in (pair.a, pair.b)]
    for name in pair.metrics:
        counts = [one.pass_rate.n if name == PASS_RATE else one.metrics[name].n for one in sides]
        if name not in chosen and not any(counts):
            yield name


def _failures(one: Held, fail_if: Sequence[str]) -> Iterable[str]:
    metrics = [metric for metric in one.pair.metrics.values() if metric.primary]
    if "worse" in fail_if or "critical" in fail_if:
        # no average makes up for a critical scenario: whoever asks for worse asks for this too
        for scenario in one.pair.critical:
            yield f"{one.name}: the critical scenario {scenario} now always fails"
    if "worse" in fail_if:
        yield from (f"{one.name}: {_words(metric)}" for metric in metrics if metric.verdict.word == "Worse")
    if "cant-tell" in fail_if:
        yield from (f"{one.name}: {_words(metric)}" for metric in metrics if _is_doubtful(metric, one.unmeasured))


def _is_doubtful(metric: MetricComparison, unmeasured: Sequence[str]) -> bool:
    """Sides that are identical leave no doubt, nor does what these trials do not have, such as latency of a text."""
    return (
        metric.verdict.word == "Can't tell" and metric.verdict.code != "identical" and metric.metric not in unmeasured
    )


def _unknown(one: Held) -> Iterable[str]:
    """Where nothing can be said a gate must not be green."""
    metrics = one.pair.metrics.values()
    apart = {metric.verdict.reason for metric in metrics if metric.verdict.word == "Not comparable"}
    yield from (f"{one.name}: not comparable with the baseline: {reason}" for reason in sorted(apart))
    if not apart and all(metric.verdict.code == "nothing" for metric in metrics):
        but = f" but {plural(sum(one.known), 'known failure')}" if any(one.known) else ""
        yield f"{one.name}: no scenario has a value on both sides{but}"


def _words(one: MetricComparison) -> str:
    return f"{' '.join(filter(None, (one.metric, _size(one))))}: {one.verdict.word} ({one.verdict.reason})"


def _size(one: MetricComparison) -> str:
    if one.ratio is not None:
        return f"{100 * (one.ratio.value - 1):+.1f} %"
    return "" if one.paired.difference is None else f"{one.paired.difference:+.3f}"


def _pair(one: Held) -> dict[str, Any]:
    pair = one.pair
    return {
        "configuration": one.name,
        "scenarios": len(pair.paired),
        "changed": list(pair.changed),
        "critical": list(pair.critical),
        "critical_known": list(one.critical_known),
        "known": {"baseline": one.known[0], "configuration": one.known[1]},
        "unmeasured": list(one.unmeasured),
        "metrics": {name: asdict(metric) for name, metric in pair.metrics.items()},
    }


def _document(
    baseline: ConfigurationVersion,
    source: Run | None,
    fail_if: Sequence[str],
    pairs: Iterable[dict[str, Any]],
    failed: Sequence[str],
    unknown: Sequence[str],
) -> dict[str, Any]:
    return {
        "name": baseline.configuration.name,
        "version": baseline.number,
        "run": source.pk if source else None,
        "fail_if": list(fail_if),
        "pairs": list(pairs),
        "failed": list(failed),
        "unknown": list(unknown),
    }


def as_lines(document: dict[str, Any]) -> list[str]:
    """For a terminal: one line per configuration and metric, and what they leave out."""
    where = f" of run {document['run']}" if document["run"] else ""
    lines = [f"against {document['name']}@{document['version']}{where}:"]
    for pair in document["pairs"]:
        lines += [f"  {pair['configuration']}: {_line(name, one, pair)}" for name, one in pair["metrics"].items()]
        if any(pair["known"].values()):
            own, of_baseline = pair["known"]["configuration"], pair["known"]["baseline"]
            left_out = f"{plural(own, 'known failure')} left out, {of_baseline} of the baseline"
            lines.append(f"  {pair['configuration']}: {left_out}")
    return lines


def _line(name: str, one: dict[str, Any], pair: dict[str, Any]) -> str:
    if name in pair["unmeasured"]:
        return f"{name}: not measured on either side, so nothing is judged by it"
    return f"{name}: {one['verdict']['word']} ({one['verdict']['reason']})"
