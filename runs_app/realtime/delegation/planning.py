"""Which backend a trial has, from its configuration: the provider's, ours, a remote assistant, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from runs_app.realtime.context import context_elsewhere, context_of, history_of, with_context
from runs_app.realtime.delegation.assistant import Delegate, is_remote
from runs_app.realtime.dialects.base import Body
from scenarios_app.spec.application import Application
from scenarios_app.spec.configuration import Configuration
from scenarios_app.spec.scenario import Scenario


@dataclass(frozen=True)
class Address:
    """Where our own backend is, with its secrets filled in."""

    url: str = field(repr=False)
    api_key: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)


def delegate_of(
    configuration: Configuration,
    scenario: Scenario,
    application: Application | None,
    tools: Sequence[Body],
    address: Address | None,
) -> Delegate | None:
    """None where no task is ours to do. `tools`: the application's, and those of session_update."""
    backend = configuration.own_backend
    if backend is None or address is None:
        return None
    context = context_elsewhere(scenario) if is_remote(address.url) else context_of(scenario, application)
    return Delegate(
        endpoint=address.url,
        model=backend.model,
        instructions=with_context(backend.instructions or configuration.instructions, context),
        tools=tuple({key: value for key, value in tool.items() if value} for tool in tools),
        history=history_of(scenario),
        api_key=address.api_key,
        token=address.token,
        reasoning=backend.reasoning,
        verbosity=backend.verbosity,
        max_output_tokens=backend.max_output_tokens,
    )
