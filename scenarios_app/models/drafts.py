"""What somebody is writing and has not saved."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from scenarios_app.models.scenarios import Scenario
from scenarios_app.querysets import DraftQuerySet


class ScenarioDraft(models.Model):
    """A scenario as one person left it in the editor. `fields` are those of the form, as the browser sends them, so
    that what cannot be read yet is kept too. `number` is the version that it began on; a new scenario has none."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    scenario = models.ForeignKey(Scenario, null=True, blank=True, on_delete=models.CASCADE, related_name="drafts")
    number = models.PositiveIntegerField(null=True, blank=True)
    title = models.TextField(blank=True)
    fields = models.JSONField()
    updated_at = models.DateTimeField(auto_now=True)

    objects = DraftQuerySet.as_manager()

    class Meta:
        ordering = ["-updated_at"]
        constraints = [models.UniqueConstraint(fields=["person", "scenario"], name="one_draft_per_person_and_scenario")]

    def __str__(self) -> str:
        return self.title or "untitled"


class FinishedPage(models.Model):
    """A page of the editor, by the token of its field `tab`, whose text was saved or thrown away. What it sent while
    somebody typed may arrive after that, and must not become a draft again."""

    token = models.CharField(max_length=32, unique=True)
    finished_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return self.token
