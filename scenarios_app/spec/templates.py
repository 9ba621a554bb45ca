"""The `{{...}}` placeholders of configurations: which exist, where they may stand. Values are filled in elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenarios_app.spec.errors import Problem, join_path, path_of
from scenarios_app.spec.jsontext import Json

SEED_NAMES = frozenset({"trial.seed", "trial.repeat", "run.seed"})
PLACEHOLDER = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")

_SECRET = re.compile(r"secrets\.[A-Za-z_][A-Za-z0-9_]*")


def placeholders(text: str) -> tuple[str, ...]:
    """The names in a text, in order: `Bearer {{ secrets.KEY }}` -> ("secrets.KEY",)."""
    return tuple(match[1] for match in PLACEHOLDER.finditer(text))


def placeholder_problem(text: str, *, secrets: bool) -> str | None:
    """Why the placeholders of a text cannot be filled in; None when they can."""
    if "{{" in PLACEHOLDER.sub("", text):
        return "a {{ without its }}"
    for name in placeholders(text):
        if _SECRET.fullmatch(name):
            if not secrets:
                return f"{{{{{name}}}}}: secrets may stand in headers, api_key, token and the endpoint's query only"
        elif name not in SEED_NAMES:
            known = ["secrets.NAME"] * secrets + sorted(SEED_NAMES)
            return f"{{{{{name}}}}} is not known; known are {', '.join(f'{{{{{each}}}}}' for each in known)}"
    return None


def no_placeholders(value: Json, path: str) -> Iterator[Problem]:
    """A problem for every text or key in `value` that has a `{{`."""
    if isinstance(value, str) and "{{" in value:
        yield Problem(path, "{{...}} is filled in only in headers, model, api_key, token and the endpoint's query")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from no_placeholders(key, path)
            yield from no_placeholders(item, join_path(path, path_of([key])))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from no_placeholders(item, f"{path}[{index}]")
