"""What was to be found out, written down before a run began, and what was decided on what it found. Neither changes."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse

from runs_app.models.runs import Run
from scenarios_app.models import ConfigurationVersion, Suite


class Written(models.Model):
    """A record that is written once."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError(f"{self} is stored and never changes")
        super().save(*args, **kwargs)


class RunPlan(Written):
    """What a run is to find out, said before it starts; a run without one has none.

    `primaries`: names of the metrics that decide; empty means all of stats.rows.PRIMARY. `margins`: by metric, the
    largest difference that does not matter, in the metric's own unit (shares and scores from 0 to 1, latency in ms).
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="plan")
    hypothesis = models.CharField(max_length=500, blank=True)
    primaries = models.JSONField(default=list)
    margins = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"the plan of {self.run}"


class Decision(Written):
    """A comparison as it was shown, frozen, with who decided what on it.

    `document` is the comparison's JSON to the letter; pages show it and compute nothing anew. `document_hash` is the
    SHA-256 of its canonical text, so that anyone can see that it is still what was signed.
    """

    class Choice(models.TextChoices):
        ADOPT = "adopt", "Adopt it"
        REJECT = "reject", "Keep the baseline"
        POSTPONE = "postpone", "Not decided yet"

    suite = models.ForeignKey(Suite, null=True, blank=True, on_delete=models.SET_NULL, related_name="decisions")
    runs = models.ManyToManyField(Run, related_name="decisions")
    baseline_version = models.ForeignKey(ConfigurationVersion, on_delete=models.PROTECT, related_name="+")
    candidate_version = models.ForeignKey(ConfigurationVersion, on_delete=models.PROTECT, related_name="+")
    choice = models.CharField(max_length=10, choices=Choice.choices)
    hypothesis = models.CharField(max_length=500, blank=True)
    note = models.TextField()
    document = models.JSONField()
    document_hash = models.CharField(max_length=64)
    query = models.TextField()  # of the live comparison that it froze
    decided_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    reviewer = models.CharField(max_length=150)  # the name at that time; it stays when the person leaves

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"Decision {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("decision", args=[self.pk])
