"""From the endpoints of a configuration to addresses that can be opened. The word `simulator` is our own one."""

from __future__ import annotations

from django.conf import settings

from runs_app.models import Trial
from runs_app.realtime.endpoints import api_base_url, http_url, websocket_url
from runs_app.services.secrets import TemplateContext
from scenarios_app.spec.configuration_rules import SIMULATOR

_AGENTS = {"realtime": "/v1/realtime", "live": "/v1/live/sessions"}


class NoSimulator(Exception):
    """The configuration means the simulator, and none runs."""

    def __init__(self, field: str) -> None:
        super().__init__(
            f"{field}: no simulator runs; start everything with `manage.py up`, or name one in SIMULATOR_URL"
        )


def agent_url(endpoint: str, *, protocol: str) -> str:
    """The websocket address of the agent. Raises NoSimulator and EndpointError."""
    if endpoint == SIMULATOR:
        return f"{websocket_url(_simulator('endpoint'))}{_AGENTS[protocol]}"
    return websocket_url(endpoint)


def service_url(endpoint: str, *, field: str) -> str:
    """The http address of a speech service or a judge. Raises NoSimulator and EndpointError."""
    return f"{http_url(_simulator(field))}/v1" if endpoint == SIMULATOR else http_url(endpoint)


def backend_url(endpoint: str) -> str:
    """The address of our own backend: the base of a Responses API, or a remote assistant's socket. Raises NoSimulator
    and EndpointError."""
    if endpoint.startswith(("ws://", "wss://")):
        return endpoint
    return api_base_url(service_url(endpoint, field="backend.endpoint"))


def _simulator(field: str) -> str:
    if not settings.SIMULATOR_URL:
        raise NoSimulator(field)
    return str(settings.SIMULATOR_URL).removesuffix("/v1")


def template_context(trial: Trial) -> TemplateContext:
    return TemplateContext(trial_seed=trial.seed, trial_repeat=trial.repeat, run_seed=trial.run.seed)
