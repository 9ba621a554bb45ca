"""The archive: everything that was put out of sight, and the way back. One view archives any kind of thing."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from scenarios_app.models import Application, Configuration, Scenario, Suite
from scenarios_app.services import archive, bring_back

_SHOWN = 100  # of each kind
# kind -> its queryset, and the field that names one
_KINDS: dict[str, tuple[Any, str]] = {
    "scenario": (Scenario.objects, "key"),
    "suite": (Suite.objects, "name"),
    "application": (Application.objects, "name"),
    "configuration": (Configuration.objects, "name"),
}


@require_safe
def archived_list(request: HttpRequest) -> HttpResponse:
    """What is archived, of each kind the newest first; ?q= narrows all of them."""
    q = request.GET.get("q", "").strip()
    groups = [_group(kind, q) for kind in _KINDS]
    context = {"q": q, "groups": groups, "total": sum(group["count"] for group in groups)}
    return render(request, "scenarios_app/archive.html", context)


def _group(kind: str, q: str) -> dict[str, Any]:
    rows = _KINDS[kind][0].archived().matching(q)
    if kind != "suite":
        rows = rows.select_related("latest")
    return {
        "kind": kind,
        "url": f"{kind}-archive",
        "count": rows.count(),
        "rows": rows.order_by("-archived_at", "pk")[:_SHOWN],
    }


@require_POST
def set_archived(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """Archives it or, with archived=no, brings it back; then its page, or with back=archive the archive."""
    rows, field = _KINDS[kind]
    thing: Any = get_object_or_404(rows.all(), **{f"{field}__iexact": name})
    if request.POST.get("archived") == "no":
        bring_back(things=[thing])
        messages.success(request, f"{thing} is back in lists and new runs.")
    else:
        archive(things=[thing])
        messages.success(request, f"{thing} is archived: lists and new runs leave it out, old runs keep it.")
    return redirect("archive") if request.POST.get("back") == "archive" else redirect(thing)
