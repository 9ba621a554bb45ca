"""Test a configuration's connection: a session is opened, looked at and closed, while the page waits."""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from runs_app.run_page import ADVICE
from runs_app.services.connection import Connection, open_connection, prepare_connection
from runs_app.services.refusal import CannotPlan
from runs_app.views.parts import is_htmx
from scenarios_app.models import ConfigurationVersion
from scenarios_app.views.configurations import configuration_or_404


@require_POST
async def test_connection(request: HttpRequest, name: str, number: int) -> HttpResponse:
    version = await sync_to_async(_version)(name, number)
    try:
        found = await open_connection(await sync_to_async(prepare_connection)(version))
    except CannotPlan as problem:
        found = Connection(stage=problem.stage, message=problem.reason)
    return await sync_to_async(_answer)(request, version, found)


def _version(name: str, number: int) -> ConfigurationVersion:
    versions = configuration_or_404(name).versions.select_related("configuration")
    version: ConfigurationVersion = get_object_or_404(versions, number=number)
    return version


def _answer(request: HttpRequest, version: ConfigurationVersion, found: Connection) -> HttpResponse:
    part = "connection_found" if is_htmx(request) else "connection"
    context = {"version": version, "found": found, "advice": ADVICE.get(found.stage, "")}
    return render(request, f"runs_app/{part}.html", context)
