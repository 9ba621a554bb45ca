"""Runs for operators to look at. Nothing is changed here: only services do that."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from runs_app.models import Baseline, Decision, Grading, KnownFailure, Review, Run, Trial
from runs_app.querysets import TrialQuerySet


class LookOnly(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Run)
class RunAdmin(LookOnly):
    list_display = ["id", "name", "suite", "status", "repeats", "concurrency", "created_at", "finished_at"]
    list_filter = ["status"]
    search_fields = ["name"]


@admin.register(Trial)
class TrialAdmin(LookOnly):
    list_display = ["id", "run", "repeat", "status", "outcome", "stage", "attempt", "lease_expires_at"]
    list_filter = ["status", "outcome", "stage"]
    list_select_related = ["run"]

    def get_queryset(self, request: HttpRequest) -> TrialQuerySet:
        return Trial.objects.counted()


@admin.register(Grading)
class GradingAdmin(LookOnly):
    list_display = ["id", "trial", "number", "current", "outcome", "stage", "created_at"]
    list_filter = ["outcome", "current"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Grading]:
        return Grading.objects.filter(trial__in=Trial.objects.counted())


@admin.register(Review)
class ReviewAdmin(LookOnly):
    list_display = ["id", "trial", "number", "current", "verdict", "fault", "outcome", "reviewer", "created_at"]
    list_filter = ["verdict", "fault", "current"]


@admin.register(KnownFailure)
class KnownFailureAdmin(LookOnly):
    list_display = ["id", "scenario", "configuration", "kind", "ticket", "expires_on", "lifted_at"]
    list_select_related = ["scenario", "configuration"]


@admin.register(Decision)
class DecisionAdmin(LookOnly):
    list_display = ["id", "suite", "choice", "reviewer", "decided_at"]
    list_filter = ["choice"]


@admin.register(Baseline)
class BaselineAdmin(LookOnly):
    list_display = ["id", "suite", "configuration_version", "created_by", "created_at"]
    list_select_related = ["suite", "configuration_version__configuration", "created_by"]
