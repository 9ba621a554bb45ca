"""Gradings of a trial. Old ones stay when a trial is graded again; `current` marks the one that counts."""

from __future__ import annotations

from django.db import models

from runs_app.models.trials import Outcome, Trial


class Grading(models.Model):
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="gradings")
    attempt = models.PositiveIntegerField()  # of the conversation that it judged
    number = models.PositiveIntegerField()  # from 1 within the trial
    current = models.BooleanField(default=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    stage = models.CharField(max_length=40, blank=True)
    reason = models.CharField(max_length=1000, blank=True)
    rubric_version = models.CharField(max_length=40, blank=True)
    judge_model = models.CharField(max_length=100, blank=True)
    metrics = models.JSONField(default=dict)
    turns = models.JSONField(default=list)
    notes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["trial", "number"], name="grading_number"),
            models.UniqueConstraint(fields=["trial"], condition=models.Q(current=True), name="one_current_grading"),
        ]
        # which judges graded a run, without a look into the long rows
        indexes = [
            models.Index(
                fields=["trial", "judge_model", "rubric_version"],
                condition=models.Q(current=True),
                name="grading_judged",
            )
        ]


class Check(models.Model):
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="checks")
    position = models.PositiveIntegerField()
    check_id = models.CharField(max_length=60)
    status = models.CharField(max_length=20)  # passed, failed, not_applicable, not_assessed
    required = models.BooleanField()
    reason = models.TextField(blank=True)
    evidence = models.JSONField(default=dict)

    class Meta:
        ordering = ["position"]


class Grade(models.Model):
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="grades")
    position = models.PositiveIntegerField()
    dimension = models.CharField(max_length=60)
    status = models.CharField(max_length=20)  # passed, failed, not_assessed, not_applicable
    score = models.FloatField(null=True, blank=True)
    rationale = models.TextField(blank=True)
    evidence = models.JSONField(default=list)
    judge_error = models.TextField(blank=True)
    raw_reply = models.TextField(blank=True)
    prompt_hash = models.CharField(max_length=64, blank=True)
    latency_ms = models.FloatField(null=True, blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
