"""What the list pages share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from scenarios_app.beginnings import Template
from scenarios_app.models import Suite
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.numbers import number_of

PAGE_SIZE = 100


def page_of(request: HttpRequest, rows: QuerySet[Any]) -> Page[Any]:
    """The page that ?page= names; a number out of range gives the nearest one."""
    return Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))


def two_versions(request: HttpRequest, versions: list[Any]) -> tuple[Any, Any]:
    """The versions that ?from= and ?to= name; without them the newest and the one before.

    `versions` are in order, newest first.
    """
    by_number = {version.number: version for version in versions}
    try:
        new = by_number[int(request.GET.get("to", versions[0].number))]
        return by_number[int(request.GET.get("from", max(new.number - 1, 1)))], new
    except (ValueError, KeyError) as error:
        raise Http404 from error


def content_to_edit(request: HttpRequest, thing: Any) -> Any:
    """The newest content or, with ?from=NUMBER, that of an older version, which a save makes the newest again."""
    number = request.GET.get("from")
    if not number:
        return thing.latest.content
    return get_object_or_404(thing.versions, number=number_of(number)).content


def second_look(judge: Callable[[Any], list[Problem]], content: Any) -> list[Problem]:
    """What the page of something stored says of it: remarks, or what is wrong by today's contract."""
    try:
        return judge(content)
    except SpecError as error:  # stored under an older contract
        return list(error.problems)


def suite_or_404(name: str) -> Suite:
    suite: Suite = get_object_or_404(Suite.objects.named(name))
    return suite


def tags_of(text: str) -> list[str]:
    """What was typed, separated by commas."""
    return list(dict.fromkeys(tag.strip() for tag in text.split(",") if tag.strip()))


def templates_offered(request: HttpRequest, templates: tuple[Template, ...]) -> dict[str, Any]:
    """What the page for something new says of templates; nothing once something else is being written."""
    if request.method == "POST" or {"from", "draft"} & set(request.GET):
        return {}
    return {"beginnings": templates, "chosen": request.GET.get("template", "")}


def signed_in(request: HttpRequest) -> User:
    """The person behind the request; the sign-in middleware lets nobody else come here."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
