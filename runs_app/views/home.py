"""Home: what runs, what fails, what changed since the baseline, and what to do next."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs_app.known import Marks, open_marks, passing_now, with_marks
from runs_app.listening.playlist import play_link
from runs_app.models import Outcome, Run, RunStatus, Trial
from runs_app.problems import problems_of
from runs_app.run_rows import rows_of
from runs_app.since import what_changed
from scenarios_app.models import Configuration, Scenario, Suite

MOST_OPEN = 10
LATEST = 8
MOST_FAILED = 10
MOST_READ = 200
MOST_PROBLEMS = 8


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    runs = list(Run.objects.with_people().open()[:MOST_OPEN])
    over = list(Run.objects.with_people().filter(status__in=("done", "cancelled"))[:LATEST])
    rows = rows_of([*runs, *over])
    marks, newest = open_marks(), _newest_of_suites(over)
    context: dict[str, Any] = {
        "open_rows": rows[: len(runs)],
        "rows": rows[len(runs) :],
        "newest": newest,
        "problems": problems_of(newest, marks),
        "most_problems": MOST_PROBLEMS,
        "expired": marks.all_expired,
        "passing": passing_now(marks),
        "failures": _failures([run.pk for run in [*runs, *over]], marks),
        "play": play_link(run.pk for run in [*runs, *over]),
        "since": what_changed() if over else [],
        "steps": [] if over or runs else _steps(),
    }
    return render(request, "runs_app/home.html", context)


def _newest_of_suites(over: list[Run]) -> list[Run]:
    """Of each suite the newest finished run, and the newest of those that are of none."""
    found: dict[int | None, Run] = {}
    for run in over:
        if run.status == RunStatus.DONE:
            found.setdefault(run.suite_id, run)
    return list(found.values())


def _failures(runs: list[int], marks: Marks) -> list[Trial]:
    """The newest first, without what is known. Of a run's invalid trials that say the same, one: a dead endpoint must
    not hide the rest."""
    bad = Trial.objects.with_versions().filter(run__in=runs, outcome__in=(Outcome.FAILED, Outcome.INVALID))
    newest = bad.defer("record", "metrics").order_by("-finished_at", "-pk")[:MOST_READ]
    shown: list[Trial] = []
    for trial in with_marks(newest, marks):
        first = next((one for one in shown if _is_alike(one, trial)), None)
        if first is not None:
            first.alike = getattr(first, "alike", 0) + 1  # type: ignore[attr-defined]
        elif trial.mark is None:
            shown.append(trial)
    return shown[:MOST_FAILED]


def _is_alike(one: Trial, other: Trial) -> bool:
    same = (one.run_id, one.stage, one.reason) == (other.run_id, other.stage, other.reason)
    return same and one.outcome == other.outcome == Outcome.INVALID


def _steps() -> list[dict[str, Any]]:
    """What a new installation lacks before its first run, in order."""
    return [
        {"done": Scenario.objects.current().exists(), "name": "scenarios"},
        {"done": Suite.objects.current().filter(entries__isnull=False).exists(), "name": "suite"},
        {"done": Configuration.objects.current().exists(), "name": "configuration"},
        {"done": False, "name": "run"},
    ]
