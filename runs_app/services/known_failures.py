"""Failures that people know of: marked with a ticket and a day on which the mark expires, changed, and lifted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs_app.models import KnownFailure, KnownFailureChange, Trial
from runs_app.models.known_failures import today
from scenarios_app.models import Configuration, Scenario
from scenarios_app.spec.errors import Problem, refuse_if
from scenarios_app.spec.jsontext import clean_text

MOST_DAYS = 366  # a mark that never expires would hide a failure for ever
USUAL_DAYS = 30

Action = KnownFailureChange.Action


def mark_known(
    *,
    scenarios: Sequence[Scenario],
    configuration: Configuration | None = None,
    kind: str = "",
    ticket: str,
    note: str = "",
    expires_on: date,
    trial: Trial | None = None,
    user: User | None = None,
) -> list[KnownFailure]:
    """One mark for each scenario, all or none. `trial`: where it was seen.

    Raises SpecError whose paths are the argument names; also where an open mark says the same.
    """
    ticket, note = ticket.strip(), note.strip()
    _check(ticket, note, expires_on)
    words = f"{ticket}, until {expires_on.isoformat()}" + (f": {note}" if note else "")
    seen_in = trial.scenario_version.scenario_id if trial is not None else None
    marks = []
    with transaction.atomic():
        # the scenarios' rows are the lock: two people may mark the same failure at once
        for scenario in (
            Scenario.objects.select_for_update().filter(pk__in=[one.pk for one in scenarios]).order_by("key")
        ):
            _refuse_twice(scenario, configuration, kind)
            mark = KnownFailure.objects.create(
                scenario=scenario,
                configuration=configuration,
                kind=kind,
                ticket=ticket,
                note=note,
                expires_on=expires_on,
                trial=trial if scenario.pk == seen_in else None,
            )
            _remember(mark, Action.MARKED, words, user)
            marks.append(mark)
    return marks


def _refuse_twice(scenario: Scenario, configuration: Configuration | None, kind: str) -> None:
    same = KnownFailure.objects.open().filter(scenario=scenario, configuration=configuration, kind=kind).first()
    if same is not None:
        refuse_if([Problem("scenarios", f"{same} is marked already ({same.ticket}): change that mark")])


def change_known(
    *, mark: KnownFailure, ticket: str, note: str, expires_on: date, user: User | None = None
) -> KnownFailure:
    """Raises SpecError; a mark that was lifted stays as it is."""
    ticket, note = ticket.strip(), note.strip()
    with transaction.atomic():
        mark = KnownFailure.objects.select_for_update(of=("self",)).get(pk=mark.pk)
        _require_open(mark)
        _check(ticket, note, expires_on, was=mark.expires_on)
        differs = [
            f"{name} {old} → {new or 'none'}" if old else f"{name} {new}"
            for name, old, new in (
                ("ticket", mark.ticket, ticket),
                ("expires", mark.expires_on.isoformat(), expires_on.isoformat()),
                ("note", mark.note, note),
            )
            if old != new
        ]
        if differs:
            mark.ticket, mark.note, mark.expires_on = ticket, note, expires_on
            mark.save(update_fields=["ticket", "note", "expires_on"])
            _remember(mark, Action.CHANGED, "; ".join(differs), user)
    return mark


def lift_known(*, mark: KnownFailure, reason: str = "", user: User | None = None) -> KnownFailure:
    """From now on its failures are new ones. Raises SpecError when it is lifted already."""
    with transaction.atomic():
        mark = KnownFailure.objects.select_for_update(of=("self",)).get(pk=mark.pk)
        _require_open(mark)
        mark.lifted_at = timezone.now()
        mark.save(update_fields=["lifted_at"])
        _remember(mark, Action.LIFTED, clean_text(reason.strip())[:1000], user)
    return mark


def usual_expiry() -> date:
    return today() + timedelta(days=USUAL_DAYS)


def _require_open(mark: KnownFailure) -> None:
    if not mark.is_open:
        refuse_if([Problem("", f"the mark of {mark} was lifted; mark the failure anew")])


def _check(ticket: str, note: str, expires_on: date, *, was: date | None = None) -> None:
    problems = []
    if not ticket:
        problems.append(Problem("ticket", "name the ticket, or where it is written that this is known"))
    if len(ticket) > 300:
        problems.append(Problem("ticket", "is longer than 300 characters"))
    if len(note) > 1000:
        problems.append(Problem("note", "is longer than 1000 characters"))
    if expires_on < today() and expires_on != was:
        problems.append(Problem("expires_on", "lies in the past"))
    if expires_on > today() + timedelta(days=MOST_DAYS):
        problems.append(Problem("expires_on", f"is more than {MOST_DAYS} days ahead: look at it again before that"))
    refuse_if(problems)


def _remember(mark: KnownFailure, action: Action, words: str, user: User | None) -> None:
    KnownFailureChange.objects.create(known_failure=mark, action=action, words=words[:2000], created_by=user)
