"""Reads, named for their use. Nothing here writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.functions import Coalesce, RowNumber
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from runs_app.models import Baseline, Event, Trial
    from scenarios_app.models import Configuration, ConfigurationVersion, Suite


class RunQuerySet(models.QuerySet[Any]):
    def open(self) -> RunQuerySet:
        return self.filter(status__in=("queued", "running"))

    def with_people(self) -> RunQuerySet:
        return self.select_related("suite", "created_by")

    def expired(self, now: datetime) -> RunQuerySet:
        """Temporary ones whose time is over."""
        return self.filter(temporary_until__lte=now)

    def tries_of(self, user: User) -> RunQuerySet:
        """What this person tried once, and may still look at."""
        return self.filter(temporary_until__gt=timezone.now(), created_by=user, fix=None)

    def fixes_of(self, user: User) -> RunQuerySet:
        """The prompts that this person tries out."""
        return self.filter(temporary_until__gt=timezone.now(), created_by=user).exclude(fix=None)

    def holding(self, versions: Iterable[ConfigurationVersion]) -> RunQuerySet:
        """Runs with every one of these configuration versions, newest first, without those that were cancelled."""
        found = self.exclude(status="cancelled")
        for version in versions:
            found = found.filter(configurations__configuration_version=version)
        return found.order_by("-pk")

    def last_called(self) -> Configuration | None:
        """What the newest of these runs called first: the one to offer where somebody has not chosen yet."""
        run = self.order_by("-pk").first()
        entry = run.configurations.select_related("configuration_version__configuration").first() if run else None
        return entry.configuration_version.configuration if entry else None


class KeptRuns(models.Manager.from_queryset(RunQuerySet)):  # type: ignore[misc]
    """The runs that people see and that count; `everything` has what is tried out too, as the engine needs it."""

    def get_queryset(self) -> RunQuerySet:
        return super().get_queryset().filter(temporary_until=None)


class TrialQuerySet(models.QuerySet["Trial"]):
    def counted(self) -> TrialQuerySet:
        """Without those of runs that are only tried out. For every read that is not bound to runs that people see."""
        return self.filter(run__temporary_until=None)

    def seen_by(self, user: User) -> TrialQuerySet:
        """Also those that this person tries out."""
        return self.filter(models.Q(run__temporary_until=None) | models.Q(run__created_by=user))

    def queued(self) -> TrialQuerySet:
        return self.filter(status="queued")

    def leased(self, now: datetime) -> TrialQuerySet:
        return self.filter(status="running", lease_expires_at__gt=now)

    def expired(self, now: datetime) -> TrialQuerySet:
        return self.filter(status="running", lease_expires_at__lte=now)

    def grading_expired(self, now: datetime) -> TrialQuerySet:
        return self.filter(status="grading", grading_lease_expires_at__lte=now)

    def gradable(self) -> TrialQuerySet:
        """Done, with a conversation that can be graded again."""
        return self.filter(status="done", record__isnull=False).exclude(outcome="cancelled")

    def invalid_stages(self) -> list[str]:
        """Of the invalid ones, and of those whose grading can only find them so."""
        known = self.filter(outcome="invalid").order_by().values_list("stage", flat=True)
        sure = self.filter(status__in=("recorded", "grading"), record__ending__kind="invalid").order_by()
        return [*known, *(stage or "unknown" for stage in sure.values_list("record__ending__stage", flat=True))]

    def failed(self, kind: str | None = None) -> TrialQuerySet:
        """With a kind, the key of one of grading.failure_kinds: those that failed so alone."""
        found = self.filter(status="done", outcome="failed")
        return found if kind is None else found.filter(failure_kind=kind)

    def mixed(self, kinds: Sequence[str]) -> TrialQuerySet:
        """Failed ones: one of each kind in the order given, then a second of each, and so on; other kinds last."""
        places = [models.When(failure_kind=kind, then=place) for place, kind in enumerate(kinds)]
        nth = models.Window(RowNumber(), partition_by="failure_kind", order_by=("run_id", "position"))
        kind = models.Case(*places, default=len(kinds), output_field=models.IntegerField())
        return self.annotate(nth=nth).order_by("nth", kind, "run_id", "position")

    def unfinished(self) -> TrialQuerySet:
        return self.exclude(status="done")

    def with_room(self, now: datetime) -> TrialQuerySet:
        """Those whose run holds fewer unexpired leases than its concurrency: the limit that a claim obeys."""
        leases = self.model.objects.leased(now).filter(run=models.OuterRef("run")).order_by()
        held = leases.values("run").annotate(held=models.Count("pk")).values("held")
        return self.alias(held=Coalesce(models.Subquery(held), 0)).filter(held__lt=models.F("run__concurrency"))

    def with_versions(self) -> TrialQuerySet:
        return self.select_related("run", "scenario_version__scenario", "configuration_version__configuration")

    def states(self) -> models.QuerySet[Trial, dict[str, Any]]:
        """What matrix and counts need of each trial, without its record."""
        return self.order_by("position").values(
            "pk", "scenario_version_id", "configuration_version_id", "repeat", "status", "outcome", "stage"
        )


class EventQuerySet(models.QuerySet["Event"]):
    def after(self, attempt: int, seq: int) -> EventQuerySet:
        return self.filter(attempt=attempt, seq__gt=seq)

    def tail(self, attempt: int, count: int) -> list[Event]:
        """The last `count` events of the attempt, in order."""
        newest: list[Event] = list(self.filter(attempt=attempt).order_by("-seq")[:count])
        return newest[::-1]


class BaselineQuerySet(models.QuerySet["Baseline"]):
    def of(self, suite: Suite) -> Baseline | None:
        """The one that counts now."""
        return self.with_names().filter(suite=suite).order_by("-pk").first()

    def with_names(self) -> BaselineQuerySet:
        return self.select_related("suite", "configuration_version__configuration", "run", "created_by")


class KnownFailureQuerySet(models.QuerySet[Any]):
    def open(self) -> KnownFailureQuerySet:
        """Not lifted; expired ones are among them."""
        return self.filter(lifted_at=None)

    def with_names(self) -> KnownFailureQuerySet:
        return self.select_related("scenario", "configuration")


class PreferenceQuerySet(models.QuerySet[Any]):
    def between(self, a: int, b: int) -> PreferenceQuerySet:
        """Pairs of these two configuration versions, of all listeners, whichever of them was called A."""
        one = models.Q(trial_a__configuration_version=a, trial_b__configuration_version=b)
        other = models.Q(trial_a__configuration_version=b, trial_b__configuration_version=a)
        return self.filter(one | other)

    def decided(self) -> PreferenceQuerySet:
        return self.exclude(liked="")

    def with_trials(self) -> PreferenceQuerySet:
        sides = ("scenario_version__scenario", "configuration_version__configuration")
        names = [f"{trial}__{side}" for trial in ("trial_a", "trial_b") for side in sides]
        return self.select_related("listener", "trial_a__run", *names)
