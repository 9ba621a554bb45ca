"""The column "first divergence": for each row on show, one trial of either side and where the two part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runs_app.comparing.divergence import Divergence, first_divergence
from runs_app.comparing.heads import Shown
from runs_app.comparing.table import Pair, Row
from runs_app.models import Trial
from runs_app.realtime.record import Record


@dataclass(frozen=True)
class Parting:
    """`divergence` is None when the two did and said the same."""

    a: Shown
    b: Shown
    divergence: Divergence | None


def partings(rows: Iterable[Row], pair: Pair | None) -> dict[str, Parting]:
    """By scenario id; rows in which a side has no conversation have none. Two trials are read for each row."""
    if pair is None:
        return {}
    chosen = {row.scenario_id: two for row in rows if (two := trials_to_hold(*(_of(row, column) for column in pair)))}
    records = _records(trial.pk for two in chosen.values() for trial in two)
    letters = pair[0].letter, pair[1].letter
    return {
        scenario: Parting(a, b, first_divergence(records[a.pk], records[b.pk], letters))
        for scenario, (a, b) in chosen.items()
        if a.pk in records and b.pk in records
    }


def _of(row: Row, column: object) -> Sequence[Shown]:
    return next((side.trials for side in row.sides if side.column == column), ())


def trials_to_hold(of_a: Sequence[Shown], of_b: Sequence[Shown]) -> tuple[Shown, Shown] | None:
    """The two that say most: the same repeat with another outcome, else the first repeat that both have. What was not
    graded stands back."""
    a = [trial for trial in of_a if trial.graded] or [trial for trial in of_a if trial.outcome]
    b = [trial for trial in of_b if trial.graded] or [trial for trial in of_b if trial.outcome]
    both = [(one, other) for one in a for other in b if one.repeat == other.repeat]
    apart = [two for two in both if two[0].outcome != two[1].outcome]
    if apart or both:
        return (apart or both)[0]
    return (a[0], b[0]) if a and b else None


def _records(trials: Iterable[int]) -> dict[int, Record]:
    rows = Trial.objects.filter(pk__in=list(trials), record__isnull=False).values_list("pk", "record")
    return {pk: Record.from_json(record) for pk, record in rows if record}
