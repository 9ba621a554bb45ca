"""Reads, named for their use. Nothing here writes."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from runs_app.models import Event, Trial


class TrialQuerySet(models.QuerySet["Trial"]):
    def leased(self, now: datetime) -> TrialQuerySet:
        return self.filter(status="running", lease_expires_at__gt=now)

    def expired(self, now: datetime) -> TrialQuerySet:
        return self.filter(status="running", lease_expires_at__lte=now)

    def unfinished(self) -> TrialQuerySet:
        return self.exclude(status="done")


class EventQuerySet(models.QuerySet["Event"]):
    def after(self, attempt: int, seq: int) -> EventQuerySet:
        return self.filter(attempt=attempt, seq__gt=seq)
