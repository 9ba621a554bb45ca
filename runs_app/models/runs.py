"""A run: scenarios x configurations x repeats. It points to versions, which never change: that is its snapshot."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse

from runs_app.querysets import KeptRuns, RunQuerySet
from scenarios_app.models import ApplicationVersion, ConfigurationVersion, ScenarioVersion, Suite
from scenarios_app.spec.tool_faults import fault_lines


class RunStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


class Run(models.Model):
    name = models.CharField(max_length=200, blank=True)
    suite = models.ForeignKey(Suite, null=True, blank=True, on_delete=models.SET_NULL, related_name="runs")
    status = models.CharField(max_length=10, choices=RunStatus.choices, default=RunStatus.QUEUED, db_index=True)
    repeats = models.PositiveIntegerField(default=3)
    concurrency = models.PositiveIntegerField(default=4)
    seed = models.BigIntegerField(default=0)
    mode = models.CharField(max_length=5, blank=True)  # text or audio; empty: as scenario and configuration say
    real_time = models.BooleanField(null=True)  # None: as the configuration says
    refresh_audio = models.BooleanField(default=False)
    tool_faults = models.JSONField(default=dict)  # tool name or * -> fault, on top of what the scenarios say
    stop_after_invalid = models.PositiveIntegerField(null=True, blank=True)  # None: whatever happens, go on
    stop_reason = models.CharField(max_length=200, blank=True)  # why the rest was cancelled, if no person did it
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    # a try or a fix: shown to who made it alone, counted nowhere, and gone after this moment
    temporary_until = models.DateTimeField(null=True, blank=True, db_index=True)

    objects = KeptRuns()
    everything = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name or f"Run {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def fault_lines(self) -> list[str]:
        return fault_lines(self.tool_faults)

    @property
    def is_over(self) -> bool:
        return self.status in (RunStatus.DONE, RunStatus.CANCELLED)


class RunScenario(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scenarios")
    scenario_version = models.ForeignKey(ScenarioVersion, on_delete=models.PROTECT, related_name="+")
    # the application that the scenario itself names (application.ref); it wins over the configuration's
    application_version = models.ForeignKey(ApplicationVersion, null=True, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["run", "scenario_version"], name="scenario_once_in_run")]


class RunConfiguration(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="configurations")
    configuration_version = models.ForeignKey(ConfigurationVersion, on_delete=models.PROTECT, related_name="+")
    application_version = models.ForeignKey(ApplicationVersion, null=True, on_delete=models.PROTECT, related_name="+")
    simulated = models.BooleanField(default=False)  # it talks to our own simulator: said on every page and export
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "configuration_version"], name="configuration_once_in_run")
        ]
