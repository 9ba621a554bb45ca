"""Where a trial's own backend is: the one that does what its voice hands on."""

from __future__ import annotations

from runs_app.models import Trial
from runs_app.realtime.delegation.planning import Address
from runs_app.services import secrets
from runs_app.services.addresses import backend_url, template_context
from scenarios_app.spec.configuration import OPENAI, Backend, Configuration
from scenarios_app.spec.configuration_rules import SIMULATOR


def backend_of(trial: Trial, configuration: Configuration) -> Address | None:
    """None where the voice thinks for itself, or with a backend of its provider. Raises SecretError, EndpointError and
    NoSimulator."""
    backend = configuration.own_backend
    if backend is None:
        return None
    there = secrets.render(
        url=backend_url(backend_endpoint(backend, configuration)),
        context=template_context(trial),
        api_key=backend.api_key,
        token=backend.token,
        at="backend.",
    )
    return Address(there.url, there.api_key, there.token)


def backend_endpoint(backend: Backend, configuration: Configuration) -> str:
    """One that is not named is where the agent is simulated, or else at OpenAI."""
    return backend.endpoint or (SIMULATOR if configuration.endpoint == SIMULATOR else OPENAI)
