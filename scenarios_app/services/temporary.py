"""Scenarios and configurations that exist only while they are tried out: what stands in a form, without a save.

They are ordinary versions, so that the engine needs to know nothing, of things that no list, search or choice shows.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from scenarios_app.models import Configuration, ConfigurationVersion, Scenario, ScenarioVersion
from scenarios_app.services.configurations import checked_configuration
from scenarios_app.services.scenarios import build_version
from scenarios_app.spec.hashing import content_hash
from scenarios_app.spec.scenario import parse_scenario


def make_temporary_scenario(*, content: Mapping[str, Any], user: User | None = None) -> ScenarioVersion:
    """Raises SpecError."""
    spec = parse_scenario(content)
    with transaction.atomic():
        scenario = Scenario.everything.create(key=_no_name(), temporary=True, archived_at=timezone.now())
        version = build_version(scenario=scenario, spec=spec, number=1, user=user)
        version.save()
    return version


def make_temporary_configuration(*, content: Mapping[str, Any], user: User | None = None) -> ConfigurationVersion:
    """Raises SpecError."""
    checked = checked_configuration(content).to_json()
    with transaction.atomic():
        configuration = Configuration.everything.create(name=_no_name(), temporary=True, archived_at=timezone.now())
        return ConfigurationVersion.objects.create(
            configuration=configuration,
            number=1,
            content=checked,
            content_hash=content_hash(checked),
            created_by=user,
        )


def delete_temporary(*, scenarios: Collection[int] = (), configurations: Collection[int] = ()) -> None:
    """Of these things those that are temporary, with their versions. No trial may hold them any more."""
    with transaction.atomic():
        tried = list(Scenario.everything.filter(pk__in=scenarios, temporary=True))
        prompts = list(Configuration.everything.filter(pk__in=configurations, temporary=True))
        ScenarioVersion.objects.filter(scenario__in=tried).delete()
        ConfigurationVersion.objects.filter(configuration__in=prompts).delete()
        Scenario.everything.filter(pk__in=[one.pk for one in tried]).delete()
        Configuration.everything.filter(pk__in=[one.pk for one in prompts]).delete()


def _no_name() -> str:
    """No id may begin so, and nobody will name a configuration so."""
    return f"~{uuid.uuid4().hex}"
