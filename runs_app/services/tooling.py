"""Who answers the tools of an application on this site: endpoints that the operator allows, classes he registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from runs_app.realtime import http_tool, python_tool
from runs_app.realtime.application import now_text
from runs_app.realtime.application_problems import problems
from runs_app.realtime.endpoints import EndpointError, Origin, bare_origin, origin
from runs_app.realtime.http_tool import HttpTool
from runs_app.realtime.python_tool import Answering, PythonTool
from runs_app.realtime.tool_backends import Backend
from runs_app.services import secrets
from runs_app.services.secrets import SecretError, TemplateContext
from scenarios_app.spec.application import Application, HttpBehaviour, Tool
from scenarios_app.spec.errors import Problem, SpecError, refuse_if

NOBODY = TemplateContext(trial_seed=0, trial_repeat=1, run_seed=0)  # where there is no trial yet


def application_problems(application: Application) -> list[Problem]:
    """Everything that would stop a trial with this application here, each with its field."""
    return [*problems(application), *local_problems(application)]


def local_problems(application: Application) -> list[Problem]:
    """What this site's settings do not serve: endpoints, classes and secrets that are not allowed or known."""
    return _collect(application, NOBODY, {})[1]


def backends_of(
    application: Application | None,
    *,
    context: TemplateContext,
    trial: Mapping[str, Any],
    reference_date: str | None,
    started_at: datetime,
) -> dict[str, Backend]:
    """By tool. `trial` is what endpoints and classes learn of who asks. Raises SpecError."""
    if application is None:
        return {}
    now = now_text(reference_date, started_at)
    told = {"facts": application.facts, "reference_date": reference_date, "now": now, "trial": dict(trial)}
    backends, found = _collect(application, context, told)
    refuse_if(found)
    return backends


def _collect(
    application: Application, context: TemplateContext, told: Mapping[str, Any]
) -> tuple[dict[str, Backend], list[Problem]]:
    backends: dict[str, Backend] = {}
    found: list[Problem] = []
    made: dict[str, list[Answering]] = {}
    for index, tool in enumerate(application.tools):
        try:
            if tool.http is not None:
                backends[tool.name] = _http(tool.http, context, told)
            elif tool.python is not None:
                backends[tool.name] = _python(tool.python, told, made.setdefault(tool.python, []))
        except SpecError as error:
            found += [problem.under(f"tools[{index}]") for problem in error.problems]
    return backends, found


def endpoint_of(tool: Tool) -> HttpTool:
    """Who answers this tool, which has an endpoint, where there is no trial. Raises SpecError."""
    assert tool.http is not None
    return _http(tool.http, NOBODY, {})


def _http(http: HttpBehaviour, context: TemplateContext, told: Mapping[str, Any]) -> HttpTool:
    try:
        there = secrets.render(url=http.url, context=context, headers=http.headers)
        place = origin(there.url)
    except SecretError as error:
        raise _refusal(f"http.{'url' if error.field == 'endpoint' else error.field}", error.message) from error
    except (EndpointError, ImproperlyConfigured) as error:
        raise _refusal("http.url", str(error)) from error
    if place not in allowed_origins():
        raise _refusal("http.url", f"{place} may not be asked: the operator has not listed it in TOOL_ENDPOINTS")
    return HttpTool(
        url=there.url,
        headers=there.headers,
        timeout_s=float(http.timeout or http_tool.TIMEOUT_S),
        send_state=http.send_state,
        trial=told.get("trial", {}),
    )


def allowed_origins() -> tuple[Origin, ...]:
    """Of TOOL_ENDPOINTS. Raises ImproperlyConfigured."""
    try:
        return tuple(bare_origin(text) for text in settings.TOOL_ENDPOINTS)
    except EndpointError as error:
        raise ImproperlyConfigured(f"TOOL_ENDPOINTS: {error}") from error


def _python(name: str, told: Mapping[str, Any], made: list[Answering]) -> PythonTool:
    return PythonTool(name, _registered(name), told, python_tool.TIMEOUT_S, made)


def _registered(name: str) -> Callable[[Mapping[str, Any]], Answering]:
    known: Mapping[str, str] = settings.TOOL_CLASSES
    if name not in known:
        there = f"; there are: {', '.join(sorted(known))}" if known else ", and none is registered"
        raise _refusal("python", f'"{name}" is not registered in TOOL_CLASSES{there}')
    try:
        found: Callable[[Mapping[str, Any]], Answering] = import_string(known[name])
    except ImportError as error:
        raise _refusal("python", f"TOOL_CLASSES, {name}: {error}") from error
    return found


def _refusal(path: str, message: str) -> SpecError:
    return SpecError([Problem(path, message)])
