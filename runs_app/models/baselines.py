"""What a suite's runs are held against: the configuration that a team decided for, with everything it was before."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from runs_app.models.decisions import Decision
from runs_app.models.runs import Run
from runs_app.querysets import BaselineQuerySet
from scenarios_app.models import ConfigurationVersion, Suite


class Baseline(models.Model):
    """One promotion. The newest of a suite counts; those before it are its history and never change."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="baselines")
    configuration_version = models.ForeignKey(ConfigurationVersion, on_delete=models.PROTECT, related_name="+")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")  # it came from
    decision = models.ForeignKey(Decision, null=True, blank=True, on_delete=models.PROTECT, related_name="baselines")
    note = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = BaselineQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.configuration_version} of {self.suite}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError(f"the baseline {self} is stored and never changes: promote another one instead")
        super().save(*args, **kwargs)
