"""Out of sight and back: what is archived is offered nowhere, and everything that refers to it goes on working."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from django.db import transaction
from django.utils import timezone

from scenarios_app.models import Authored, Scenario
from scenarios_app.services.following import batches, refresh_suites


def archive(*, things: Sequence[Authored]) -> int:
    """Takes them out of lists and of new runs; versions, suites and old runs keep them. Returns how many were there."""
    return _set(things, archived=True)


def bring_back(*, things: Sequence[Authored]) -> int:
    """Returns how many were archived."""
    return _set(things, archived=False)


def _set(things: Sequence[Authored], *, archived: bool) -> int:
    changed = 0
    with transaction.atomic():
        for model, group in groupby(things, lambda thing: thing.__class__):
            pks = [thing.pk for thing in group]
            for batch in batches(pks):
                rows = model._default_manager.filter(pk__in=batch, archived_at__isnull=archived)
                changed += rows.update(archived_at=timezone.now() if archived else None)
            if model is Scenario:
                refresh_suites(scenarios=pks)
    return changed
