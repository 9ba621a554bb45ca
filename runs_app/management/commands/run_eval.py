"""Starts a run from the shell, waits for it, and judges it by gates. See docs/running.md for its exit codes."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from runs_app import ctrl_c
from runs_app.models import Run
from runs_app.reporting.baseline_gate import FAIL_IF, judge_against, too_many
from runs_app.reporting.crawl.tree import NotEmpty, require_empty, write_tree
from runs_app.reporting.gates import Gate, Verdict, as_text, gate, gate_document, judge, line_about
from runs_app.reporting.junit import junit_xml
from runs_app.reporting.results import run_results
from runs_app.services import liveness
from runs_app.services.baselines import baseline_of
from runs_app.services.runs import start_run
from runs_app.services.snapshots import newest_of
from scenarios_app.models import ConfigurationVersion, ScenarioVersion, Suite
from scenarios_app.services.configurations import find_configuration_version
from scenarios_app.services.reports import NotStored
from scenarios_app.services.scenario_files import import_scenarios
from scenarios_app.services.suites import find_suite
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.tool_faults import read_faults

WORKER_PATIENCE_S = 10.0
LOOK_EVERY_S = 0.5

BELOW_A_GATE = 1
NO_ANSWER = 2  # it could not be run, or what came of it cannot be judged
INTERRUPTED = 130


def refuse(reason: object) -> NoReturn:
    raise CommandError(str(reason), returncode=NO_ANSWER)


def _add_results(parser: CommandParser) -> None:
    """Options about what becomes of the run, and how it is told."""
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
    parser.add_argument(
        "--baseline",
        nargs="?",
        const="",
        metavar="NAME@V",
        help="hold the run against it; without a name against the baseline that was promoted for the suite",
    )
    parser.add_argument(
        "--fail-if",
        choices=FAIL_IF,
        action="append",
        default=[],
        help="against the baseline; repeatable, worse by default; implies --wait",
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write JUnit XML; implies --wait")
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="also write CRAWL's file tree into a new folder; implies --wait"
    )
    parser.add_argument("--up", action="store_true", help="on a stack of its own, started and stopped for it")


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
        parser.add_argument(
            "--stop-after-invalid", type=int, metavar="N", help="cancel the rest once N trials were invalid"
        )
        parser.add_argument("--refresh-audio", action="store_true", help="have the caller's words spoken anew")
        _add_results(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["up"]:
            self.on_own_stack()
            return
        with ctrl_c.remembered() as pressed:
            self.run(options, pressed)

    def run(self, options: dict[str, Any], pressed: threading.Event) -> None:
        gates: list[Gate] = options["fail_under"]
        require_places(options["junit"], options["output"])
        against = options["baseline"] is not None
        if options["fail_if"] and not against:
            refuse("--fail-if needs --baseline")
        try:
            run, baseline = self.start(options)
        except KeyboardInterrupt:
            raise CommandError("Interrupted. The run goes on if it had begun.", returncode=INTERRUPTED) from None
        if not (options["wait"] or gates or against or options["junit"] or options["output"]):
            self.show(run_results(run), options["format"])
            return
        self.wait_for(run, options["verbose"], pressed)
        run.refresh_from_db()
        results = run_results(run)
        verdict = judge(results, gates)
        if baseline is not None:
            judged = judge_against(baseline, run, results, options["fail_if"] or ["worse"])
            results["baseline"] = judged.document
            verdict = Verdict((*verdict.below, *judged.failed), (*verdict.unknown, *judged.unknown))
        results["gate"] = gate_document(verdict, judged=bool(gates) or against)
        self.show(results, options["format"])
        self.write(run, options["junit"], options["output"])
        self.end(verdict)

    def start(self, options: dict[str, Any]) -> tuple[Run, ConfigurationVersion | None]:
        try:
            configurations = chosen_configurations(options["configurations"])
            suite = suite_of(options["suite"], options["data"])
            baseline = baseline_version(options["baseline"], suite)
            if baseline is not None and (problem := too_many(sum(one != baseline for one in configurations))):
                refuse(problem)
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
                stop_after_invalid=options["stop_after_invalid"],
                name=options["run_name"],
            )
        except (SpecError, NotStored) as problem:
            refuse(problem)
        self.stderr.write(f"{run.trials.count()} trials: {address(run)}")
        return run, baseline

    def wait_for(self, run: Run, verbose: bool, pressed: threading.Event) -> None:
        told: set[int] = set()
        try:
            while True:
                run.refresh_from_db()
                if verbose:
                    self.tell_of_new(run, told)
                if run.is_over:
                    return
                if pressed.wait(LOOK_EVERY_S):
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise CommandError(
                f"No longer waiting. The run goes on: {address(run)} (cancel it there)", returncode=INTERRUPTED
            ) from None

    def tell_of_new(self, run: Run, told: set[int]) -> None:
        fresh = run.trials.with_versions().filter(status="done").exclude(pk__in=told).order_by("finished_at")
        for trial in fresh:
            told.add(trial.pk)
            self.stderr.write(line_about(trial))

    def show(self, results: dict[str, Any], form: str) -> None:
        if form == "json":
            self.stdout.write(json.dumps(results, ensure_ascii=False, allow_nan=False, indent=2))
        elif results["status"] in ("done", "cancelled"):
            self.stdout.write(as_text(results))

    def end(self, verdict: Verdict) -> None:
        if verdict.below:
            raise CommandError("\n".join([*verdict.below, *verdict.unknown]), returncode=BELOW_A_GATE)
        if verdict.unknown:
            refuse("\n".join(verdict.unknown))

    def write(self, run: Run, junit: Path | None, tree: Path | None) -> None:
        try:
            if junit is not None:
                junit.write_bytes(junit_xml(run))
            if tree is not None:
                write_tree(run, tree)
        except (OSError, NotEmpty) as error:
            refuse(f"the run is over, but its files cannot be written: {error}")
        for written in filter(None, (junit, tree)):
            self.stderr.write(f"wrote {written}")

    def on_own_stack(self) -> NoReturn:
        from runs_app.own_stack import StackEnded, run_beside_own_stack

        try:
            code = run_beside_own_stack(settings.DATA_DIR)
        except StackEnded as reason:
            refuse(reason)
        raise SystemExit(code)


def require_places(junit: Path | None, tree: Path | None) -> None:
    """Before anything is spent: the files of the end must have a place."""
    if junit is not None and (junit.is_dir() or not junit.parent.is_dir()):
        refuse(f"--junit {junit} cannot be written: " + ("it is a folder" if junit.is_dir() else "there is no folder"))
    if tree is not None:
        try:
            require_empty(tree)
        except (NotEmpty, OSError) as error:
            refuse(f"--output: {error}")


def require_worker() -> None:
    for name in ("conversations", "grading"):
        if not liveness.wait_for(name, timeout_s=WORKER_PATIENCE_S):
            refuse(f"no {name} worker answers; start everything with `manage.py up`, or use --up")


def chosen_configurations(listed: str) -> list[ConfigurationVersion]:
    return [find_configuration_version(label.strip()) for label in listed.split(",") if label.strip()]


def baseline_version(label: str | None, suite: Suite) -> ConfigurationVersion | None:
    """Before anything is spent: an unknown baseline ends it here."""
    if label is None:
        return None
    if label:
        return find_configuration_version(label)
    promoted = baseline_of(suite)
    if promoted is None:
        refuse(f"suite {suite.name} has no promoted baseline: promote one, or name it with --baseline NAME@VERSION")
    return promoted.configuration_version


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
