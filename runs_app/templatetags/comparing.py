"""Cells of the comparison's table. A page may have thousands, at which a template would be slow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django import template
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from runs_app.comparing.heads import Shown
from runs_app.comparing.table import Pair, Side
from runs_app.comparing.words import metric_name
from runs_app.stats.rows import PASS_RATE
from runs_app.templatetags.figures import ms, percent, score

register = template.Library()

MARK = (
    '<a class="repeat {outcome}" href="{href}" title="{title}"><svg class="shape" role="img" '
    'aria-label="repeat {repeat} {outcome}"><use href="#shape-{outcome}"/></svg></a>'
)


register.filter("metric_name", metric_name)


@register.filter
def repeats_cell(side: Side) -> SafeString:
    """Every repeat and how many were graded; where the repeats were not read, the pass rate."""
    if side.cell is None:
        return mark_safe("–")
    n, of = side.cell.n, side.cell.of
    counted = (
        f'<span class="n">n {n}</span>' if n == of else f'<span class="n" title="graded of all">n {n} of {of}</span>'
    )
    if side.trials:
        return mark_safe(f"{_marks(side)} {counted}")
    return mark_safe(f"{percent(side.cell.means[PASS_RATE])} {counted}")


@register.filter
def sides_of(sides: Sequence[Side], pair: Pair | None) -> Sequence[Side]:
    """Those of the pair; all without a pair."""
    return sides if pair is None else [sides[column.place] for column in pair]


@register.filter
def group_cells(sides: Sequence[Side], hidden: Sequence[str]) -> SafeString:
    """The cells of each configuration in a table of three or more."""
    return mark_safe("".join(cell for side in sides for cell in _cells(side, hidden)))


def _cells(side: Side, hidden: Sequence[str]) -> Iterator[str]:
    if "repeats" not in hidden:
        yield f'<td class="first-of-group">{repeats_cell(side)}</td>'
    if "tools" not in hidden:
        counted = side.tools if side.trials or side.cell is None else score(side.cell.means["tool_accuracy"])
        yield f"<td>{escape(counted)}</td>"
    if "latency" not in hidden:
        bar = f'<span class="bar {side.column.series}" style="width:{side.bar_rem}rem"></span> ' if side.bar_rem else ""
        yield f'<td class="nowrap">{bar}<span class="muted">{ms(side.latency_ms)}</span></td>'


def _marks(side: Side) -> str:
    place = reverse("trial", args=[0])
    marks = "".join(_mark(trial, side.column.letter, place) for trial in side.trials)
    return f'<span class="repeats">{marks}</span>'


def _mark(trial: Shown, letter: str, place: str) -> str:
    title = f"{letter} repeat {trial.repeat}: {trial.outcome}"
    return MARK.format(
        outcome=escape(trial.outcome),
        repeat=trial.repeat,
        href=place.replace("/0/", f"/{trial.pk}/"),
        title=escape(f"{title}, {trial.reason}" if trial.reason else title),
    )
