"""Pass rates of a run as the machine graded it and as people reviewed it, side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from runs_app.models import Fault, Outcome, Review, Run, RunConfiguration
from runs_app.stats.agreement import Agreement, agreement
from runs_app.stats.configuration import PassRate, summarise_configuration
from runs_app.stats.rows import TrialRow

_GRADED = (Outcome.PASSED, Outcome.FAILED)


@dataclass(frozen=True)
class ReviewedRate:
    """One configuration. `overturned` are the reviewed trials that count otherwise than the machine said, `moved` of
    those by the fault that took them out of the rate."""

    label: str
    machine: PassRate
    with_review: PassRate
    reviewed: int
    overturned: int
    moved: dict[str, int]


@dataclass(frozen=True)
class RunReview:
    rates: tuple[ReviewedRate, ...]
    agreement: Agreement
    reviewed: int
    trials: int

    @property
    def overturned(self) -> int:
        return sum(rate.overturned for rate in self.rates)


def review_of(run: Run) -> RunReview | None:
    """None while nobody has reviewed a trial of the run."""
    reviews = {review.trial_id: review for review in Review.objects.filter(trial__run=run, current=True)}
    if not reviews:
        return None
    rows = _rows(run)
    entries = run.configurations.select_related("configuration_version__configuration").order_by("position")
    rates = tuple(_rate(entry, rows[entry.configuration_version_id], reviews) for entry in entries)
    outcomes = {pk: row.outcome for own in rows.values() for pk, row in own}
    return RunReview(rates, _agreement(outcomes, reviews), len(reviews), len(outcomes))


Rows = list[tuple[int, TrialRow]]


def _rows(run: Run) -> dict[int, Rows]:
    found: dict[int, Rows] = defaultdict(list)
    columns = ("pk", "scenario_version__scenario__key", "configuration_version_id", "repeat", "outcome", "stage")
    for pk, key, version, repeat, outcome, stage in run.trials.order_by("position").values_list(*columns):
        row = TrialRow(
            scenario_id=key, run_hash="", configuration_key=str(version), repeat=repeat, outcome=outcome, stage=stage
        )
        found[version].append((pk, row))
    return found


def _rate(entry: RunConfiguration, rows: Rows, reviews: dict[int, Review]) -> ReviewedRate:
    own = [(row, reviews[pk]) for pk, row in rows if pk in reviews]
    turned = [(row, review) for row, review in own if review.outcome and review.outcome != row.outcome]
    return ReviewedRate(
        label=str(entry.configuration_version),
        machine=_pass_rate([row for _, row in rows]),
        with_review=_pass_rate([_with(row, reviews.get(pk)) for pk, row in rows]),
        reviewed=len(own),
        overturned=len(turned),
        moved=_moved(review for _, review in turned),
    )


def _pass_rate(rows: list[TrialRow]) -> PassRate:
    key = rows[0].configuration_key if rows else ""
    return summarise_configuration(key, rows, ()).pass_rate


def _with(row: TrialRow, review: Review | None) -> TrialRow:
    if review is None or not review.outcome or review.outcome == row.outcome:
        return row
    stage = f"review: {review.fault}" if review.outcome == Outcome.INVALID else ""
    return replace(row, outcome=review.outcome, stage=stage)


def _moved(reviews: Iterable[Review]) -> dict[str, int]:
    faults = Counter(review.fault for review in reviews if review.outcome not in _GRADED)
    return {fault: faults[fault] for fault in Fault.values if faults[fault]}


def _agreement(outcomes: dict[int, str], reviews: dict[int, Review]) -> Agreement:
    pairs = [(outcomes[pk], review.outcome) for pk, review in reviews.items()]
    return agreement(pair for pair in pairs if pair[0] in _GRADED and pair[1] in _GRADED)
