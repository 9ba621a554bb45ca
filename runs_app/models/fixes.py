"""A prompt that is tried out against a failure: its run, and the failed trial that it began from."""

from __future__ import annotations

from django.db import models

from runs_app.models.runs import Run
from runs_app.models.trials import Trial
from scenarios_app.models import ConfigurationVersion


class Fix(models.Model):
    """The run holds the configuration as it was and as it would be, side by side. `kept_as`: the version that the new
    prompt became; until then the run is temporary, and its second configuration is too."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="fix")
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="fixes")
    kept_as = models.ForeignKey(ConfigurationVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["-id"]
