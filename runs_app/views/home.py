from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs_app.models import Run


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "runs_app/home.html", {"runs": Run.objects.select_related("suite")[:10]})
