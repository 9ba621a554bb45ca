"""Try once now: one conversation of the scenario that stands in a form, before anybody saves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs_app.models import Run
from runs_app.services.runs import start_run
from runs_app.services.temporary import KEPT_FOR, throw_away
from scenarios_app.models import ConfigurationVersion
from scenarios_app.services.temporary import make_temporary_scenario

_UNNAMED = {"id": "draft", "title": "Draft"}


def try_scenario(*, content: Mapping[str, Any], configuration_version: ConfigurationVersion, user: User) -> Run:
    """One trial, of which only this person learns. The tries that he made before go.

    Raises SpecError for content that cannot be run.
    """
    named = with_name(content)
    with transaction.atomic():
        version = make_temporary_scenario(content=named, user=user)
        run = start_run(
            name=f"Try of {named['id']}",
            scenario_versions=[version],
            configuration_versions=[configuration_version],
            repeats=1,
            concurrency=1,
            temporary_until=timezone.now() + KEPT_FOR,
            user=user,
        )
    for earlier in Run.everything.tries_of(user).filter(pk__lt=run.pk):
        throw_away(run=earlier)
    return run


def with_name(content: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in a form needs no name yet."""
    return {**content, **{name: content.get(name) or value for name, value in _UNNAMED.items()}}
