"""Importing a file of scenarios: checked first (a table after its columns were chosen), stored on the person's yes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from scenarios_app.models import Suite
from scenarios_app.services import NotStored, find_suite, import_scenarios, read_scenarios
from scenarios_app.services.bundles import open_bundle
from scenarios_app.services.pending import drop_upload, keep_upload
from scenarios_app.services.recordings import keep_recordings
from scenarios_app.services.sounds import recording_paths, unnamed
from scenarios_app.services.suites import suite_name_of
from scenarios_app.spec.csvtext import SEPARATORS, Table, read_table
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.scenario_columns import COLUMNS, NEEDED, guess_columns
from scenarios_app.spec.sources import FORMATS, format_of
from scenarios_app.views.checked import read_note, sent_files, sign, text_to_mend
from scenarios_app.views.limits import few_fields, limited_body
from scenarios_app.views.pages import signed_in

_PREVIEWED = 5  # rows of a table
_CELL = 120  # characters of a cell in the preview
_LABELS = {column.name: column.label for column in COLUMNS}


@limited_body
@few_fields
@require_http_methods(["GET", "HEAD", "POST"])
def scenarios_import(request: HttpRequest) -> HttpResponse:
    """POST of a file: the dry run, for a table the choice of columns; of that choice: the dry run; of a yes: stored."""
    context: dict[str, Any] = {"suite": request.POST.get("suite", request.GET.get("suite", ""))}
    if request.method == "POST":
        try:
            if "checked" in request.POST:
                return _store(request)
            context |= _mapped(request) if "table" in request.POST else _sent(request)
        except SpecError as error:
            context |= {"problems": error.problems, "text": text_to_mend(request)}
        except NotStored as error:
            context["problems"] = [Problem("file", str(error))]
    context |= {"suites": Suite.objects.current(), "formats": FORMATS, "format": request.POST.get("format", "")}
    return render(request, "scenarios_app/import.html", context)


def _sent(request: HttpRequest) -> dict[str, Any]:
    suite = suite_name_of(request.POST.get("suite", ""), "suite")
    bundle = open_bundle(sent_files(request))
    data, kind = bundle.data, request.POST.get("format", "")
    if kind not in FORMATS:
        kind = format_of(bundle.name, data)
    sounds = keep_recordings(files=bundle.sounds, user=signed_in(request))
    note = {"suite": suite, "kind": kind, "file": bundle.name or "The pasted text", "sounds": sounds}
    if kind != "csv":
        return _check(request, data, note)
    table = read_table(data, _separator(request))
    note = {**note, "separator": table.separator, "token": keep_upload(data=data)}
    return _columns(request, table, guess_columns(table.header), note)


def _separator(request: HttpRequest) -> str:
    wanted = request.POST.get("separator", "")
    return wanted if wanted in SEPARATORS else ""


def _columns(request: HttpRequest, table: Table, mapping: dict[str, int], note: dict[str, Any]) -> dict[str, Any]:
    """What the page needs to let a person say which column is which."""
    chosen = {place: name for name, place in mapping.items()}
    rows = [[cell[:_CELL] for cell in row.cells] for row in table.rows[:_PREVIEWED]]
    columns = [
        {
            "place": n,
            "header": name or f"column {n + 1}",
            "chosen": chosen.get(n, ""),
            "cells": [row[n] for row in rows],
        }
        for n, name in enumerate(table.header)
    ]
    return {
        "columns": columns,
        "targets": [
            {"name": column.name, "label": column.label, "needed": column.name in NEEDED} for column in COLUMNS
        ],
        "table": sign(request, **note),
        "rows": len(table.rows),
        "previewed": list(range(1, len(rows) + 1)),
        "separator": table.separator,
        "separators": tuple(SEPARATORS),
        "file_name": note["file"],
        "suite": note["suite"],
    }


def _mapped(request: HttpRequest) -> dict[str, Any]:
    """The dry run of a table, with the columns as chosen; with problems the choice stands there again."""
    note, data = read_note(request, "table")
    wanted = _separator(request) or note["separator"]
    table = read_table(data, wanted)
    if wanted != note["separator"]:
        return _columns(request, table, guess_columns(table.header), {**note, "separator": wanted})
    places = {n: request.POST.get(f"column-{n}", "") for n in range(len(table.header))}
    mapping = {name: n for n, name in places.items() if name in _LABELS}
    twice = sorted({name for name in mapping if list(places.values()).count(name) > 1})
    try:
        if twice:
            raise SpecError([Problem("", f'"{_LABELS[name]}" is chosen for two columns', 1) for name in twice])
        return _check(request, data, {**note, "mapping": mapping})
    except SpecError as error:
        return {**_columns(request, table, mapping, note), "problems": error.problems}


def _check(request: HttpRequest, data: bytes, note: dict[str, Any]) -> dict[str, Any]:
    """A dry run. Raises SpecError."""
    source, sounds = _source(data, note), note["sounds"]
    report = import_scenarios(data=source, suite_name=note["suite"], dry_run=True, sounds=sounds)
    report = replace(report, warnings=(*report.warnings, *unnamed(sounds, recording_paths(source))))
    kept = {**note, "token": note.get("token") or keep_upload(data=data)}
    return {"report": report, "checked": sign(request, **kept), "file_name": note["file"], "suite": note["suite"]}


def _source(data: bytes, note: dict[str, Any]) -> Any:
    return read_scenarios(
        data=data, kind=note["kind"], mapping=note.get("mapping"), separator=note.get("separator", "")
    )


def _store(request: HttpRequest) -> HttpResponse:
    note, data = read_note(request, "checked")
    report = import_scenarios(
        data=_source(data, note), suite_name=note["suite"], user=signed_in(request), sounds=note["sounds"]
    )
    drop_upload(note["token"])
    messages.success(request, f"Imported: {report.counts}.")
    return redirect(find_suite(note["suite"]))
