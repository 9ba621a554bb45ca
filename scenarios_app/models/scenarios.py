"""Spoken test cases, and the suites that hold them."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Lower
from django.urls import reverse

from scenarios_app.models.versions import Authored, Version
from scenarios_app.querysets import KeptScenarios, NamedQuerySet, ScenarioQuerySet


class Scenario(Authored):
    """A spoken test case. `key` is the id that the file gives it: unique ignoring case."""

    key = models.CharField(max_length=100)
    temporary = models.BooleanField(default=False)  # what stands in a form while it is tried: shown and offered nowhere
    latest = models.ForeignKey("ScenarioVersion", null=True, on_delete=models.SET_NULL, related_name="+")

    objects = KeptScenarios()
    everything = ScenarioQuerySet.as_manager()

    class Meta:
        ordering = ["key"]
        constraints = [models.UniqueConstraint(Lower("key"), name="scenario_key_unique_ignoring_case")]

    def __str__(self) -> str:
        return self.key

    def get_absolute_url(self) -> str:
        return reverse("scenario", args=[self.key])


class ScenarioVersion(Version):
    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="versions")
    schema_version = models.CharField(max_length=10)
    run_hash = models.CharField(max_length=64)
    title = models.TextField()
    tags = models.JSONField(default=list)
    search_text = models.TextField(blank=True, default="")
    tag_text = models.TextField(blank=True, default="")

    class Meta(Version.Meta):
        constraints = [models.UniqueConstraint(fields=["scenario", "number"], name="scenario_version_number")]

    def __str__(self) -> str:
        if self.scenario.temporary:
            return f"{self.content['id']} (draft)"
        return f"{self.scenario.key} v{self.number}"


class Suite(Authored):
    """A named set of scenarios; the newest version of each is what a run takes. `rule` is a spec SuiteRule, or {}."""

    name = models.CharField(max_length=100)
    rule = models.JSONField(default=dict, blank=True)
    scenarios = models.ManyToManyField(Scenario, related_name="suites", through="SuiteEntry")

    objects = NamedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(Lower("name"), name="suite_name_unique_ignoring_case")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("suite", args=[self.name])


class SuiteEntry(models.Model):
    """Why a scenario is in a suite: somebody put it there, its tags fit the suite's rule, or both."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="entries")
    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="entries")
    position = models.PositiveIntegerField()
    by_hand = models.BooleanField(default=True)
    by_rule = models.BooleanField(default=False)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["suite", "scenario"], name="scenario_once_in_suite")]
