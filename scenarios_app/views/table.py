"""Scenarios in a table: many written or changed at once, saved together or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from scenarios_app.forms.table import (
    MOST_ROWS,
    SHOWN_COLUMNS,
    TableRow,
    read_contents,
    read_rows,
    rows_of,
    with_blanks,
)
from scenarios_app.models import Suite
from scenarios_app.services import save_table
from scenarios_app.spec.errors import Part, Problem, SpecError, path_of
from scenarios_app.views.chosen import chosen_scenarios
from scenarios_app.views.limits import limited_body
from scenarios_app.views.pages import signed_in

_NEW_ROWS = 10


@limited_body
@require_http_methods(["GET", "HEAD", "POST"])
def scenarios_table(request: HttpRequest) -> HttpResponse:
    """GET shows the chosen scenarios, or with ?new= empty rows alone; a POST adds rows, checks, or saves."""
    context: dict[str, Any] = {"columns": SHOWN_COLUMNS, "most": MOST_ROWS, "suite": request.POST.get("suite", "")}
    if request.method == "POST":
        rows = _posted(request, context)
        if rows is None:
            return redirect("scenarios")
    elif "new" in request.GET:
        rows = rows_of([], _NEW_ROWS)
    else:
        chosen = chosen_scenarios(request.GET)
        versions = [one.latest for one in chosen[:MOST_ROWS] if one.latest]
        rows, context["left_out"] = rows_of(versions), max(0, chosen.count() - MOST_ROWS)
    context |= {"rows": rows, "suites": Suite.objects.current()}
    context["wrong"] = sum(bool(row.errors) for row in rows)
    return render(request, "scenarios_app/table.html", context)


def _posted(request: HttpRequest, context: dict[str, Any]) -> list[TableRow] | None:
    """The rows to show again; None when they are stored."""
    rows: list[TableRow] = []
    try:
        rows = read_rows(request.POST)
        if request.POST.get("action") == "rows":
            return with_blanks(rows, _NEW_ROWS)
        contents = read_contents(rows)
        if not any(row.errors for row in rows) and request.POST.get("action") == "save":
            _save(request, rows, contents)
            return None
        context["checked"] = True
    except SpecError as error:
        context["problems"] = _at_their_cells(error.problems, rows)
    return with_blanks(rows)


def _save(request: HttpRequest, rows: Sequence[TableRow], contents: dict[int, dict[str, Any]]) -> None:
    """Raises SpecError."""
    stored = [(row.base, contents[row.index]) for row in rows if row.base]
    fresh = [contents[row.index] for row in rows if not row.base]
    suite = request.POST.get("suite", "").strip()
    changed = save_table(stored=stored, fresh=fresh, suite_name=suite, user=signed_in(request))
    same = len(rows) - len(changed)
    into = f" All of them are in {suite}." if suite else ""
    messages.success(request, f"{len(fresh)} new, {len(changed) - len(fresh)} changed, {same} left as they were.{into}")


def _at_their_cells(problems: Sequence[Problem], rows: Sequence[TableRow]) -> list[Problem]:
    """Notes each problem at its row, whose id its path begins with. Returns those of no row."""
    by_key: dict[Part, TableRow] = {row.key: row for row in rows}
    rest = []
    for problem in problems:
        row = by_key.get(next(iter(problem.parts), ""))
        if row is None:
            rest.append(problem)
        else:
            row.refuse([Problem(path_of(problem.parts[1:]), problem.message)])
    return rest
