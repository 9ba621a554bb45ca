from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs_app.models import Run


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    return render(request, "runs_app/compare.html", {"runs": Run.objects.select_related("suite")[:20]})


@require_safe
def data(request: HttpRequest) -> HttpResponse:
    return JsonResponse({})
