"""The session that will be sent, to be read before anybody pays for one; and who may have which secret."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from runs_app.services.refusal import CannotPlan
from runs_app.services.session_preview import KnownSecret, SecretUse, known_secrets, preview_session, secret_uses
from scenarios_app.models import ConfigurationVersion, Scenario, ScenarioVersion
from scenarios_app.spec.errors import SpecError
from scenarios_app.views.configurations import configuration_or_404


@require_safe
def session_preview(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """?scenario= adds what that scenario lets the agent know."""
    versions = configuration_or_404(name).versions.select_related("configuration")
    version: ConfigurationVersion = get_object_or_404(versions, number=number)
    key = request.GET.get("scenario", "").strip()
    context = {"version": version, "key": key, "uses": _uses(version), "known": _known(), **_previewed(version, key)}
    return render(request, "runs_app/session_preview.html", context)


def _previewed(version: ConfigurationVersion, key: str) -> dict[str, object]:
    scenario = _scenario(key) if key else None
    if key and scenario is None:
        return {"problem": f"There is no scenario {key}."}
    try:
        return {"preview": preview_session(version, scenario)}
    except CannotPlan as problem:
        return {"problem": problem.reason}


def _scenario(key: str) -> ScenarioVersion | None:
    found = Scenario.objects.current().keyed(key).with_latest().first()
    return found.latest if found else None


def _uses(version: ConfigurationVersion) -> tuple[SecretUse, ...]:
    try:
        return secret_uses(version)
    except (SpecError, ImproperlyConfigured):  # the preview beside it says what is wrong
        return ()


def _known() -> tuple[KnownSecret, ...]:
    try:
        return known_secrets()
    except ImproperlyConfigured:
        return ()
