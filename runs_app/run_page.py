"""What a run's page says beside its live panel: what failed and why, what was invalid, and the numbers at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count
from django.urls import reverse

from runs_app.known import Marks, open_marks, passing_in, with_marks
from runs_app.listening.playlist import play_link
from runs_app.models import Outcome, Run, RunConfiguration, Trial
from runs_app.plans import plan_of
from runs_app.problems import problems_of
from runs_app.reviews.rates import review_of
from runs_app.reviews.wanted import signs_of
from runs_app.selection import as_it_was
from runs_app.stats.configuration import ConfigurationSummary, rate_in_words, summarise_configuration
from runs_app.stats.rows import MEASURED, TrialRow
from scenarios_app.spec.tool_faults import fault_text

MOST_FAILURES = 50


# What to look at when trials end in a stage of record.STAGES.
ADVICE = {
    "configuration": "The configuration cannot be used as it is.",
    "speech": "The caller's words could not be spoken: look at the speech service.",
    "caller_audio": "The speech service answered with audio that cannot be used.",
    "caller": "Our own caller could not be played, or made mistakes: the reason names them.",
    "connect": "The agent could not be reached: is it running at its endpoint?",
    "authorisation": "The agent refused our key or account.",
    "provider_limit": "The provider's limit was reached: lower the concurrency or wait.",
    "session": "The agent refused the session before the first turn.",
    "session_expired": "The session ended by its age.",
    "response_failed": "The agent's server reported that its response failed.",
    "error_event": "The agent's server sent an error that ended the turn.",
    "socket_closed": "The agent's server closed the socket while a turn was open.",
    "message_too_big": "The agent's server sent more than we accept in one message.",
    "protocol": "The agent's server sent what this protocol does not know.",
    "pacing": "This machine was too busy to speak in real time: lower the concurrency.",
    "tool_sandbox": "A tool of the application could not be run or asked: the reason names it.",
    "delegation": "The backend behind the voice could not do its task: the reason says why.",
    "worker_lost": "The worker stopped three times in mid-conversation: look at its log.",
    "internal": "A fault of our own: look at the log.",
}


@dataclass(frozen=True)
class Cause:
    """Why trials were invalid: a stage of the conversation, one sentence, and how many say the same."""

    stage: str
    reason: str
    trials: int

    @property
    def advice(self) -> str:
        return ADVICE.get(self.stage, "")


@dataclass(frozen=True)
class Result:
    label: str
    simulated: bool
    summary: ConfigurationSummary

    @property
    def rate_words(self) -> str:
        return rate_in_words(self.summary.pass_rate)


def findings(run: Run) -> dict[str, Any]:
    """Keys: run, failures, plan, problems, passing, most_failures, play, causes, invalid, total, results, reviewed and
    signs."""
    causes, marks = _causes(run), open_marks()
    return {
        "run": run,
        "failures": _failures(run, marks),
        "plan": plan_of([run]),
        "problems": problems_of([run], marks),
        "passing": passing_in(run, marks) if run.is_over else [],
        "most_failures": MOST_FAILURES,
        "play": play_link([run.pk]),
        "causes": causes[:3],
        "invalid": sum(cause.trials for cause in causes),
        "total": run.trials.count(),
        "results": results(run) if run.is_over else [],
        "reviewed": review_of(run) if run.is_over else None,
        "signs": signs_of(run),
    }


def _failures(run: Run, marks: Marks) -> list[Trial]:
    """The newest first, with their marks and without what they recorded."""
    worth_a_look = run.trials.with_versions().filter(outcome__in=(Outcome.FAILED, Outcome.INVALID))
    newest = worth_a_look.defer("record", "metrics").order_by("-finished_at", "-pk")
    return with_marks(newest[: MOST_FAILURES + 1], marks)


def _causes(run: Run) -> list[Cause]:
    """The most frequent first."""
    invalid = run.trials.filter(outcome=Outcome.INVALID).order_by().values_list("stage", "reason")
    counted = invalid.annotate(trials=Count("pk")).order_by("-trials", "stage", "reason")
    return [Cause(stage or "unknown", reason or "no reason was given", trials) for stage, reason, trials in counted]


def results(run: Run) -> list[Result]:
    """One for each configuration, over the trials that came to a verdict; denominators say what was left out."""
    columns = ("scenario_version__scenario__key", "configuration_version_id", "repeat", "outcome", "stage", *MEASURED)
    rows: dict[int, list[TrialRow]] = {}
    for key, version, repeat, outcome, stage, *values in run.trials.order_by("position").values_list(*columns):
        metrics = dict(zip(MEASURED, values, strict=True))
        rows.setdefault(version, []).append(TrialRow(key, "", str(version), repeat, outcome, stage, metrics))
    return [_result(entry, rows.get(entry.configuration_version_id, [])) for entry in configurations(run)]


def _result(entry: RunConfiguration, rows: list[TrialRow]) -> Result:
    summary = summarise_configuration(str(entry.configuration_version_id), rows, MEASURED)
    return Result(str(entry.configuration_version), entry.simulated, summary)


def configurations(run: Run) -> list[RunConfiguration]:
    return list(run.configurations.select_related("configuration_version__configuration").order_by("position"))


def again_url(run: Run, entries: list[RunConfiguration]) -> str:
    """The new-run form filled in as this run was; a configuration's version stays the one that ran."""
    real_time = {True: "yes", False: "no", None: ""}[run.real_time]
    given = {
        **as_it_was(run),
        "configurations": [str(entry.configuration_version) for entry in entries],
        "repeats": run.repeats,
        "concurrency": run.concurrency,
        "mode": run.mode,
        "real_time": real_time,
        "seed": run.seed,
        "tool_faults": fault_text(run.tool_faults),
        "stop_after_invalid": run.stop_after_invalid,
        "name": run.name,
        **_plan_again(run),
    }
    kept = {name: value for name, value in given.items() if value not in ("", [], None)}
    return f"{reverse('run-new')}?{urlencode(kept, doseq=True)}"


def _plan_again(run: Run) -> dict[str, Any]:
    plan = plan_of([run])
    margins = {f"margin_{name}": margin for name, margin in plan.margins.items()}
    return {"hypothesis": " ".join(plan.hypotheses), "primaries": list(plan.primaries or ()), **margins}
