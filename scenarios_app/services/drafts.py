"""Drafts of scenarios: kept while one types, dropped when they are saved or thrown away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from scenarios_app.models import Scenario, ScenarioDraft
from scenarios_app.presentation import pretty_json
from scenarios_app.spec.jsontext import clean

_NOT_KEPT = ("csrfmiddlewaretoken", "action", "autosave", "draft", "scenario", "number")


def keep_draft(
    *,
    person: User,
    fields: Mapping[str, str],
    title: str,
    scenario: Scenario | None = None,
    number: int | None = None,
    draft: ScenarioDraft | None = None,
) -> ScenarioDraft:
    """Of a scenario the one draft that a person has of it; of a new one `draft`, or else another."""
    values = {"fields": _kept(fields), "title": clean(title)[:500], "number": number}
    if scenario is not None:
        kept, _ = ScenarioDraft.objects.update_or_create(person=person, scenario=scenario, defaults=values)
        return kept
    if draft is None:
        return ScenarioDraft.objects.create(person=person, **values)
    for name, value in values.items():
        setattr(draft, name, value)
    draft.save()
    return draft


def _kept(fields: Mapping[str, str]) -> dict[str, str]:
    """Of both sides the one that was typed in."""
    as_json = fields.get("view") == "json"
    wanted = {"view", "text_json", "note", "tab"}
    kept = {name: text for name, text in fields.items() if name not in _NOT_KEPT}
    if as_json:
        kept = {name: text for name, text in kept.items() if name in wanted}
    else:
        kept.pop("text_json", None)
    return dict(clean(kept))


def begin_draft(*, person: User, content: Mapping[str, Any], note: str = "") -> ScenarioDraft:
    """A new scenario that waits in the editor, for its author to go on with."""
    fields = {"view": "json", "text_json": pretty_json(content), "note": note}
    return ScenarioDraft.objects.create(person=person, fields=fields, title=str(content.get("title", "")))


def drop_drafts(*, person: User, scenario: Scenario | None = None, draft: ScenarioDraft | None = None) -> None:
    """The draft itself, and what the person has of the scenario."""
    if draft is not None:
        ScenarioDraft.objects.filter(pk=draft.pk, person=person).delete()
    if scenario is not None:
        ScenarioDraft.objects.filter(person=person, scenario=scenario).delete()
