"""Starts a run from the shell, waits for it, and judges it by gates. See docs/running.md for its exit codes."""

from __future__ import annotations

import json
import time
from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from runs_app.models import Outcome, Run, Trial
from runs_app.reporting.results import run_results
from runs_app.services import liveness
from runs_app.services.runs import start_run
from runs_app.services.snapshots import newest_of
from scenarios_app.models import ConfigurationVersion, ScenarioVersion, Suite
from scenarios_app.services.configurations import find_configuration_version
from scenarios_app.services.reports import NotStored
from scenarios_app.services.scenario_files import import_scenarios
from scenarios_app.services.suites import find_suite
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.tool_faults import read_faults

GATES = ("pass_rate", "semantic_quality", "tool_accuracy")
WORKER_PATIENCE_S = 10.0
LOOK_EVERY_S = 0.5

BELOW_A_GATE = 1
NO_ANSWER = 2  # it could not be run, or what came of it cannot be judged
INTERRUPTED = 130


@dataclass(frozen=True)
class Gate:
    metric: str
    least: float

    def __str__(self) -> str:
        return f"{self.metric}={self.least:g}"


def gate(text: str) -> Gate:
    metric, equals, least = text.partition("=")
    if not equals or metric not in GATES:
        raise ArgumentTypeError(f"{text!r} is not METRIC=NUMBER with a metric of {', '.join(GATES)}")
    try:
        value = float(least)
    except ValueError:
        raise ArgumentTypeError(f"{least!r} is not a number") from None
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{metric} is from 0 to 1, not {least}")
    return Gate(metric, value)


def refuse(reason: object) -> NoReturn:
    raise CommandError(str(reason), returncode=NO_ANSWER)


class Command(BaseCommand):
    help = "Run scenarios against configurations; with gates, fail when a configuration is below one."

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--suite", metavar="NAME")
        source.add_argument("--data", type=Path, metavar="FILE", help="a scenario file; it becomes a suite of its name")
        parser.add_argument("--scenario", action="append", default=[], metavar="ID", help="only this one; repeatable")
        parser.add_argument("--max-scenarios", type=int, metavar="N", help="only the first N")
        parser.add_argument(
            "--configurations", required=True, metavar="LIST", help='comma separated: "Front desk@1,Front desk@2"'
        )
        parser.add_argument("--repeats", type=int, default=1, metavar="N")
        parser.add_argument("--concurrency", type=int, default=4, metavar="N")
        parser.add_argument("--seed", type=int, metavar="N", help="the same seed, the same luck (default: random)")
        parser.add_argument("--no-real-time", action="store_true", help="send the caller's audio at once")
        parser.add_argument("--mode", choices=("text", "audio"), help="overrides scenarios and configurations")
        parser.add_argument(
            "--tool-fault",
            action="append",
            default=[],
            metavar="TOOL=MODE[:DETAIL]",
            help="repeatable; * is every tool",
        )
        parser.add_argument("--refresh-audio", action="store_true", help="have the caller's words spoken anew")
        parser.add_argument("--run-name", default="", metavar="S")
        parser.add_argument("--verbose", action="store_true", help="name every trial as it ends")
        parser.add_argument("--wait", action="store_true", help="until the run is over")
        parser.add_argument("--format", choices=("text", "json"), default="text", help="of the result on stdout")
        parser.add_argument(
            "--fail-under",
            type=gate,
            action="append",
            default=[],
            metavar="METRIC=N",
            help="implies --wait; repeatable",
        )
        parser.add_argument("--up", action="store_true", help="on a stack of its own, started and stopped for it")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["up"]:
            self.on_own_stack()
            return
        gates: list[Gate] = options["fail_under"]
        run = self.start(options)
        if not (options["wait"] or gates):
            self.show(run, options["format"])
            return
        self.wait_for(run, options["verbose"])
        run.refresh_from_db()
        results = self.show(run, options["format"])
        self.judge(results, gates)

    def start(self, options: dict[str, Any]) -> Run:
        try:
            configurations = chosen_configurations(options["configurations"])
            suite = suite_of(options["suite"], options["data"])
            versions = chosen_scenarios(suite, options["scenario"], options["max_scenarios"])
            require_worker()
            run = start_run(
                suite=suite,
                scenario_versions=versions,
                configuration_versions=configurations,
                repeats=options["repeats"],
                concurrency=options["concurrency"],
                seed=options["seed"],
                mode=options["mode"] or "",
                real_time=False if options["no_real_time"] else None,
                refresh_audio=options["refresh_audio"],
                tool_faults=read_faults("\n".join(options["tool_fault"])),
                name=options["run_name"],
            )
        except (SpecError, NotStored) as problem:
            refuse(problem)
        self.stderr.write(f"{run.trials.count()} trials: {address(run)}")
        return run

    def wait_for(self, run: Run, verbose: bool) -> None:
        told: set[int] = set()
        try:
            while True:
                run.refresh_from_db()
                if verbose:
                    self.tell_of_new(run, told)
                if run.is_over:
                    return
                time.sleep(LOOK_EVERY_S)
        except KeyboardInterrupt:
            raise CommandError(
                f"No longer waiting. The run goes on: {address(run)} (cancel it there)", returncode=INTERRUPTED
            ) from None

    def tell_of_new(self, run: Run, told: set[int]) -> None:
        fresh = run.trials.with_versions().filter(status="done").exclude(pk__in=told).order_by("finished_at")
        for trial in fresh:
            told.add(trial.pk)
            self.stderr.write(line_about(trial))

    def show(self, run: Run, form: str) -> dict[str, Any]:
        results = run_results(run)
        if form == "json":
            self.stdout.write(json.dumps(results, ensure_ascii=False, allow_nan=False, indent=2))
        elif run.is_over:
            self.stdout.write(as_text(results))
        return results

    def judge(self, results: dict[str, Any], gates: Sequence[Gate]) -> None:
        if not gates:
            return
        if results["status"] == "cancelled":
            refuse("the run was cancelled: no gate can be judged")
        if not results["trials"]["passed"] + results["trials"]["failed"]:
            refuse("no trial was graded: no gate can be judged")
        verdicts = [verdict for item in results["configurations"] for verdict in gate_verdicts(item, gates)]
        unknown = [text for state, text in verdicts if state == "unknown"]
        below = [text for state, text in verdicts if state == "below"]
        if below:
            raise CommandError("\n".join(below + unknown), returncode=BELOW_A_GATE)
        if unknown:
            refuse("\n".join(unknown))

    def on_own_stack(self) -> NoReturn:
        from runs_app.own_stack import CannotStart, run_beside_own_stack

        try:
            code = run_beside_own_stack(settings.DATA_DIR)
        except CannotStart as reason:
            refuse(reason)
        raise SystemExit(code)


