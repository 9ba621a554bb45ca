"""A run as JUnit XML: a test suite for each configuration, a test case for each trial.

The elements and attributes are those that the schemas of Ant (windyroad) and of Jenkins (junit-10) have in common, in
their order: what passed is therefore told in the suite's system-out, as Ant's test cases hold no text of their own.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from django.utils import timezone

from runs_app.known import open_marks, passing_in
from runs_app.models import Outcome, Run, RunConfiguration, Trial
from runs_app.reporting.redaction import Redactor
from runs_app.reporting.results import (
    CheckRow,
    configurations_of,
    current_checks,
    exported,
    known_in_words,
    url_of,
)

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FINDINGS = {Outcome.FAILED: "failure", Outcome.INVALID: "error"}

Checks = dict[int, list[CheckRow]]


@dataclass(frozen=True)
class _Told:
    """What every suite is told with. `passes`: what is marked as a known failure and passed every time."""

    run: Run
    checks: Checks
    redactor: Redactor
    passes: tuple[str, ...]


def junit_xml(run: Run) -> bytes:
    """UTF-8 with its declaration. Invalid trials are errors; known failures, ungraded, cancelled and unfinished trials
    are skipped."""
    trials, redactor = exported(run)
    passes = [str(one.mark) for one in passing_in(run, open_marks())] if run.is_over else []
    told = _Told(run, current_checks(run), redactor, tuple(passes))
    root = Element("testsuites")
    for place, entry in enumerate(configurations_of(run)):
        own = [trial for trial in trials if trial.configuration_version_id == entry.configuration_version_id]
        root.append(_suite(told, entry, place, own))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _suite(told: _Told, entry: RunConfiguration, place: int, trials: Sequence[Trial]) -> Element:
    run = told.run
    label = str(entry.configuration_version)
    findings = [_finding(trial) for trial in trials]
    begun = run.started_at or run.created_at
    suite = Element(
        "testsuite",
        {
            "name": _clean(label),
            "package": _clean(str(run.suite or run)),
            "id": str(place),
            "tests": str(len(trials)),
            "failures": str(findings.count("failure")),
            "errors": str(findings.count("error")),
            "time": f"{sum(_seconds(trial) for trial in trials):.3f}",
            "timestamp": begun.astimezone(timezone.get_default_timezone()).strftime("%Y-%m-%dT%H:%M:%S"),
            "hostname": _clean(socket.gethostname() or "localhost"),
        },
    )
    _properties(suite, told, entry, trials)
    for trial in trials:
        suite.append(_case(trial, label, told.checks.get(trial.pk, []), told.redactor))
    SubElement(suite, "system-out").text = _clean(told.redactor.text(_lines(trials, told.checks)))
    SubElement(suite, "system-err")
    return suite


def _properties(suite: Element, told: _Told, entry: RunConfiguration, trials: Sequence[Trial]) -> None:
    said = {
        "notice": told.redactor.notice,
        "run": url_of(told.run),
        "status": told.run.status,
        "simulated": "yes" if entry.simulated else "no",
        "seed": str(told.run.seed),
        "known_failures": str(sum(trial.mark is not None for trial in trials)),
        "known_failures_that_pass": ", ".join(told.passes),
    }
    properties = SubElement(suite, "properties")
    for name, value in said.items():
        SubElement(properties, "property", {"name": name, "value": _clean(value)})


def _case(trial: Trial, label: str, checks: Sequence[CheckRow], redactor: Redactor) -> Element:
    name = f"{trial.scenario_version.scenario.key}, repeat {trial.repeat}"
    case = Element("testcase", {"name": name, "classname": _clean(label), "time": f"{_seconds(trial):.3f}"})
    outcome = trial.outcome or trial.status
    if outcome == Outcome.PASSED:
        return case
    tag = _finding(trial) or "skipped"
    because = f"{outcome} ({trial.stage})" if trial.stage else outcome
    known = f"known ({known_in_words(trial)}), " if trial.mark else ""
    reason = redactor.text(f"{known}{because}: {trial.reason}" if trial.reason else f"{known}{because}")
    if tag == "skipped":
        SubElement(case, tag, {"message": _clean(reason)})
        return case
    finding = SubElement(case, tag, {"type": _type_of(trial, checks), "message": _clean(reason)})
    finding.text = _clean(redactor.text("\n".join([url_of(trial), *map(_line, checks)])))
    return case


def _finding(trial: Trial) -> str | None:
    """The element that a trial is told by, when it is one that a build should stop at."""
    return _FINDINGS.get(Outcome(trial.outcome)) if trial.outcome and trial.mark is None else None


def _type_of(trial: Trial, checks: Sequence[CheckRow]) -> str:
    """The stage, else the first check that decided."""
    decided = (check["id"] for check in checks if check["required"] and check["status"] == "failed")
    return trial.stage or next(decided, trial.outcome)


def _lines(trials: Sequence[Trial], checks: Checks) -> str:
    lines = []
    for trial in trials:
        name = f"{trial.scenario_version.scenario.key}, repeat {trial.repeat}"
        lines.append(f"{trial.outcome or trial.status}  {name}  {url_of(trial)}")
        lines += [f"    {_line(check)}" for check in checks.get(trial.pk, []) if check["required"]]
    return "\n".join(lines)


def _line(check: CheckRow) -> str:
    decides = "" if check["required"] else " (decides nothing)"
    return f"{check['status']}  {check['id']}{decides}: {check['reason']}"


def _seconds(trial: Trial) -> float:
    """How long the conversation lasted; 0 when there was none."""
    if trial.started_at is None or trial.recorded_at is None:
        return 0.0
    return max(0.0, (trial.recorded_at - trial.started_at).total_seconds())


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    return _NOT_XML.sub("", text)
