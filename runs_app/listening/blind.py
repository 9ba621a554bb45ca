"""Two configurations heard without knowing which is which: what can be paired, what comes next, what people liked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
from django.contrib.auth.models import User
from django.http import QueryDict
from django.urls import reverse

from runs_app.audio_http import lasting_url
from runs_app.listening.lanes import Lanes, anchors_of
from runs_app.listening.sheet import Sheet, said_rows
from runs_app.models import Liked, Outcome, Preference, RunConfiguration, Trial
from runs_app.querysets import TrialQuerySet
from runs_app.realtime.record import Record
from runs_app.services.artifacts import wav_shape
from runs_app.stats.rates import Interval, rate_interval
from scenarios_app.models import ConfigurationVersion
from scenarios_app.spec.numbers import number_of

SIDES = ("first", "second")


class BadDuel(Exception):
    """What was asked for cannot be heard; the message names the part of the address."""


@dataclass(frozen=True)
class Duel:
    """Two configuration versions in some runs."""

    runs: tuple[int, ...]
    a: ConfigurationVersion
    b: ConfigurationVersion

    @property
    def url(self) -> str:
        return duel_url(self.runs, self.a.pk, self.b.pk)


@dataclass(frozen=True)
class Tally:
    """Of all listeners and runs. `share` is B's of those with a preference, with Wilson's 95 % interval.

    Repeats of a scenario resemble each other: the interval counts them as the independent pairs that they are worth.
    None where nothing can be told.
    """

    a: int
    b: int
    neither: int
    listeners: int
    share: float | None
    interval: Interval | None


def duel_url(runs: Sequence[int], a: int, b: int) -> str:
    return f"{reverse('blind')}?{urlencode({'run': list(runs), 'a': a, 'b': b}, doseq=True)}"


def duel_of(query: QueryDict) -> Duel:
    """?run=, once or more; ?a= and ?b= are NAME@VERSION or the number of a version, by default the first two."""
    numbers = [number_of(text) for text in query.getlist("run")]
    runs = tuple(dict.fromkeys(number for number in numbers if number is not None))
    if not runs or None in numbers:
        raise BadDuel("run: name the run whose trials are to be heard, such as ?run=7")
    entries = RunConfiguration.objects.filter(run__in=runs).order_by("run_id", "position")
    versions = [e.configuration_version for e in entries.select_related("configuration_version__configuration")]
    versions = list(dict.fromkeys(versions))
    if len(versions) < 2:
        raise BadDuel("run: two configurations are needed to compare by ear, and these runs hold fewer")
    a = _named("a", query.get("a"), versions) or versions[0]
    b = _named("b", query.get("b"), versions) or next(version for version in versions if version != a)
    if a == b:
        raise BadDuel("b: that is the same configuration as a")
    return Duel(runs, a, b)


def _named(part: str, text: str | None, versions: Sequence[ConfigurationVersion]) -> ConfigurationVersion | None:
    if not text:
        return None
    for version in versions:
        if text in (str(version.pk), str(version)):
            return version
    raise BadDuel(f"{part}: no configuration {text[:80]!r} in these runs")


def pairs_of(duel: Duel) -> list[tuple[int, int]]:
    """Numbers of trials: the same scenario and repeat, both recorded. One repeat of all scenarios after the other."""
    heard = Trial.objects.filter(run__in=duel.runs, status="done").exclude(wav="").exclude(outcome=Outcome.INVALID)
    a, b = (_by_place(heard.filter(configuration_version=version)) for version in (duel.a, duel.b))
    return [(a[place], b[place]) for place in sorted(a.keys() & b.keys())]


def _by_place(trials: TrialQuerySet) -> dict[tuple[int, int], int]:
    """Of several at one place the oldest."""
    rows = trials.order_by("-pk").values_list("repeat", "scenario_version__scenario_id", "pk")
    return {(repeat, scenario): pk for repeat, scenario, pk in rows}


def left_for(duel: Duel, listener: User) -> list[tuple[int, int]]:
    """What this listener has not decided yet."""
    decided = Preference.objects.filter(listener=listener).decided()
    known = {frozenset(pair) for pair in decided.values_list("trial_a_id", "trial_b_id")}
    return [pair for pair in pairs_of(duel) if frozenset(pair) not in known]


def tally_of(a: ConfigurationVersion, b: ConfigurationVersion) -> Tally:
    decided = Preference.objects.between(a.pk, b.pk).decided()
    columns = ("liked", "trial_a__configuration_version_id", "trial_a__scenario_version__scenario_id", "listener_id")
    votes: dict[int, list[float]] = {}
    neither, listeners = 0, set()
    for liked, version, scenario, listener in decided.values_list(*columns):
        listeners.add(listener)
        if liked == Liked.NEITHER:
            neither += 1
        else:
            votes.setdefault(scenario, []).append(float((liked == Liked.A) == (version == b.pk)))
    total, for_b = sum(map(len, votes.values())), round(sum(map(sum, votes.values())))
    return Tally(
        a=total - for_b,
        b=for_b,
        neither=neither,
        listeners=len(listeners),
        share=for_b / total if total else None,
        interval=_interval(list(votes.values())),
    )


def _interval(groups: list[list[float]]) -> Interval | None:
    """`groups`: of each scenario the votes, 1 for B."""
    n = np.array([len(group) for group in groups], dtype=float)
    share = np.array([sum(group) / len(group) for group in groups], dtype=float)
    return rate_interval(n, share, n * share * (1 - share))


def blind_sheet(pair: Preference, side: str) -> Sheet:
    """Waves, turns and words, and nothing that says whose they are. Raises FileNotFoundError."""
    trial = pair.in_order[SIDES.index(side)]
    if not trial.wav:
        raise FileNotFoundError(f"{trial} has no recording any more")
    shape = wav_shape(trial.wav)
    record = Record.from_json(trial.record) if trial.record else None
    lanes = Lanes(0, 0, anchors=tuple(anchors_of(record.turns)) if record else ())
    return Sheet(
        label=side,
        lanes=lanes.lasting(shape.duration_ms),
        rows=tuple(said_rows(record)) if record else (),
        wav_url=lasting_url(reverse("blind-wav", args=[pair.pk, side]), trial.wav),
        peaks_url=lasting_url(reverse("blind-peaks", args=[pair.pk, side]), trial.peaks) if trial.peaks else "",
        channels=shape.channels,
    )
