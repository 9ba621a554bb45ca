"""Failures one after the other, of each only the part where it shows: what is asked for, and what it holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from runs_app.grading.failure_kinds import FailureKind
from runs_app.listening.window import Window, evidence_window
from runs_app.models import Check, Review, Run, Trial
from runs_app.querysets import TrialQuerySet
from runs_app.realtime.record import Record
from scenarios_app.models import ConfigurationVersion
from scenarios_app.spec.jsontext import dumps
from scenarios_app.spec.numbers import number_of

MOST_ITEMS = 200
FAULTS = ("agent", "caller", "judge", "infrastructure")  # of the keys 1 to 4


class BadPlaylist(Exception):
    """What was asked for cannot be read, or is not there; the message names the part of the address."""


class NoSuchRun(BadPlaylist):
    """It names a run that is not there."""


@dataclass(frozen=True)
class Asked:
    """Failed trials of these runs (none: of all) or these trials, narrowed by the rest."""

    runs: tuple[int, ...] = ()
    trials: tuple[int, ...] = ()
    configurations: tuple[int, ...] = ()  # of versions
    kind: str | None = None  # the key of a failure kind

    @property
    def key(self) -> str:
        return hashlib.sha256(dumps(asdict(self)).encode()).hexdigest()


@dataclass(frozen=True)
class Item:
    """One failure: what it was about, and the part of the recording where it shows."""

    trial: Trial
    window: Window
    fault: str  # as the newest review says, or empty


@dataclass(frozen=True)
class Playlist:
    """`silent`: failed as well, but nothing of them was recorded. `more`: beyond what one playlist holds."""

    asked: Asked
    items: tuple[Item, ...]
    silent: tuple[Trial, ...]
    more: int
    title: str


def asked_of(query: QueryDict) -> Asked:
    """Raises BadPlaylist."""
    return Asked(
        runs=_numbers(query, "run"),
        trials=_numbers(query, "trial"),
        configurations=_numbers(query, "configuration"),
        kind=query.get("kind"),
    )


def _numbers(query: QueryDict, name: str) -> tuple[int, ...]:
    found = set()
    for text in query.getlist(name):
        number = number_of(text)
        if number is None:
            raise BadPlaylist(f"{name}: {text[:40]!r} is no number of a {name}")
        found.add(number)
    if len(found) > MOST_ITEMS:
        raise BadPlaylist(f"{name}: at most {MOST_ITEMS} can be named")
    return tuple(sorted(found))


def failed_of(asked: Asked) -> TrialQuerySet:
    """The failed trials that are asked for, the newest run first, in the order of the run."""
    found = Trial.objects.counted().failed(asked.kind)
    if asked.runs:
        found = found.filter(run__in=asked.runs)
    if asked.trials:
        found = found.filter(pk__in=asked.trials)
    if asked.configurations:
        found = found.filter(configuration_version__in=asked.configurations)
    return found.order_by("-run_id", "position")


def playlist_of(asked: Asked) -> Playlist:
    """Raises NoSuchRun."""
    missing = set(asked.runs) - set(Run.objects.filter(pk__in=asked.runs).values_list("pk", flat=True))
    if missing:
        raise NoSuchRun(f"run: there is no run {min(missing)}")
    failed = failed_of(asked).with_versions()
    heard = failed.exclude(wav="").defer("metrics")
    listed = list(heard[:MOST_ITEMS])
    checks, faults = _checks(listed), _faults(listed)
    items = [_item(trial, checks.get(trial.pk, []), faults.get(trial.pk, "")) for trial in listed]
    return Playlist(
        asked=asked,
        items=tuple(item for item in items if item is not None),
        silent=tuple(failed.filter(wav="").defer("metrics", "record")[:MOST_ITEMS]),
        more=max(0, heard.count() - MOST_ITEMS),
        title=_title(asked),
    )


def _item(trial: Trial, checks: list[Mapping[str, Any]], fault: str) -> Item | None:
    window = evidence_window(Record.from_json(trial.record), checks) if trial.record else None
    return Item(trial, window, fault) if window else None


def _checks(trials: list[Trial]) -> dict[int, list[Mapping[str, Any]]]:
    rows = Check.objects.filter(grading__trial__in=trials, grading__current=True, status="failed", required=True)
    found: dict[int, list[Mapping[str, Any]]] = {}
    columns = ("grading__trial_id", "check_id", "status", "required", "evidence")
    for row in rows.order_by("grading_id", "position").values(*columns):
        found.setdefault(row["grading__trial_id"], []).append(row)
    return found


def _faults(trials: list[Trial]) -> dict[int, str]:
    return dict(Review.objects.filter(trial__in=trials, current=True).values_list("trial_id", "fault"))


def _title(asked: Asked) -> str:
    parts = []
    if asked.kind is not None:
        parts.append(FailureKind.from_key(asked.kind).words)
    if asked.configurations:
        versions = ConfigurationVersion.objects.filter(pk__in=asked.configurations).select_related("configuration")
        parts.append(" and ".join(str(version) for version in versions))
    if asked.runs:
        parts.append(", ".join(str(run) for run in Run.objects.filter(pk__in=asked.runs)))
    return " · ".join(parts) or ("chosen trials" if asked.trials else "all runs")


@dataclass(frozen=True)
class PlayLink:
    """A way into the playlist, as pages offer it."""

    count: int
    url: str


def play_link(runs: Iterable[int], *, kind: str | None = None, configurations: Iterable[int] = ()) -> PlayLink | None:
    """The playlist of what failed in these runs, under these configuration versions (none: under all).

    None when there is nothing to hear.
    """
    numbers = sorted(set(runs))
    asked = Asked(runs=tuple(numbers), configurations=tuple(configurations), kind=kind)
    count = failed_of(asked).exclude(wav="").count() if numbers else 0
    return PlayLink(count, play_url(numbers, kind=kind, configurations=asked.configurations)) if count else None


def play_url(runs: Iterable[int], *, kind: str | None = None, configurations: Iterable[int] = ()) -> str:
    query: dict[str, Any] = {"run": list(runs), "configuration": list(configurations)}
    return f"{reverse('playlist')}?{urlencode(query | ({} if kind is None else {'kind': kind}), doseq=True)}"
