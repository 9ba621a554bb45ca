"""Where somebody left off in a playlist of failures."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs_app.models.trials import Trial


class PlaylistPlace(models.Model):
    """`playlist` is the hash of what the playlist was asked for. No row: it begins at the start."""

    listener = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    playlist = models.CharField(max_length=64)
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="+")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["listener", "playlist"], name="one_place_in_a_playlist")]
