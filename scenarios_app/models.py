"""What people author. Each thing keeps every version it ever had; a version, once saved, never changes."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower
from django.urls import reverse

from scenarios_app.querysets import NamedQuerySet, ScenarioQuerySet, VersionQuerySet


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


class Scenario(Authored):
    """A spoken test case. `key` is the id that the file gives it: unique ignoring case."""

    key = models.CharField(max_length=100)
    latest = models.ForeignKey("ScenarioVersion", null=True, on_delete=models.SET_NULL, related_name="+")

    objects = ScenarioQuerySet.as_manager()

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
        return f"{self.scenario.key} v{self.number}"


class Suite(Authored):
    """A named set of scenarios; the newest version of each is what a run takes."""

    name = models.CharField(max_length=100)
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
    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="entries")
    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="entries")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["suite", "scenario"], name="scenario_once_in_suite")]


class Application(Authored):
    """The tools and facts that an agent may use."""

    name = models.CharField(max_length=100)
    latest = models.ForeignKey("ApplicationVersion", null=True, on_delete=models.SET_NULL, related_name="+")

    objects = NamedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(Lower("name"), name="application_name_unique_ignoring_case")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("application", args=[self.name])


class ApplicationVersion(Version):
    application = models.ForeignKey(Application, on_delete=models.PROTECT, related_name="versions")

    class Meta(Version.Meta):
        constraints = [models.UniqueConstraint(fields=["application", "number"], name="application_version_number")]

    def __str__(self) -> str:
        return f"{self.application.name}@{self.number}"


class Configuration(Authored):
    """An agent under test."""

    name = models.CharField(max_length=100)
    latest = models.ForeignKey("ConfigurationVersion", null=True, on_delete=models.SET_NULL, related_name="+")

    objects = NamedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(Lower("name"), name="configuration_name_unique_ignoring_case")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("configuration", args=[self.name])


class ConfigurationVersion(Version):
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, related_name="versions")

    class Meta(Version.Meta):
        constraints = [models.UniqueConstraint(fields=["configuration", "number"], name="configuration_version_number")]

    def __str__(self) -> str:
        return f"{self.configuration.name}@{self.number}"

    @property
    def label(self) -> str:
        return str(self)
