"""Drafts of scenarios: kept while one types, dropped when they are saved or thrown away."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from scenarios_app.models import FinishedPage, Scenario, ScenarioDraft
from scenarios_app.presentation import pretty_json
from scenarios_app.spec.jsontext import clean, clean_text
from scenarios_app.spec.numbers import number_of

LATEST = timedelta(days=1)  # nothing that a page sent is on its way for longer
_NOT_KEPT = ("csrfmiddlewaretoken", "action", "draft", "scenario", "number")


def keep_draft(
    *,
    person: User,
    fields: Mapping[str, str],
    title: str,
    scenario: Scenario | None = None,
    number: int | None = None,
    draft: ScenarioDraft | None = None,
) -> ScenarioDraft | None:
    """Of a scenario the one draft that a person has of it; of a new one `draft`, or the one of its page, or another.
    What the same page sent earlier and arrives later changes nothing. None where page or draft is done with meanwhile.
    """
    values = {"fields": _kept(fields), "title": clean(title)[:500], "number": number}
    tab = _token(fields.get("tab", ""))
    with transaction.atomic():
        _one_at_a_time(person)
        if FinishedPage.objects.filter(token=tab).exists():
            return None
        mine = ScenarioDraft.objects.of(person)
        if scenario is None and draft is not None and not mine.filter(pk=draft.pk).exists():
            return None
        at = {"scenario": scenario} if scenario else {"pk": draft.pk if draft else None}
        kept = mine.filter(**at).first() or (mine.of_page("", tab) if scenario is None else None)
        if kept is not None and _is_older(fields, kept.fields):
            return kept
        return _written(kept or ScenarioDraft(person=person, scenario=scenario), values)


def _written(draft: ScenarioDraft, values: Mapping[str, Any]) -> ScenarioDraft:
    for name, value in values.items():
        setattr(draft, name, value)
    draft.save()
    return draft


def _is_older(fields: Mapping[str, str], kept: Mapping[str, str]) -> bool:
    """`autosave` is when the page sent it, by the clock of its browser."""
    new, old = (number_of(given.get("autosave", "")) or 0 for given in (fields, kept))
    return fields.get("tab") == kept.get("tab") and new < old


def _one_at_a_time(person: User) -> None:
    """What a person keeps and drops at the same moment comes one after the other, on PostgreSQL too."""
    User.objects.select_for_update(no_key=True).get(pk=person.pk)  # rows may go on naming the person


def _token(tab: str) -> str:
    return clean_text(tab)[:32]


def _kept(fields: Mapping[str, str]) -> dict[str, str]:
    """Of both sides the one that was typed in."""
    as_json = fields.get("view") == "json"
    wanted = {"view", "text_json", "note", "tab", "autosave"}
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


def finish_page(
    *, person: User, tab: str, scenario: Scenario | None = None, draft: ScenarioDraft | None = None
) -> None:
    """Its text is saved or thrown away: its drafts go, and what it sent before and arrives later is not kept."""
    now = timezone.now()
    with transaction.atomic():
        _one_at_a_time(person)
        if tab:
            FinishedPage.objects.filter(finished_at__lt=now - LATEST).delete()
            FinishedPage.objects.get_or_create(token=_token(tab))
            ScenarioDraft.objects.of(person).begun_new().filter(fields__tab=clean_text(tab)).delete()
        drop_drafts(person=person, scenario=scenario, draft=draft)
