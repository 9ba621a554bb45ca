"""A look into the tables for operators. Versions are read only here as everywhere."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from scenarios_app.models import (
    Application,
    ApplicationVersion,
    Configuration,
    ConfigurationVersion,
    Scenario,
    ScenarioVersion,
    Suite,
)


class ReadOnly(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Scenario)
class ScenarioAdmin(ReadOnly):
    list_display = ["key", "created_at", "archived_at"]
    search_fields = ["key", "latest__search_text"]


@admin.register(Suite, Application, Configuration)
class NamedAdmin(ReadOnly):
    list_display = ["name", "created_at", "archived_at"]
    search_fields = ["name"]


@admin.register(ApplicationVersion)
class VersionAdmin(ReadOnly):
    list_display = ["__str__", "created_at", "created_by", "note"]
    search_fields = ["content_hash", "note"]


@admin.register(ScenarioVersion)
class ScenarioVersionAdmin(VersionAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[ScenarioVersion]:
        return ScenarioVersion.objects.filter(scenario__temporary=False)


@admin.register(ConfigurationVersion)
class ConfigurationVersionAdmin(VersionAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[ConfigurationVersion]:
        return ConfigurationVersion.objects.filter(configuration__temporary=False)
