"""Makes the intervals of percentiles and pass^k that are too slow for a page, and keeps them by their content."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence

from django.core.cache import cache

from runs_app.comparing.choice import BadChoice, Choice
from runs_app.comparing.loading import load
from runs_app.models import Run, StoredIntervals
from runs_app.services import queues
from runs_app.stats.pairing import pairing_of
from runs_app.stats.tails import TailInput, TailInputs, bootstrap_tails, tails_of
from runs_app.stats.trials import Trials

log = logging.getLogger(__name__)

# Up to so many trials a page makes them itself, in less time than a reader notices.
QUICK_TRIALS = 2_000
ASK_AGAIN_S = 60


def make_intervals(*, run_ids: Sequence[int], version_ids: Sequence[int]) -> int:
    """Of these configurations, and of each against the first (`version_ids` in order; empty: all of the runs). What is
    kept already is not made again. How many were made; 0 when a run is gone."""
    first, *others = [str(pk) for pk in version_ids] or [""]
    try:
        loaded = load(Choice(runs=tuple(run_ids), a=first, bs=tuple(others)))
    except BadChoice as problem:
        log.info("no intervals to make: %s", problem)
        return 0
    wanted = {found.key: found for found in inputs_of(loaded.trials) if tails_of(found).waits}
    kept = set(StoredIntervals.objects.filter(key__in=wanted).values_list("key", flat=True))
    missing = [found for key, found in wanted.items() if key not in kept]
    for key, intervals in bootstrap_tails(missing):
        # two workers may make the same at the same time
        StoredIntervals.objects.bulk_create([StoredIntervals(key=key, intervals=intervals)], ignore_conflicts=True)
    return len(missing)


def inputs_of(trials: Trials) -> list[TailInput]:
    """Every configuration, and each against the first."""
    inputs, every = TailInputs(trials), range(len(trials.configuration_keys))
    own = [inputs.configuration(place) for place in every]
    return own + [inputs.pair(pairing_of(trials, 0, place)) for place in every[1:]]


def stored_intervals(keys: Sequence[str]) -> dict[str, dict[str, list[float] | None]]:
    found = StoredIntervals.objects.filter(key__in=keys)
    return dict(found.values_list("key", "intervals"))


def ask_for_intervals(*, run_ids: Sequence[int], version_ids: Sequence[int]) -> None:
    """Once a minute for the same; lost messages are sent again by whoever looks next."""
    name = "-".join(map(str, ("intervals", *run_ids, "of", *version_ids)))
    if cache.add(hashlib.sha256(name.encode()).hexdigest(), True, ASK_AGAIN_S):
        queues.send_intervals(run_ids=run_ids, version_ids=version_ids)


def ask_for_those_of(run: Run) -> None:
    """At the end of a run, before anyone looks."""
    if run.trials.count() > QUICK_TRIALS:
        queues.send_intervals(run_ids=[run.pk], version_ids=[])
