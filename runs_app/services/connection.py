"""Whether a configuration can be talked with: its session opened by the engine as for a trial, and closed again.

Nothing is said and nothing is stored. Everything that comes back is free of secrets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from runs_app.realtime.application import ApplicationExecutor
from runs_app.realtime.endpoints import EndpointError, shown
from runs_app.realtime.frames import REMOVED, without_audio
from runs_app.realtime.plan import MIN_CALLER_AUDIO_MS, Mode, Plan, PlanError, build_plan
from runs_app.realtime.probe import Change, Probe, probe, session_changes
from runs_app.realtime.record import SAMPLES_PER_MS, Json
from runs_app.services import secrets, tooling
from runs_app.services.addresses import NoSimulator, agent_url
from runs_app.services.refusal import CannotPlan
from runs_app.services.secrets import Destination, SecretError
from scenarios_app.models import ConfigurationVersion
from scenarios_app.services.configurations import referred_application
from scenarios_app.services.reports import NotStored
from scenarios_app.spec.application import Application, parse_application
from scenarios_app.spec.configuration import Configuration, parse_configuration
from scenarios_app.spec.configuration_rules import SIMULATOR
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.lint import lint_configuration
from scenarios_app.spec.scenario import Scenario, parse_scenario

DEADLINE_S = 20.0

WARNINGS = {
    "session_not_acknowledged": "The server did not confirm session.update ({}). Trials go on without it, and"
    " nobody knows whether the settings hold.",
    "dialect_mismatch": "Another dialect: {}.",
    "audio_format": "Other audio: {}.",
    "close_not_answered": "The server did not answer our close ({}).",
    "malformed_frame": "The server sent what is not JSON: {}.",
}


@dataclass(frozen=True)
class Prepared:
    """What a test needs, rendered. `warnings` can be told without a connection."""

    plan: Plan
    model: str
    warnings: tuple[str, ...]
    simulated: bool


@dataclass(frozen=True)
class Connection:
    """What came of a test. Without a session `stage` and `message` say why, as they would of an invalid trial.

    `session`: as the server told it last, `confirmed` if that was after our session.update; `asked`: our own.
    """

    stage: str = ""
    message: str = ""
    address: str = ""
    mode: str = ""
    simulated: bool = False
    ready_ms: float | None = None
    confirmed: bool = False
    asked: Json = None
    session: Json = None
    changes: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def opened(self) -> bool:
        return not self.stage

    @property
    def changed(self) -> list[Change]:
        return [change for change in self.changes if change.is_told]

    @property
    def unmentioned(self) -> list[Change]:
        return [change for change in self.changes if not change.is_told]


def prepare_connection(version: ConfigurationVersion) -> Prepared:
    """Reads, renders and checks all that needs no network. Raises CannotPlan."""
    try:
        configuration = parse_configuration(version.content)
        application = stored_application(configuration)
        agent = secrets.render(
            url=agent_url(configuration.endpoint, protocol=configuration.protocol),
            context=tooling.NOBODY,
            headers=configuration.headers,
            model=configuration.model,
        )
        plan = silent_plan(configuration, application, agent)
    except (SpecError, SecretError, EndpointError, NoSimulator, NotStored, ImproperlyConfigured, PlanError) as error:
        raise CannotPlan("configuration", error) from error
    return Prepared(
        plan=plan,
        model=agent.model or configuration.model,
        warnings=tuple(_remarks(configuration, application)),
        simulated=configuration.endpoint == SIMULATOR,
    )


async def open_connection(prepared: Prepared) -> Connection:
    """Opens the session and closes it, in DEADLINE_S at most."""
    plan = prepared.plan
    found = await probe(plan, deadline_s=DEADLINE_S)
    record, ending = found.record, found.record.ending
    asked = without_audio({"session": {"model": prepared.model, **plan.session}})["session"]
    changes = session_changes(asked, record.session) if record.session_acknowledged else []
    return _free_of_secrets(
        Connection(
            stage=ending.stage or "" if ending.kind != "completed" else "",
            message=ending.message if ending.kind != "completed" else "",
            address=shown(plan.url),
            mode=plan.mode,
            simulated=prepared.simulated,
            ready_ms=found.ready_ms,
            confirmed=record.session_acknowledged,
            asked=asked,
            session=record.session,
            changes=tuple(changes),
            warnings=(*prepared.warnings, *_warnings(found)),
        ),
        plan.secrets,
    )


def stored_application(configuration: Configuration) -> Application | None:
    """Raises NotStored."""
    version = referred_application(configuration)
    return parse_application(version.content) if version else None


def silent_plan(
    configuration: Configuration,
    application: Application | None,
    agent: Destination,
    scenario: Scenario | None = None,
) -> Plan:
    """A plan to look at or to open a session with; nobody may play it. Raises PlanError."""
    scenario = scenario or _nobody_says_a_word()
    mode: Mode = scenario.mode or configuration.mode
    silence = np.zeros(MIN_CALLER_AUDIO_MS * SAMPLES_PER_MS, dtype=np.int16)
    return build_plan(
        configuration=configuration,
        scenario=scenario,
        application=application,
        url=agent.url,
        headers=agent.headers,
        model=agent.model,
        caller_audio=(silence,) * (1 + len(scenario.input.turns or ())),  # a plan wants them; they are never sent
        executor=ApplicationExecutor(None),
        mode=mode,
    )


def _nobody_says_a_word() -> Scenario:
    return parse_scenario(
        {
            "id": "connection",
            "title": "Test of the connection",
            "interaction": "single_turn",
            "input": {"text": "(nothing is said)"},
            "application": {"initial_state": {}},
            "expected": {"answer": "(nothing)"},
        }
    )


def _remarks(configuration: Configuration, application: Application | None) -> Iterable[str]:
    for remark in lint_configuration(configuration):
        yield f"{remark.path}: {remark.message}"
    if application is not None:
        for problem in tooling.application_problems(application):
            yield f"The application {application.name} cannot be run here: {problem}"


def _warnings(found: Probe) -> Iterable[str]:
    for name, detail in found.warnings:
        yield WARNINGS[name].format(detail) if name in WARNINGS else f"{name}: {detail}"
    if unknown := found.record.unknown_events:
        yield f"The server sent events that nobody here knows: {', '.join(sorted(unknown))}."


def _free_of_secrets(found: Connection, hidden: tuple[str, ...]) -> Connection:
    """Also of keys that were written into a header instead of named: servers repeat them in their refusals."""
    fields = {name: _cleaned(value, hidden) for name, value in vars(found).items() if name != "changes"}
    changes = tuple(Change(**_cleaned(dict(vars(change)), hidden)) for change in found.changes)
    return Connection(**fields, changes=changes)


def _cleaned(value: Any, hidden: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        for text in hidden:
            value = value.replace(text, REMOVED)
        return secrets.redact(value)
    if isinstance(value, dict):
        return {_cleaned(key, hidden): _cleaned(item, hidden) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_cleaned(item, hidden) for item in value)
    return value
