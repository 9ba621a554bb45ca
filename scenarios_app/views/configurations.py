"""Configurations: the list, one configuration at a glance, its versions and the difference of two prompts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from scenarios_app.cards import configuration_card
from scenarios_app.changes import Changed, content_changes
from scenarios_app.diffing import diff_texts, diff_words
from scenarios_app.models import Configuration, ConfigurationVersion
from scenarios_app.presentation import in_contract_order, pretty_json
from scenarios_app.services import configuration_warnings
from scenarios_app.services.factors import factors_of
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.prompts import prompt_size
from scenarios_app.views.pages import page_of, second_look, two_versions


def configuration_or_404(name: str) -> Configuration:
    found: Configuration = get_object_or_404(Configuration.objects.named(name).select_related("latest"))
    return found


@require_safe
def configuration_list(request: HttpRequest) -> HttpResponse:
    q = request.GET.get("q", "").strip()
    rows = Configuration.objects.current().matching(q).select_related("latest", "latest__created_by")
    page = page_of(request, rows)
    cards = [(row, configuration_card(row.latest.content)) for row in page if row.latest]
    return render(request, "scenarios_app/configurations.html", {"q": q, "page": page, "cards": cards})


@require_safe
def configuration_page(request: HttpRequest, name: str) -> HttpResponse:
    configuration = configuration_or_404(name)
    return _show(request, configuration, configuration.latest)


@require_safe
def configuration_version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    configuration = configuration_or_404(name)
    return _show(request, configuration, get_object_or_404(configuration.versions, number=number))


def _show(request: HttpRequest, configuration: Configuration, version: ConfigurationVersion | None) -> HttpResponse:
    if version is None:
        raise Http404
    versions = list(configuration.versions.newest_first())
    known = factors_of(versions)
    before = {new.pk: known[old.pk] for new, old in pairwise(versions)}
    context = {
        "configuration": configuration,
        "version": version,
        "versions": versions,
        "previous": next((entry for entry in versions if entry.number < version.number), None),
        "labels": {entry.pk: known[entry.pk].labels(before.get(entry.pk)) for entry in versions},
        "changes": {new.pk: _changed(old, new) for new, old in pairwise(versions)},
        "card": configuration_card(version.content),
        "size": prompt_size(version.content.get("instructions", "")),
        "json": pretty_json(in_contract_order(version.content, parse_configuration)),
        "warnings": second_look(configuration_warnings, version.content),
    }
    return render(request, "scenarios_app/configuration.html", context)


@require_safe
def configuration_diff(request: HttpRequest, name: str) -> HttpResponse:
    configuration = configuration_or_404(name)
    versions = list(configuration.versions.newest_first())
    old, new = two_versions(request, versions)
    known = factors_of([old, new])
    texts = old.content.get("instructions", ""), new.content.get("instructions", "")
    by_words = request.GET.get("view") == "words"
    rest = diff_texts(_without_prompt(old.content), _without_prompt(new.content))
    context = {
        "thing": configuration,
        "word": "configuration",
        "versions": versions,
        "old": old,
        "new": new,
        "sides": [(old, known[old.pk].labels()), (new, known[new.pk].labels(known[old.pk]))],
        "compare_url": reverse("configuration-compare", args=[configuration.name]),
        "changes": _changed(old, new),
        "view": "words" if by_words else "lines",
        "views": ("lines", "words"),
        "words": diff_words(*texts) if by_words else None,
        "parts": [*([] if by_words else [("Instructions", diff_texts(*texts))]), ("Everything else", rest)],
    }
    return render(request, "scenarios_app/diff.html", context)


def _changed(old: ConfigurationVersion, new: ConfigurationVersion) -> tuple[Changed, ...]:
    return content_changes(*(in_contract_order(entry.content, parse_configuration) for entry in (old, new)))


def _without_prompt(content: dict[str, Any]) -> str:
    return pretty_json({key: value for key, value in content.items() if key != "instructions"}, sort_keys=True)
