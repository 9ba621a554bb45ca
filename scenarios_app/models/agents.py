"""Agents under test, and the applications that they use."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Lower
from django.urls import reverse

from scenarios_app.models.versions import Authored, Version
from scenarios_app.querysets import KeptNamed, NamedQuerySet


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
    temporary = models.BooleanField(default=False)  # a prompt while it is tried out: shown and offered nowhere
    latest = models.ForeignKey("ConfigurationVersion", null=True, on_delete=models.SET_NULL, related_name="+")

    objects = KeptNamed()
    everything = NamedQuerySet.as_manager()

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
        if self.configuration.temporary:
            return f"{self.content['name']} (draft)"
        return f"{self.configuration.name}@{self.number}"

    @property
    def label(self) -> str:
        return str(self)
