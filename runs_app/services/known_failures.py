"""Failures that people know of: marked with a ticket and a day on which the mark expires, changed, and lifted."""

from __future__ import annotations

from datetime import date, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from runs_app.models import KnownFailure, KnownFailureChange, Trial
from runs_app.models.known_failures import today
from scenarios_app.models import Configuration, Scenario
from scenarios_app.spec.errors import Problem, refuse_if

MOST_DAYS = 366  # a mark that never expires would hide a failure for ever
USUAL_DAYS = 30

Action = KnownFailureChange.Action


def mark_known(
    *,
    scenario: Scenario,
    configuration: Configuration | None = None,
    kind: str = "",
    ticket: str,
    note: str = "",
    expires_on: date,
    trial: Trial | None = None,
    user: User | None = None,
) -> KnownFailure:
    """Raises SpecError whose paths are the argument names; also where an open mark says the same."""
    ticket, note = ticket.strip(), note.strip()
    _check(ticket, note, expires_on)
    with transaction.atomic():
        # the scenario's row is the lock: two people may mark the same failure at once
        scenario = Scenario.objects.select_for_update().get(pk=scenario.pk)
        same = KnownFailure.objects.open().filter(scenario=scenario, configuration=configuration, kind=kind).first()
        if same is not None:
            refuse_if([Problem("scenario", f"{same} is marked already ({same.ticket}): change that mark")])
        mark = KnownFailure.objects.create(
            scenario=scenario,
            configuration=configuration,
            kind=kind,
            ticket=ticket,
            note=note,
            expires_on=expires_on,
            trial=trial,
        )
        words = f"{ticket}, until {expires_on.isoformat()}" + (f": {note}" if note else "")
        _remember(mark, Action.MARKED, words, user)
    return mark


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
        _remember(mark, Action.LIFTED, reason.strip()[:1000], user)
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
