"""Addresses that runs and trials link to."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from evalsite.health import healthz


def page(request: HttpRequest, pk: int) -> HttpResponse:
    return HttpResponse(f"{pk}")


urlpatterns = [
    path("healthz", healthz),
    path("runs/<int:pk>/", page, name="run"),
    path("trials/<int:pk>/", page, name="trial"),
]
