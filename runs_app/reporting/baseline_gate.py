"""A run against a baseline, by the rule that the comparison page has: what `run_eval --baseline` judges and tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from runs_app.comparing.choice import MOST_CONFIGURATIONS, Choice
from runs_app.comparing.conditions import comparison_of
from runs_app.comparing.loading import load
from runs_app.models import Run
from runs_app.services.baselines import run_with
from runs_app.stats.comparison import Comparison
from runs_app.stats.pair import MetricComparison, PairComparison
from scenarios_app.models import ConfigurationVersion

FAIL_IF: Final = ("worse", "critical", "cant-tell")
# not a doubt about a difference: there is none, or there is nothing to differ in
SILENT: Final = ("nothing", "identical")


@dataclass(frozen=True)
class Judged:
    """`failed`: reasons to fail. `unknown`: why it cannot be judged. `document` is what the JSON tells."""

    failed: tuple[str, ...]
    unknown: tuple[str, ...]
    document: dict[str, Any]


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
    comparison = _compared(baseline, source, run, candidates)
    names = {str(version.pk): str(version) for version in candidates}
    pairs = [(names[pair.b], pair, _known(results, names[pair.b], pair)) for pair in comparison.pairs]
    failed = tuple(text for name, pair, known in pairs for text in _failures(name, pair, known, fail_if))
    unknown = tuple(text for name, pair, _ in pairs for text in _unknown(name, pair))
    told = [_pair(name, pair, known) for name, pair, known in pairs]
    return Judged(failed, unknown, _document(baseline, source, fail_if, told, failed, unknown))


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


def _compared(
    baseline: ConfigurationVersion, source: Run, run: Run, candidates: Sequence[ConfigurationVersion]
) -> Comparison:
    """The candidates' trials are this run's alone, whatever the other one has of them."""
    choice = Choice(runs=tuple({run.pk, source.pk}), a=str(baseline.pk), bs=tuple(str(one.pk) for one in candidates))
    places = {(source.pk, baseline.pk), *((run.pk, one.pk) for one in candidates)}
    return comparison_of(load(choice, places=places))


def _failures(name: str, pair: PairComparison, known: Sequence[str], fail_if: Sequence[str]) -> Iterable[str]:
    metrics = [one for one in pair.metrics.values() if one.primary]
    if "worse" in fail_if or "critical" in fail_if:
        # no average makes up for a critical scenario: whoever asks for worse asks for this too
        for scenario in pair.critical:
            if scenario not in known:
                yield f"{name}: the critical scenario {scenario} now always fails"
    if "worse" in fail_if:
        yield from (f"{name}: {_words(one)}" for one in metrics if one.verdict.word == "Worse")
    if "cant-tell" in fail_if:
        doubtful = (one for one in metrics if one.verdict.word == "Can't tell" and one.verdict.code not in SILENT)
        yield from (f"{name}: {_words(one)}" for one in doubtful)


def _unknown(name: str, pair: PairComparison) -> Iterable[str]:
    """Where nothing can be said a gate must not be green."""
    apart = {one.verdict.reason for one in pair.metrics.values() if one.verdict.word == "Not comparable"}
    yield from (f"{name}: not comparable with the baseline: {reason}" for reason in sorted(apart))
    if not apart and all(one.verdict.code == "nothing" for one in pair.metrics.values()):
        yield f"{name}: no scenario has a value on both sides"


def _words(one: MetricComparison) -> str:
    return f"{one.metric} {_size(one)}: {one.verdict.word} ({one.verdict.reason})"


def _size(one: MetricComparison) -> str:
    if one.ratio is not None:
        return f"{100 * (one.ratio.value - 1):+.1f} %"
    return "" if one.paired.difference is None else f"{one.paired.difference:+.3f}"


def _known(results: dict[str, Any], name: str, pair: PairComparison) -> list[str]:
    """Critical scenarios of which every failure is known: they are no news."""
    failed: dict[str, list[bool]] = {scenario: [] for scenario in pair.critical}
    for result in results["results"]:
        if result["configuration"] == name and result["outcome"] == "failed" and result["scenario"] in failed:
            failed[result["scenario"]].append(result["known"] is not None)
    return [scenario for scenario, known in failed.items() if known and all(known)]


def _pair(name: str, pair: PairComparison, known: Sequence[str]) -> dict[str, Any]:
    return {
        "configuration": name,
        "scenarios": len(pair.paired),
        "changed": list(pair.changed),
        "critical": list(pair.critical),
        "critical_known": list(known),
        "metrics": {name: asdict(one) for name, one in pair.metrics.items()},
    }


def _document(
    baseline: ConfigurationVersion,
    source: Run | None,
    fail_if: Sequence[str],
    pairs: list[dict[str, Any]],
    failed: Sequence[str],
    unknown: Sequence[str],
) -> dict[str, Any]:
    return {
        "name": baseline.configuration.name,
        "version": baseline.number,
        "run": source.pk if source else None,
        "fail_if": list(fail_if),
        "pairs": pairs,
        "failed": list(failed),
        "unknown": list(unknown),
    }


def as_lines(document: dict[str, Any]) -> list[str]:
    """For a terminal: one line per configuration and metric."""
    where = f" of run {document['run']}" if document["run"] else ""
    lines = [f"against {document['name']}@{document['version']}{where}:"]
    for pair in document["pairs"]:
        lines += [
            f"  {pair['configuration']}: {name}: {one['verdict']['word']} ({one['verdict']['reason']})"
            for name, one in pair["metrics"].items()
        ]
    return lines
