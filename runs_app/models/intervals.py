"""Intervals that take long to make, by what they were made of: see runs_app.stats.tails."""

from __future__ import annotations

from django.db import models


class StoredIntervals(models.Model):
    """`key` is a hash of the numbers behind them, so that they never go stale: other numbers have another key."""

    key = models.CharField(max_length=64, primary_key=True)
    intervals = models.JSONField()  # p50, p95, pass^2 ... -> [low, high], or null where there is none
    made_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.key
