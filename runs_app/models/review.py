"""What people find in a trial. The machine's verdict stays where it is; these stand beside it."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from runs_app.models.trials import Outcome, Trial


class Verdict(models.TextChoices):
    PASSED = "passed"
    FAILED = "failed"


class Fault(models.TextChoices):
    """Whose doing it is that the trial did not go as it should."""

    AGENT = "agent"
    CALLER = "caller"
    JUDGE = "judge"
    INFRASTRUCTURE = "infrastructure"


class Review(models.Model):
    """One saved opinion. Every save is a row of its own; the newest of a trial's conversation is `current`."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="reviews")
    attempt = models.PositiveIntegerField()  # of the conversation that was heard
    number = models.PositiveIntegerField()  # from 1 within the trial
    current = models.BooleanField(default=True)
    verdict = models.CharField(max_length=10, choices=Verdict.choices, blank=True)
    fault = models.CharField(max_length=14, choices=Fault.choices, blank=True)
    scores = models.JSONField(default=dict)  # dimension -> 0, .25, .5, .75 or 1
    note = models.TextField(blank=True)
    # what the trial counts as with this review, see services.reviewing; empty: as the machine said
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    machine_outcome = models.CharField(max_length=10, choices=Outcome.choices)  # when the review was saved
    machine_reason = models.CharField(max_length=1000, blank=True)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["trial", "number"], name="review_number"),
            models.UniqueConstraint(fields=["trial"], condition=models.Q(current=True), name="one_current_review"),
        ]
        indexes = [models.Index(fields=["current", "outcome"], name="review_disagrees")]

    def __str__(self) -> str:
        return f"Review {self.number} of trial {self.trial_id}"


class ReviewAssignment(models.Model):
    """Who is asked to review a trial. One person at a time."""

    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="review_assignment")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="assigned_reviews")
    assigned_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)


class Mark(models.Model):
    """A moment that somebody wants to find again, on the timeline of one attempt."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="marks")
    attempt = models.PositiveIntegerField()
    at_ms = models.FloatField(validators=[MinValueValidator(0), MaxValueValidator(86_400_000)])
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at_ms", "pk"]
