"""The sound of recorded callers. A scenario names it by its hash; the file is kept once, as it was sent."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Recording(models.Model):
    """An audio file in storage, and what it was found to be. Its content never changes: another file is another row."""

    sha256 = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=255)  # as it was first sent
    size = models.PositiveBigIntegerField()
    duration_ms = models.FloatField()
    rate_hz = models.PositiveIntegerField()
    channels = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> str:
        """Where it lies in storage."""
        return f"recordings/{self.sha256[:2]}/{self.sha256}"
