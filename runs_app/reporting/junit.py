"""A run as JUnit XML: a test suite for each configuration, a test case for each trial.

The elements and attributes are those that the schemas of Ant (windyroad) and of Jenkins (junit-10) have in common, in
their order: what passed is therefore told in the suite's system-out, as Ant's test cases hold no text of their own.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from django.utils import timezone

from runs_app.models import Outcome, Run, RunConfiguration, Trial
from runs_app.reporting.redaction import Redactor
from runs_app.reporting.results import CheckRow, configurations_of, current_checks, exported, url_of

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FINDINGS = {Outcome.FAILED: "failure", Outcome.INVALID: "error"}

Checks = dict[int, list[CheckRow]]


def junit_xml(run: Run) -> bytes:
    """UTF-8 with its declaration. Invalid trials are errors, ungraded, cancelled and unfinished ones are skipped."""
    trials, redactor = exported(run)
    checks = current_checks(run)
    root = Element("testsuites")
    for place, entry in enumerate(configurations_of(run)):
        own = [trial for trial in trials if trial.configuration_version_id == entry.configuration_version_id]
        root.append(_suite(run, entry, place, own, checks, redactor))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _suite(
    run: Run, entry: RunConfiguration, place: int, trials: Sequence[Trial], checks: Checks, redactor: Redactor
) -> Element:
    label = str(entry.configuration_version)
    findings = [_FINDINGS.get(Outcome(trial.outcome)) if trial.outcome else None for trial in trials]
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
    _properties(suite, run, entry, redactor)
    for trial in trials:
        suite.append(_case(trial, label, checks.get(trial.pk, []), redactor))
    SubElement(suite, "system-out").text = _clean(redactor.text(_told(trials, checks)))
    SubElement(suite, "system-err")
    return suite


def _properties(suite: Element, run: Run, entry: RunConfiguration, redactor: Redactor) -> None:
    said = {
        "notice": redactor.notice,
        "run": url_of(run),
        "status": run.status,
        "simulated": "yes" if entry.simulated else "no",
        "seed": str(run.seed),
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
    tag = _FINDINGS.get(Outcome(outcome), "skipped") if trial.outcome else "skipped"
    because = f"{outcome} ({trial.stage})" if trial.stage else outcome
    reason = redactor.text(f"{because}: {trial.reason}" if trial.reason else because)
    if tag == "skipped":
        SubElement(case, tag, {"message": _clean(reason)})
        return case
    finding = SubElement(case, tag, {"type": _type_of(trial, checks), "message": _clean(reason)})
    finding.text = _clean(redactor.text("\n".join([url_of(trial), *map(_line, checks)])))
    return case


def _type_of(trial: Trial, checks: Sequence[CheckRow]) -> str:
    """The stage, else the first check that decided."""
    decided = (check["id"] for check in checks if check["required"] and check["status"] == "failed")
    return trial.stage or next(decided, trial.outcome)


def _told(trials: Sequence[Trial], checks: Checks) -> str:
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
