"""What everything that people author has in common: versions, which once saved never change."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from scenarios_app.querysets import VersionQuerySet


class Authored(models.Model):
    """A thing with a name and versions. `latest` is the newest version, kept by the services."""

    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class Version(models.Model):
    """An immutable content of an authored thing. Numbers count from 1 within it."""

    number = models.PositiveIntegerField()
    content = models.JSONField()
    content_hash = models.CharField(max_length=64, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    note = models.CharField(max_length=500, blank=True)

    objects = VersionQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["-number"]

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError(f"{self} is stored and never changes: save a new version instead")
        super().save(*args, **kwargs)
