"""How long a run will take: from earlier trials where there are any, else from the words that will be spoken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg, DurationField, ExpressionWrapper, F

from runs_app.models import Outcome, Trial
from scenarios_app.models import ConfigurationVersion, ScenarioVersion

WORDS_PER_S = 2.5  # a calm speaker
AROUND_S = 3.0  # opening the session, thinking, tools
MOST_RECENT = 2000  # trials that are looked at


@dataclass(frozen=True)
class Estimate:
    trials: int
    seconds: float
    known: int  # of `pairs`, how many have a history
    pairs: int

    @property
    def minutes(self) -> float:
        return self.seconds / 60

    @property
    def source(self) -> str:
        if self.known == self.pairs:
            return "from earlier trials of the same scenarios"
        return "from earlier trials and the words to be spoken" if self.known else "from the words to be spoken"


def estimate(
    scenarios: Sequence[ScenarioVersion],
    configurations: Sequence[ConfigurationVersion],
    *,
    repeats: int,
    concurrency: int,
    mode: str = "",
    real_time: bool | None = None,
) -> Estimate:
    """Trials under way at once share the time; a run with fewer trials than lanes lasts as long as one of them."""
    history = _history(scenarios, mode=mode, real_time=real_time)
    pairs = [(scenario, configuration) for scenario in scenarios for configuration in configurations]
    each = [
        history.get(scenario.scenario_id)
        or expected_s(scenario.content, configuration.content, mode=mode, real_time=real_time)
        for scenario, configuration in pairs
    ]
    trials = len(pairs) * repeats
    longest = max(each, default=0.0)
    return Estimate(
        trials=trials,
        seconds=max(sum(each) * repeats / max(concurrency, 1), longest),
        known=sum(scenario.scenario_id in history for scenario, _ in pairs),
        pairs=len(pairs),
    )


def expected_s(
    scenario: Mapping[str, Any], configuration: Mapping[str, Any], *, mode: str = "", real_time: bool | None = None
) -> float:
    """Of one trial: words take their time only when they are really spoken, as audio and in real time."""
    chosen = mode or scenario.get("mode") or configuration.get("mode") or "text"
    paced = configuration.get("audio", {}).get("real_time", True) if real_time is None else real_time
    if chosen == "text" or not paced:
        return AROUND_S
    words = f"{scenario['input']['text']} {scenario['expected'].get('answer', '')}".split()
    return AROUND_S + len(words) / WORDS_PER_S


def _history(scenarios: Sequence[ScenarioVersion], *, mode: str, real_time: bool | None) -> dict[int, float]:
    """Mean seconds of a conversation by scenario, of runs that were asked to go the same way."""
    same_way = Trial.objects.counted().filter(
        run__mode=mode,
        run__real_time=real_time,
        scenario_version__scenario__in=[version.scenario_id for version in scenarios],
        outcome__in=(Outcome.PASSED, Outcome.FAILED),
        recorded_at__isnull=False,
        started_at__isnull=False,
    )
    recent = same_way.order_by("-pk").values("pk")[:MOST_RECENT]
    lasted = ExpressionWrapper(F("recorded_at") - F("started_at"), output_field=DurationField())
    rows = Trial.objects.filter(pk__in=recent).order_by().values_list("scenario_version__scenario_id")
    return {scenario: mean.total_seconds() for scenario, mean in rows.annotate(mean=Avg(lasted)) if mean}
