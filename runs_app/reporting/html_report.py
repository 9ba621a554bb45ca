"""A run or a comparison as one HTML file that opens offline: numbers, problems, what failed, and how it sounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone

from runs_app import run_page
from runs_app.comparing.export import as_json
from runs_app.comparing.page import Page
from runs_app.frozen import Frozen, read_frozen
from runs_app.known import open_marks, with_marks
from runs_app.models import Run, Trial
from runs_app.plans import plan_of
from runs_app.problems import Problems, kind_in_words, problems_of
from runs_app.realtime.record import Record
from runs_app.reporting.redaction import Redactor
from runs_app.reporting.report_audio import MOST_BYTES, recordings
from runs_app.reporting.report_svg import Bar, rate_bars
from runs_app.reporting.results import known_in_words, redactor_for, url_of
from runs_app.stats.configuration import ConfigurationSummary, rate_in_words
from runs_app.trial_page.transcript import transcript

MOST_TRIALS = 200  # that are told one by one
Json = Any


@dataclass(frozen=True)
class Failure:
    """A failed trial in the words of the report, redacted already. `sound` is empty where it has none."""

    facts: dict[str, Json]
    sound: str


def run_report(run: Run) -> str:
    """One file without a reference to another. The run may still go on: then it says how far it is."""
    results = run_page.results(run)
    bars = [_bar(one.label, one.summary) for one in results]
    own = {
        "title": str(run),
        "status": run.status,
        "results": results,
        "drawing": rate_bars(bars) if bars else "",
        "entries": run_page.configurations(run),
    }
    return _report([run], own, simulated=run.configurations.filter(simulated=True).exists())


def comparison_report(page: Page, candidate: str = "") -> str:
    """Of the baseline and `candidate` (NAME@VERSION, by default all beside it), as the page shows them."""
    columns = page.columns
    rates = page.comparison.configurations if page.comparison is not None else ()
    bars = [_bar(f"{column.letter} {column.label}", one) for column, one in zip(columns, rates, strict=False)]
    own = {
        "title": " and ".join(column.label for column in columns),
        "status": page.state,
        "pairs": _pairs(page, candidate),
        "drawing": rate_bars(bars) if bars else "",
    }
    versions = [column.version.pk for column in columns]
    return _report(page.loaded.runs, own, simulated=page.loaded.simulated, versions=versions)


def _pairs(page: Page, candidate: str) -> list[Frozen]:
    if page.comparison is None:
        return []
    document = as_json(page)
    beside = [candidate] if candidate else [column.label for column in page.columns[1:]]
    return [found for label in beside if (found := read_frozen(document, label)) is not None]


def _bar(label: str, one: ConfigurationSummary) -> Bar:
    rate = one.pass_rate
    return label, rate.value, rate.low, rate.high, rate_in_words(rate)


def _report(runs: Sequence[Run], own: dict[str, Json], *, simulated: bool, versions: Sequence[int] = ()) -> str:
    marks = open_marks()
    problems = problems_of(runs, marks, versions=versions)
    trials = with_marks(_failed(runs, versions, problems), marks)
    redactor, sounds, plan = redactor_for(runs), recordings(trials), plan_of(runs)
    context = {
        **own,
        "title": redactor.text(own["title"]),
        "runs": [{"pk": run.pk, "name": redactor.text(str(run)), "url": url_of(run)} for run in runs],
        "problems": problems,
        "more": problems.failures - len(trials),
        "failures": [Failure(_facts(trial, redactor), sounds.get(trial.pk, "")) for trial in trials],
        "heard": len(sounds),
        "recorded": sum(bool(trial.wav) for trial in trials),
        "most_mb": MOST_BYTES // 1_000_000,
        "plan": replace(plan, hypotheses=tuple(map(redactor.text, plan.hypotheses))),
        "notice": _notice(redactor, bool(sounds)),
        "simulated": simulated,
        "made_at": timezone.now(),
        "site": settings.SITE_URL,
    }
    return render_to_string("runs_app/report.html", context)


def _notice(redactor: Redactor, sounds: bool) -> str:
    return redactor.notice + (" The recordings are what was heard." if sounds and redactor.fields else "")


def _failed(runs: Sequence[Run], versions: Sequence[int], problems: Problems) -> list[Trial]:
    """One of each problem, then a second of each, and so on: whatever is cut off at the end, no problem is."""
    found = Trial.objects.failed().filter(run__in=runs)
    if versions:
        found = found.filter(configuration_version__in=versions)
    mixed = found.mixed([problem.key for problem in problems.listed[:MOST_TRIALS]])
    chosen = list(mixed.values_list("pk", flat=True)[:MOST_TRIALS])
    trials = Trial.objects.with_versions().defer("metrics").in_bulk(chosen)
    return [trials[pk] for pk in chosen]


def _facts(trial: Trial, redactor: Redactor) -> dict[str, Json]:
    told = {
        "trial": trial.pk,
        "url": url_of(trial),
        "scenario": trial.scenario_version.scenario.key,
        "title": trial.scenario_version.title,
        "configuration": str(trial.configuration_version),
        "repeat": trial.repeat,
        "reason": trial.reason,
        "problem": kind_in_words(trial.failure_kind),
        "known": known_in_words(trial),
        "lines": list(_lines(trial)),
    }
    found: dict[str, Json] = redactor.json(told)
    return found


def _lines(trial: Trial) -> Iterable[dict[str, Json]]:
    if not trial.record:
        return
    for line in transcript(Record.from_json(trial.record)):
        call = line.call
        arguments = (call.arguments if call.arguments is not None else call.arguments_raw) if call else None
        yield {"who": line.who, "at_ms": line.at_ms, "text": line.text, "arguments": arguments}
