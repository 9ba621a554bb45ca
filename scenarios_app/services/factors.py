"""The factors of stored versions of configurations, read in two queries however many versions there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q

from scenarios_app.models import ApplicationVersion, ConfigurationVersion
from scenarios_app.spec.factors import Factors, factors, prompt_numbers, prompt_of

Applications = Mapping[int, "ApplicationVersion | None"]


def factors_of(
    versions: Iterable[ConfigurationVersion], *, applications: Applications | None = None
) -> dict[int, Factors]:
    """By the version's pk. `applications`: those that a run fixed, by the same pk; without them a NAME without a
    version is the newest of today."""
    listed = list(versions)
    prompts = _prompts(listed)
    used = _named_applications(listed) if applications is None else applications
    return {
        version.pk: factors(
            version.content,
            prompt=prompts[version.configuration_id, version.number],
            application=application.content if (application := used.get(version.pk)) else None,
        )
        for version in listed
    }


def _prompts(versions: Sequence[ConfigurationVersion]) -> dict[tuple[int, int], int]:
    """(configuration, version number) -> n, counted over all versions of those configurations."""
    rows = ConfigurationVersion.objects.filter(configuration__in={version.configuration_id for version in versions})
    texts: dict[int, dict[int, str]] = defaultdict(dict)
    columns = ("configuration_id", "number", "content__instructions", "content__session_update__instructions")
    for configuration, number, instructions, overriding in rows.order_by().values_list(*columns):
        texts[configuration][number] = prompt_of(instructions, overriding)
    return {
        (configuration, number): n
        for configuration, of_version in texts.items()
        for number, n in prompt_numbers(of_version).items()
    }


def _named_applications(versions: Sequence[ConfigurationVersion]) -> dict[int, ApplicationVersion | None]:
    wanted = {version.pk: reference for version in versions if (reference := version.content.get("application"))}
    if not wanted:
        return {}
    found = {_key(version.application.name, version.number): version for version in _stored(wanted.values())}
    newest = {version.application.name.lower(): version for version in found.values() if _is_newest(version)}
    return {
        pk: newest.get(reference["name"].lower())
        if reference.get("version") is None
        else found.get(_key(reference["name"], reference["version"]))
        for pk, reference in wanted.items()
    }


def _stored(references: Iterable[Mapping[str, Any]]) -> Iterable[ApplicationVersion]:
    names = Q()
    for name in {reference["name"] for reference in references}:
        names |= Q(application__name__iexact=name)
    return ApplicationVersion.objects.filter(names).select_related("application")


def _is_newest(version: ApplicationVersion) -> bool:
    return version.pk == version.application.latest_id


def _key(name: str, number: int) -> tuple[str, int]:
    return name.lower(), number
