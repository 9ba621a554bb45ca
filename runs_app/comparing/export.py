"""What the page shows, as strict JSON and as CSV. Missing is null, or an empty cell; never 0 and never NaN."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from runs_app.comparing.cards import Card, Difference
from runs_app.comparing.choice import METRICS
from runs_app.comparing.page import Page
from runs_app.comparing.setup import Pairing
from runs_app.comparing.table import Row, Side
from runs_app.reporting.cells import Cell, safe
from runs_app.stats.configuration import ConfigurationSummary, rate_in_words
from runs_app.stats.rows import PASS_RATE
from scenarios_app.spec.factors import FACTORS

Json = Any


def as_json(page: Page) -> dict[str, Json]:
    head: dict[str, Json] = {
        "state": page.state,
        "simulated": page.loaded.simulated,
        "runs": [{"run": run.pk, "name": str(run), "status": run.status} for run in page.loaded.runs],
        "progress": [
            {"configuration": one.column.letter, "done": one.done, "of": one.of, "invalid": one.invalid}
            for one in page.progress
        ],
    }
    if page.comparison is None:
        return {**head, "configurations": [_configuration(one.column) for one in page.progress]}
    summaries = zip(page.columns, page.comparison.configurations, strict=True)
    letters = {column.key: column.letter for column in page.columns}
    return {
        **head,
        "configurations": [{**_configuration(column), **_numbers(summary)} for column, summary in summaries],
        "pairs": [
            {
                "a": letters[pair.a],
                "b": letters[pair.b],
                **_pairing(page, pair.b),
                "metrics": {name: _metric(page.cards, name, pair.b, pair.metrics[name]) for name in METRICS},
            }
            for pair in page.comparison.pairs
        ],
        "critical": [asdict(one) for one in page.critical],
        "metric": page.metric,
        "scenarios": [_scenario(row) for row in page.rows],
    }


def _configuration(column: Any) -> dict[str, Json]:
    version = column.version
    return {
        "configuration": column.letter,
        "name": version.configuration.name,
        "version": version.number,
        "simulated": column.simulated,
        "factors": dict(zip(FACTORS, column.factors.texts, strict=True)),
    }


def _numbers(summary: ConfigurationSummary) -> dict[str, Json]:
    metrics = {name: asdict(numbers) for name, numbers in summary.metrics.items()}
    rate = {**asdict(summary.pass_rate), "words": rate_in_words(summary.pass_rate)}
    return {"trials": summary.trials, "outcomes": summary.outcomes, "metrics": {PASS_RATE: rate, **metrics}}


def _pairing(page: Page, key: str) -> dict[str, Json]:
    found = next(pairing for column, _, pairing in page.setups if column.key == key)
    return _lists(found)


def _lists(pairing: Pairing) -> dict[str, Json]:
    return {"paired": pairing.paired, "of": pairing.of, **{k: list(v) for k, v in _named(pairing)}}


def _named(pairing: Pairing) -> Iterable[tuple[str, tuple[str, ...]]]:
    return ("changed", pairing.changed), ("only_a", pairing.only_a), ("only_b", pairing.only_b)


def _metric(cards: Sequence[Card], metric: str, key: str, compared: Any) -> dict[str, Json]:
    shown = _shown(cards, metric, key)
    return {
        **asdict(compared),
        "change": shown.change,
        "better": shown.better,
        "worse": shown.worse,
        "same": shown.same,
    }


def _shown(cards: Sequence[Card], metric: str, key: str) -> Difference:
    card = next(card for card in cards if card.metric == metric)
    return next(difference for difference in card.differences if difference.column.key == key)


def _scenario(row: Row) -> dict[str, Json]:
    return {
        "scenario": row.scenario_id,
        "title": row.title,
        "critical": row.critical,
        "delta": row.delta,
        "direction": row.direction,
        "note": row.note,
        "sides": {side.column.letter: _side(side) for side in row.sides},
    }


def _side(side: Side) -> dict[str, Json]:
    return {
        "n": side.cell.n if side.cell else 0,
        "of": side.cell.of if side.cell else 0,
        "means": side.cell.means if side.cell else dict.fromkeys(METRICS),
        "tools_matched": side.matched,
        "tools_expected": side.expected,
        "trials": [
            {
                "trial": trial.pk,
                "run": trial.run,
                "repeat": trial.row.repeat,
                "outcome": trial.row.outcome,
                "stage": trial.row.stage,
                "reason": trial.reason,
                "metrics": dict(trial.row.metrics),
            }
            for trial in side.trials
        ],
    }


def as_csv(page: Page) -> str:
    """One row per scenario: per configuration how many trials were graded and every mean, then the difference."""
    text = io.StringIO()
    writer = csv.writer(text)
    columns = [page.columns[0], *([page.other] if page.other else [])] if page.columns else []
    writer.writerow([safe(cell) for cell in _header([column.letter for column in columns], page.metric)])
    writer.writerows([safe(cell) for cell in _line(row)] for row in page.rows)
    return text.getvalue()


def _header(letters: Sequence[str], metric: str) -> list[Cell]:
    own = ("configuration", "n", "of", *METRICS, "tools_matched", "tools_expected", "outcomes")
    per_side = [f"{letter} {name}" for letter in letters for name in own]
    return ["scenario", "title", "simulated", *per_side, f"difference {metric}".strip(), "note"]


def _line(row: Row) -> list[Cell]:
    simulated = "yes" if any(side.column.simulated for side in row.sides) else "no"
    sides = [cell for side in row.sides for cell in _cells(side)]
    return [row.scenario_id, row.title, simulated, *sides, row.delta, row.note]


def _cells(side: Side) -> list[Cell]:
    cell = side.cell
    means: list[Cell] = [cell.means[name] if cell else None for name in METRICS]
    outcomes = " ".join(trial.row.outcome for trial in side.trials)
    counted: list[Cell] = [cell.n if cell else 0, cell.of if cell else 0]
    return [side.column.label, *counted, *means, side.matched, side.expected, outcomes]
