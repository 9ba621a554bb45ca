"""The session that a configuration would open, to be read: address, headers and first messages, exactly as the plan of
a trial has them. Nothing is opened, and no secret is filled in: each stands there by its name.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured

from runs_app.realtime.endpoints import EndpointError
from runs_app.realtime.frames import REMOVED
from runs_app.realtime.plan import SECRET_NAME, Plan, PlanError
from runs_app.services import secrets, tooling
from runs_app.services.addresses import NoSimulator, agent_url, backend_url, service_url
from runs_app.services.backends import backend_endpoint
from runs_app.services.connection import silent_plan, stored_application
from runs_app.services.refusal import CannotPlan
from runs_app.services.secrets import Destination, SecretError
from scenarios_app.models import ConfigurationVersion, ScenarioVersion
from scenarios_app.presentation import pretty_json
from scenarios_app.services.applications import find_application_version
from scenarios_app.services.reports import NotStored
from scenarios_app.spec.application import Application, parse_application
from scenarios_app.spec.configuration import Configuration, parse_configuration
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.scenario import Scenario, parse_scenario

_QUERY_VALUE = re.compile(r"(?<=[?&])(?P<name>[^=&#]*)=(?P<value>[^&#]*)")
_FAULTS = (SpecError, SecretError, EndpointError, NoSimulator, NotStored, ImproperlyConfigured, PlanError)


@dataclass(frozen=True)
class Sent:
    """One event that goes out, as JSON text, and when it does."""

    title: str
    text: str


@dataclass(frozen=True)
class SessionPreview:
    """`command` opens the same connection in a shell with websocat, once the names of secrets are filled in."""

    command: str
    mode: str
    sent: tuple[Sent, ...]


@dataclass(frozen=True)
class SecretUse:
    """A secret that a configuration names. `problem` is empty when it may go to `place` and has a value."""

    name: str
    field: str
    place: str
    problem: str


@dataclass(frozen=True)
class KnownSecret:
    """A secret that the operator listed. `is_set`: its variable has a value."""

    name: str
    places: tuple[str, ...]
    is_set: bool


def known_secrets() -> tuple[KnownSecret, ...]:
    """By name, what a configuration of this site may name. Raises ImproperlyConfigured."""
    listed = secrets.declared().items()
    return tuple(KnownSecret(name, tuple(map(str, places)), secrets.is_set(name)) for name, places in listed)


def preview_session(version: ConfigurationVersion, scenario: ScenarioVersion | None = None) -> SessionPreview:
    """With a scenario also what it lets the agent know. Raises CannotPlan."""
    try:
        configuration = parse_configuration(version.content)
        spec = parse_scenario(scenario.content) if scenario else None
        plan = silent_plan(configuration, _application(configuration, spec), _as_written(configuration), spec)
    except _FAULTS as error:
        raise CannotPlan("configuration", error) from error
    return SessionPreview(_command(plan), plan.mode, tuple(_sent(plan)))


def secret_uses(version: ConfigurationVersion) -> tuple[SecretUse, ...]:
    """Every secret that the configuration names, by field. Raises SpecError, and ImproperlyConfigured."""
    configuration = parse_configuration(version.content)
    return tuple(_uses(configuration))


def _application(configuration: Configuration, scenario: Scenario | None) -> Application | None:
    own = scenario.application.ref if scenario else None
    if own is None:
        return stored_application(configuration)
    label = own.name if own.version is None else f"{own.name}@{own.version}"
    return parse_application(find_application_version(label).content)


def _as_written(configuration: Configuration) -> Destination:
    """The agent's address with trial values filled in, for the first trial of a run, and secrets by their names."""
    url = agent_url(configuration.endpoint, protocol=configuration.protocol)
    headers = {name: _masked(name, _filled(value)) for name, value in configuration.headers.items()}
    return Destination(_masked_query(_filled(url)), headers, None, None, _filled(configuration.model), ())


def _filled(template: str) -> str:
    return secrets.redact(secrets.with_trial_values(template, tooling.NOBODY))


def _masked(name: str, value: str) -> str:
    """A key that was written down instead of named is not shown."""
    return REMOVED if SECRET_NAME.search(name) and not secrets.named_in(value) else value


def _masked_query(url: str) -> str:
    return _QUERY_VALUE.sub(lambda found: f"{found['name']}={_masked(found['name'], found['value'])}", url)


def _command(plan: Plan) -> str:
    headers = (f"-H {shlex.quote(f'{name}: {value}')}" for name, value in plan.headers.items())
    return " \\\n  ".join(["websocat", *headers, shlex.quote(plan.url)])


def _sent(plan: Plan) -> Iterable[Sent]:
    opening = plan.dialect.session_update(plan.session, "soundcheck_1")
    when = "once the socket is open" if plan.protocol == "live" else "once the server told session.created"
    yield Sent(f"{opening['type']}, {when}", pretty_json(opening))
    for number, (role, text) in enumerate(plan.history, 1):
        message = pretty_json(plan.dialect.message(role, text))
        yield Sent(f"conversation before the call, {number} of {len(plan.history)}", message)


def _uses(configuration: Configuration) -> Iterable[SecretUse]:
    query = configuration.endpoint.partition("?")[2]
    of_agent = {"endpoint": query, **{f"headers.{name}": value for name, value in configuration.headers.items()}}
    yield from _used_at(_agent_place(configuration), "", of_agent)
    for name, service in (("caller", configuration.caller), ("judge", configuration.judge)):
        if service is not None:
            yield from _used_at(_service_place(service.endpoint, name), f"{name}.", {"api_key": service.api_key})
    if (persona := configuration.persona) is not None:
        yield from _used_at(_service_place(persona.endpoint, "persona"), "persona.", {"api_key": persona.api_key})
    if (backend := configuration.backend) is not None:
        keys = {"api_key": backend.api_key, "token": backend.token}
        yield from _used_at(_backend_place(backend_endpoint(backend, configuration)), "backend.", keys)


def _agent_place(configuration: Configuration) -> str:
    try:
        return agent_url(configuration.endpoint, protocol=configuration.protocol)
    except (NoSimulator, EndpointError):
        return configuration.endpoint


def _service_place(endpoint: str, at: str) -> str:
    try:
        return service_url(endpoint, field=f"{at}.endpoint")
    except (NoSimulator, EndpointError):
        return endpoint


def _backend_place(endpoint: str) -> str:
    try:
        return backend_url(endpoint)
    except (NoSimulator, EndpointError):
        return endpoint


def _used_at(url: str, at: str, fields: Mapping[str, str | None]) -> Iterable[SecretUse]:
    for field, template in fields.items():
        for name in secrets.named_in(template):
            yield SecretUse(name, f"{at}{field}", url.partition("?")[0], _problem(url, name))


def _problem(url: str, name: str) -> str:
    """Why this secret cannot go to that address; of its value nothing is told."""
    try:
        secrets.render(url=url.partition("?")[0], context=tooling.NOBODY, api_key=f"{{{{secrets.{name}}}}}")
    except SecretError as error:
        return error.message
    except ImproperlyConfigured as error:
        return str(error)
    return ""
