"""A trial: one conversation of one scenario with one configuration, and the events of its timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.urls import reverse

from runs_app.models.runs import Run
from runs_app.querysets import EventQuerySet, TrialQuerySet
from scenarios_app.models import ConfigurationVersion, ScenarioVersion

if TYPE_CHECKING:
    from runs_app.models.known_failures import KnownFailure


class TrialStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    RECORDED = "recorded"
    GRADING = "grading"
    DONE = "done"


class Outcome(models.TextChoices):
    PASSED = "passed"
    FAILED = "failed"
    UNGRADED = "ungraded"
    INVALID = "invalid"
    CANCELLED = "cancelled"


class Trial(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trials")
    scenario_version = models.ForeignKey(ScenarioVersion, on_delete=models.PROTECT, related_name="trials")
    configuration_version = models.ForeignKey(ConfigurationVersion, on_delete=models.PROTECT, related_name="trials")
    repeat = models.PositiveIntegerField()  # from 1
    position = models.PositiveIntegerField()  # the order in which trials are claimed
    seed = models.BigIntegerField()  # hash of run seed, scenario id and repeat: the same for every configuration

    status = models.CharField(max_length=10, choices=TrialStatus.choices, default=TrialStatus.QUEUED)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)  # only when done
    stage = models.CharField(max_length=40, blank=True)  # of an invalid trial, see runs_app.realtime.record.STAGES
    reason = models.CharField(max_length=1000, blank=True)  # one sentence for people
    attempt = models.PositiveIntegerField(default=0)  # counts claims; what an old attempt writes is refused
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    expiries = models.PositiveIntegerField(default=0)  # leases lost; the third makes it invalid (worker_lost)
    grading_lease_expires_at = models.DateTimeField(null=True, blank=True)
    grading_attempt = models.PositiveIntegerField(default=0)  # counts claims of the grading, fences it alike
    grading_expiries = models.PositiveIntegerField(default=0)  # leases lost; the third leaves it ungraded
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    recorded_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    record = models.JSONField(null=True, blank=True)  # runs_app.realtime.record.Record of the attempt that counts
    wav = models.CharField(max_length=200, blank=True)  # storage names; empty: there is none
    peaks = models.CharField(max_length=200, blank=True)
    events_file = models.CharField(max_length=200, blank=True)

    # of the current grading, so that lists and comparisons need no join; null is "not measured", never 0
    semantic_quality = models.FloatField(null=True, blank=True)
    tool_accuracy = models.FloatField(null=True, blank=True)
    response_latency_ms = models.FloatField(null=True, blank=True)
    metrics = models.JSONField(default=dict)
    failure_kind = models.CharField(max_length=300, blank=True)  # of a failed one: grading.failure_kinds, its key

    objects = TrialQuerySet.as_manager()

    # not stored: set by known.with_marks for pages that tell of it
    mark: KnownFailure | None = None
    expired_mark: KnownFailure | None = None

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "scenario_version", "configuration_version", "repeat"],
                name="trial_once_in_run",
            )
        ]
        indexes = [
            models.Index(fields=["run", "status", "position"], name="trial_claim"),
            # all that a comparison reads of a trial, so that it reads the index alone and not the long rows
            models.Index(
                fields=[
                    *("run", "configuration_version", "scenario_version", "status", "outcome", "stage"),
                    *("semantic_quality", "tool_accuracy", "response_latency_ms"),
                ],
                name="trial_compare",
            ),
            models.Index(fields=["run", "outcome", "failure_kind"], name="trial_kinds"),
            models.Index(fields=["status", "lease_expires_at"], name="trial_sweep"),
            models.Index(fields=["status", "grading_lease_expires_at"], name="trial_sweep_grading"),
        ]

    def __str__(self) -> str:
        return f"Trial {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("trial", args=[self.pk])

    @property
    def folder(self) -> str:
        return f"trials/{self.pk}/{self.attempt}"

    @property
    def is_done(self) -> bool:
        return self.status == TrialStatus.DONE


class Event(models.Model):
    """One line of a trial's timeline, without audio: see runs_app.realtime.record.Event."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="events")
    attempt = models.PositiveIntegerField()
    seq = models.PositiveIntegerField()
    t_ms = models.FloatField()
    source = models.CharField(max_length=10)
    direction = models.CharField(max_length=10)
    type = models.CharField(max_length=100)
    payload = models.JSONField(default=dict)

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ["attempt", "seq"]
        constraints = [models.UniqueConstraint(fields=["trial", "attempt", "seq"], name="event_once")]
