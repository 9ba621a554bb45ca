"""Which of two recordings somebody liked better, heard without knowing whose they were."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse

from runs_app.models.trials import Trial
from runs_app.querysets import PreferenceQuerySet


class Liked(models.TextChoices):
    A = "a"
    B = "b"
    NEITHER = "neither"


class Preference(models.Model):
    """One pair for one listener, in an order that the server drew. Undecided, pages call the two first and second."""

    listener = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    trial_a = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="+")
    trial_b = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="+")
    a_is_first = models.BooleanField()
    liked = models.CharField(max_length=7, choices=Liked.choices, blank=True)  # empty: still to be heard
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = PreferenceQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["listener", "trial_a", "trial_b"], name="pair_once_for_a_listener")
        ]

    def __str__(self) -> str:
        return f"Blind pair {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("blind-pair", args=[self.pk])

    @property
    def in_order(self) -> tuple[Trial, Trial]:
        return (self.trial_a, self.trial_b) if self.a_is_first else (self.trial_b, self.trial_a)
