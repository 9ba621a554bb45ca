"""Failures that a team knows of and has a ticket for. Marks are never deleted: lifting one is a line of its history."""

from __future__ import annotations

from datetime import date

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from runs_app.models.trials import Trial
from runs_app.querysets import KnownFailureQuerySet
from scenarios_app.models import Configuration, Scenario


class KnownFailure(models.Model):
    """A scenario that is known to fail; with a configuration, under that one alone, in all its versions.

    With a `kind` (see runs_app.grading.failure_kinds) only failures of that kind are known: another one is new.
    """

    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="known_failures")
    configuration = models.ForeignKey(
        Configuration, null=True, blank=True, on_delete=models.PROTECT, related_name="known_failures"
    )
    kind = models.CharField(max_length=300, blank=True)
    ticket = models.CharField(max_length=300)
    note = models.CharField(max_length=1000, blank=True)
    expires_on = models.DateField()  # the last day on which it counts
    trial = models.ForeignKey(Trial, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")  # seen in
    created_at = models.DateTimeField(auto_now_add=True)
    lifted_at = models.DateTimeField(null=True, blank=True)

    objects = KnownFailureQuerySet.as_manager()

    class Meta:
        ordering = ["expires_on", "pk"]

    def __str__(self) -> str:
        where = f" with {self.configuration.name}" if self.configuration else ""
        return f"{self.scenario.key}{where}"

    def get_absolute_url(self) -> str:
        return reverse("known-failure", args=[self.pk])

    @property
    def is_open(self) -> bool:
        return self.lifted_at is None

    @property
    def is_expired(self) -> bool:
        return self.is_open and self.expires_on < today()

    @property
    def days_left(self) -> int:
        return (self.expires_on - today()).days


def today() -> date:
    return timezone.localdate()


class KnownFailureChange(models.Model):
    """A line of a mark's history: who did what, when, in words."""

    class Action(models.TextChoices):
        MARKED = "marked"
        CHANGED = "changed"
        LIFTED = "lifted"

    known_failure = models.ForeignKey(KnownFailure, on_delete=models.CASCADE, related_name="changes")
    action = models.CharField(max_length=10, choices=Action.choices)
    words = models.CharField(max_length=2000, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["pk"]
