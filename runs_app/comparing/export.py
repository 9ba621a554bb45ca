"""What the page shows, as strict JSON and as CSV. Missing is null, or an empty cell; never 0 and never NaN."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from runs_app.comparing.cards import Card
from runs_app.comparing.choice import METRICS, Choice
from runs_app.comparing.differences import Difference
from runs_app.comparing.page import Against, Page
from runs_app.comparing.picture import Picture
from runs_app.comparing.pictures import pictures
from runs_app.comparing.setup import Pairing
from runs_app.comparing.table import Row, Side
from runs_app.reporting.cells import Cell, safe
from runs_app.stats.configuration import ConfigurationSummary, rate_in_words
from runs_app.stats.pair import PairComparison
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
    return {
        **head,
        "configurations": [{**_configuration(column), **_numbers(summary)} for column, summary in summaries],
        "pairs": [_pair(page, against) for against in page.against],
        "critical": [asdict(one) for one in page.critical],
        "view": page.choice.view,
        "metric": page.metric,
        "compared": list(page.letters or ()),
        "filters": _filters(page.choice),
        "scenarios": [_scenario(row) for row in page.filled(page.rows, every=True)],
        "charts": [_picture(picture) for picture in pictures(page, page.rows)],
    }


def _filters(choice: Choice) -> dict[str, Json]:
    return {
        "show": choice.show,
        "search": choice.search,
        "tags": list(choice.tags),
        "kinds": list(choice.kinds),
        "sort": choice.sort,
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
    return {
        "trials": summary.trials,
        "outcomes": summary.outcomes,
        "metrics": {PASS_RATE: rate, **metrics},
        "tails": asdict(summary.tails) if summary.tails else None,
    }


def _pair(page: Page, against: Against) -> dict[str, Json]:
    assert page.comparison is not None
    pair = page.comparison.pair(page.columns[0].key, against.column.key)
    return {
        "a": page.columns[0].letter,
        "b": against.column.letter,
        **_lists(against.pairing),
        "passport": [asdict(stamp) for stamp in against.stamps],
        "metrics": {name: _metric(page.cards, name, pair) for name in METRICS},
        "tails": asdict(pair.tails) if pair.tails else None,
    }


def _lists(pairing: Pairing) -> dict[str, Json]:
    return {"paired": pairing.paired, "of": pairing.of, **{k: list(v) for k, v in _named(pairing)}}


def _named(pairing: Pairing) -> Iterable[tuple[str, tuple[str, ...]]]:
    return ("changed", pairing.changed), ("only_a", pairing.only_a), ("only_b", pairing.only_b)


def _metric(cards: Sequence[Card], metric: str, pair: PairComparison) -> dict[str, Json]:
    shown = _shown(cards, metric, pair.b)
    return {
        **asdict(pair.metrics[metric]),
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
        "tags": list(row.tags),
        "delta": row.delta,
        "direction": row.direction,
        "suspected": row.suspicion,
        "flag": asdict(row.flag) if row.flag else None,
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
                "repeat": trial.repeat,
                "outcome": trial.outcome,
                "stage": trial.stage,
                "reason": trial.reason,
                "metrics": trial.metrics,
            }
            for trial in side.trials
        ],
    }


def _picture(picture: Picture) -> dict[str, Json]:
    lines = [*picture.lines, *([picture.foot] if picture.foot else [])]
    return {
        "chart": picture.key,
        "title": picture.title,
        "head": list(picture.head),
        "rows": [
            [line.name, *(one.text if one.value is None else one.value for one in line.numbers)] for line in lines
        ],
    }


def as_csv(page: Page) -> str:
    """In the table's view one row per scenario: per configuration how many trials were graded and every mean, then the
    difference. In a view of charts the numbers of each chart, one below the other."""
    drawn = pictures(page, page.rows)
    if page.choice.view != "table":
        return _lines(_picture_lines(drawn))
    return _lines([_header(page), *(_line(row) for row in page.filled(page.rows, every=True))])


def _lines(rows: Iterable[Sequence[Cell]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([safe(cell) for cell in row] for row in rows)
    return text.getvalue()


def _picture_lines(drawn: Sequence[Picture]) -> Iterable[Sequence[Cell]]:
    for picture in drawn:
        yield ["chart", *picture.head]
        for line in (*picture.lines, *([picture.foot] if picture.foot else [])):
            # a missing value is an empty cell; words such as "time-out" stay
            numbers = [one.value if one.value is not None else _said(one.text) for one in line.numbers]
            yield [picture.key, line.name, *numbers]


def _said(text: str) -> Cell:
    return None if text == "no value" else text


def _header(page: Page) -> list[Cell]:
    own = ("configuration", "n", "of", *METRICS, "tools_matched", "tools_expected", "outcomes")
    per_side = [f"{column.letter} {name}" for column in page.columns for name in own]
    between = f" {page.letters[1]} minus {page.letters[0]}" if len(page.columns) > 2 and page.letters else ""
    return ["scenario", "title", "simulated", *per_side, f"difference {page.metric}{between}".strip(), "note"]


def _line(row: Row) -> list[Cell]:
    simulated = "yes" if any(side.column.simulated for side in row.sides) else "no"
    sides = [cell for side in row.sides for cell in _cells(side)]
    return [row.scenario_id, row.title, simulated, *sides, row.delta, row.note]


def _cells(side: Side) -> list[Cell]:
    cell = side.cell
    means: list[Cell] = [cell.means[name] if cell else None for name in METRICS]
    outcomes = " ".join(trial.outcome for trial in side.trials)
    counted: list[Cell] = [cell.n if cell else 0, cell.of if cell else 0]
    return [side.column.label, *counted, *means, side.matched, side.expected, outcomes]
