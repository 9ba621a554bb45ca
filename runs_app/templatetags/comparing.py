"""Repeats of a row as shapes that lead to their trials. A page may have thousands: a template would be slow at it."""

from __future__ import annotations

from django import template
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from runs_app.comparing.heads import Shown
from runs_app.comparing.table import Side

register = template.Library()

MARK = (
    '<a class="repeat {outcome}" href="{href}" title="{title}"><svg class="shape" role="img" '
    'aria-label="repeat {repeat} {outcome}"><use href="#shape-{outcome}"/></svg></a>'
)


@register.filter
def repeat_marks(side: Side) -> SafeString:
    place = reverse("trial", args=[0])
    marks = "".join(_mark(trial, side.column.letter, place) for trial in side.trials)
    return mark_safe(f'<span class="repeats">{marks}</span>')


def _mark(trial: Shown, letter: str, place: str) -> str:
    title = f"{letter} repeat {trial.repeat}: {trial.outcome}"
    return MARK.format(
        outcome=escape(trial.outcome),
        repeat=trial.repeat,
        href=place.replace("/0/", f"/{trial.pk}/"),
        title=escape(f"{title}, {trial.reason}" if trial.reason else title),
    )
