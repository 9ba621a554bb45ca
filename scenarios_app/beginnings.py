"""Templates: documents to begin with, offered on the pages for something new. They come with the program."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.http import Http404

Document = dict[str, Any]


@dataclass(frozen=True)
class Template:
    """`document` is never changed; `fresh` gives a copy to edit."""

    name: str
    label: str
    hint: str
    document: Document

    def fresh(self) -> Document:
        return copy.deepcopy(self.document)


@cache
def scenario_templates() -> tuple[Template, ...]:
    return _read("scenarios")


@cache
def configuration_templates() -> tuple[Template, ...]:
    return _read("configurations")


@cache
def application_templates() -> tuple[Template, ...]:
    """The demo's: the scenarios' templates name them."""
    file = settings.FIXTURES_DIR / "demo" / "applications.json"
    listed = json.loads(file.read_text("utf-8"))
    return tuple(Template(one["name"].lower().replace(" ", "-"), one["name"], _tools(one), one) for one in listed)


def _tools(application: Document) -> str:
    return "Tools: " + ", ".join(tool["name"] for tool in application["tools"])


def _read(kind: str) -> tuple[Template, ...]:
    file = settings.FIXTURES_DIR / "templates" / f"{kind}.json"
    return tuple(Template(**entry) for entry in json.loads(file.read_text("utf-8")))


def template_named(templates: tuple[Template, ...], name: str) -> Template:
    """Raises Http404."""
    found = next((template for template in templates if template.name == name), None)
    if found is None:
        raise Http404(f"there is no template {name!r}")
    return found


def free_name(taken: Collection[str], name: str) -> str:
    """The name, or with the first number that nobody has: `Name 2`. Case makes no other name."""
    held = {other.casefold() for other in taken}
    candidates = (name if n == 1 else f"{name} {n}" for n in range(1, len(held) + 2))
    return next(candidate for candidate in candidates if candidate.casefold() not in held)