def require_worker() -> None:
    for name in ("conversations", "grading"):
        if not liveness.wait_for(name, timeout_s=WORKER_PATIENCE_S):
            refuse(f"no {name} worker answers; start everything with `manage.py up`, or use --up")


def chosen_configurations(listed: str) -> list[ConfigurationVersion]:
    return [find_configuration_version(label.strip()) for label in listed.split(",") if label.strip()]


def suite_of(name: str | None, data: Path | None) -> Suite:
    if data is None:
        return find_suite(name or "")
    try:
        content = data.read_bytes()
    except OSError as error:
        refuse(f"{data} cannot be read: {error.strerror}")
    import_scenarios(data=content, suite_name=data.stem)
    return find_suite(data.stem)


def chosen_scenarios(suite: Suite, keys: Sequence[str], most: int | None) -> list[ScenarioVersion]:
    versions = newest_of(suite)
    if keys:
        by_key = {version.scenario.key.lower(): version for version in versions}
        unknown = [key for key in keys if key.lower() not in by_key]
        if unknown:
            refuse(f"suite {suite.name} has no scenario {', '.join(unknown)}")
        versions = [by_key[key] for key in dict.fromkeys(key.lower() for key in keys)]
    if most is not None and most < 1:
        refuse(f"--max-scenarios must be 1 or more, not {most}")
    return versions[:most]


def address(run: Run) -> str:
    return f"{settings.SITE_URL}{run.get_absolute_url()}"


def line_about(trial: Trial) -> str:
    stage = f" ({trial.stage})" if trial.stage else ""
    reason = f": {trial.reason}" if trial.reason and trial.outcome != Outcome.PASSED else ""
    where = f"{trial.scenario_version.scenario.key} · {trial.configuration_version} · repeat {trial.repeat}"
    return f"{trial.outcome}{stage}  {where}{reason}"


def gate_verdicts(item: dict[str, Any], gates: Sequence[Gate]) -> list[tuple[str, str]]:
    label = f"{item['name']}@{item['version']}"
    verdicts = []
    for limit in gates:
        metric = item["metrics"][limit.metric]
        value = metric.get("value", metric.get("mean"))
        if value is None:
            verdicts.append(("unknown", f"{label}: {limit.metric} was not measured in any of {metric['of']} trials"))
        elif value < limit.least:
            counted = f"{metric['n']} of {metric['of']} trials"
            verdicts.append(("below", f"{label}: {limit.metric} {value:.3f} is below {limit.least:g} ({counted})"))
    return verdicts


def as_text(results: dict[str, Any]) -> str:
    trials = results["trials"]
    outcomes = ("passed", "failed", "ungraded", "invalid", "cancelled")
    lines = [f"{results['status']}: " + ", ".join(f"{trials[name]} {name}" for name in outcomes)]
    for item in results["configurations"]:
        metrics = item["metrics"]
        shown = [f"{name} {_number(metrics[name])}" for name in (*GATES, "response_latency_ms")]
        lines.append(f"{item['name']}@{item['version']}: " + ", ".join(shown))
    return "\n".join(lines)


def _number(metric: dict[str, Any]) -> str:
    value = metric.get("value", metric.get("mean"))
    return f"{'-' if value is None else format(value, '.4g')} ({metric['n']}/{metric['of']})"
