"""The factors view: for each metric, what prompt, model, voice and tools do by themselves and two of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runs_app.charts_effects import Bar, effects_chart
from runs_app.comparing.choice import METRICS
from runs_app.comparing.loading import Column
from runs_app.comparing.page import Page
from runs_app.comparing.picture import Line, Number, Picture, number
from runs_app.comparing.words import metric_name, metric_unit, plural, signed_text
from runs_app.stats.effects import Change, Effect, Values, factor_effects
from runs_app.stats.rates import FEWEST_FOR_COUNTED
from runs_app.stats.rows import COUNTED
from scenarios_app.spec.factors import FACTORS, Factors

ALWAYS_TOGETHER = "never by itself"


def effect_pictures(page: Page) -> list[Picture]:
    """One per metric; empty where no factor differs."""
    levels = {column.key: _levels(column.factors) for column in page.columns}
    names = _names(page.columns)
    made = []
    for metric in METRICS:
        fewest = FEWEST_FOR_COUNTED if metric in COUNTED else 2
        effects = factor_effects(_values(page, metric), levels, page.columns[0].key, fewest=fewest)
        if effects:
            made.append(_picture(metric, effects, names))
    return made


def _levels(factors: Factors) -> tuple[str, ...]:
    """What tells two levels apart: the prompt by its text and not by its number within a configuration."""
    return (factors.prompt_hash, factors.model, factors.voice, "unknown" if factors.tools is None else factors.tools)


def _names(columns: Sequence[Column]) -> dict[tuple[int, str], str]:
    """Of each level. Two configurations both have a prompt@1: where a text names several levels, letters tell whose."""
    letters: dict[tuple[int, str], list[str]] = {}
    texts: dict[tuple[int, str], str] = {}
    for column in columns:
        for place, (level, text) in enumerate(zip(_levels(column.factors), column.factors.texts, strict=True)):
            texts.setdefault((place, level), text)
            letters.setdefault((place, level), []).append(column.letter)
    shared = Counter((place, text) for (place, _), text in texts.items())
    return {
        (place, level): f"{text} of {', '.join(letters[place, level])}" if shared[place, text] > 1 else text
        for (place, level), text in texts.items()
    }


def _values(page: Page, metric: str) -> Values:
    """Scenarios that every pair ran with the same content; a mean that is missing is left out."""
    assert page.comparison is not None
    odd = {scenario for pair in page.comparison.pairs for scenario in pair.changed}
    found: dict[str, dict[str, float]] = {column.key: {} for column in page.columns}
    for row in page.rows:
        for cell in row.scenario.cells:
            mean = cell.means[metric] if cell else None
            if cell and mean is not None and row.scenario_id not in odd:
                found[cell.configuration_key][row.scenario_id] = mean
    return found


def _picture(metric: str, effects: list[Effect], names: dict[tuple[int, str], str]) -> Picture:
    bars = [Bar(_named(effect, names), effect.value, effect.low, effect.high) for effect in effects]
    return Picture(
        key=f"effects-{metric}",
        title=metric_name(metric),
        figure=effects_chart(bars, title=f"difference, {metric_unit(metric)}"),
        head=("factor", "effect", "from", "to", "told by"),
        lines=tuple(
            Line(bar.name, (*_numbers(metric, effect), _told_by(effect)))
            for bar, effect in zip(bars, effects, strict=True)
        ),
    )


def _numbers(metric: str, effect: Effect) -> tuple[Number, ...]:
    def text(value: float) -> str:
        return signed_text(metric, value)

    return tuple(number(value, text) for value in (effect.value, effect.low, effect.high))


def _told_by(effect: Effect) -> Number:
    if not effect.contrasts:
        return Number(ALWAYS_TOGETHER, None)
    kind = "pair" if len(effect.changes) == 1 else "square"
    return Number(f"{plural(effect.contrasts, kind)}, {plural(effect.scenarios, 'scenario')}", None)


def _named(effect: Effect, names: dict[tuple[int, str], str]) -> str:
    return " with ".join(_change(change, names) for change in effect.changes)


def _change(change: Change, names: dict[tuple[int, str], str]) -> str:
    before, after = (names[change.factor, level] for level in (change.before, change.after))
    return f"{FACTORS[change.factor]}: {before} → {after}"
