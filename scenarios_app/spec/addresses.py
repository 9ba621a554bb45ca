"""The rules of what leads elsewhere: addresses and the headers that go there, with their placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from scenarios_app.spec.errors import Problem, path_of
from scenarios_app.spec.templates import placeholder_problem

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# The connection writes these itself.
_OWN = frozenset({"host", "connection", "upgrade", "content-length", "transfer-encoding"})


def url_problem(url: str, schemes: tuple[str, ...], or_else: str = "") -> str | None:
    """Why an address cannot be opened; None when it can. `or_else` ends the sentence of what it must be."""
    address, _, query = url.partition("?")
    if "{{" in address:
        return "{{...}} may stand in the query of an endpoint only"
    if not url.isprintable() or " " in address:
        return "must not contain spaces or control characters"
    try:
        parts = urlsplit(address)
        known = parts.scheme in schemes and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        known = False
    if not known:
        begins = " or ".join(f"{scheme}://" for scheme in schemes)
        return f"must begin with {begins} and a host{or_else}"
    if "@" in parts.netloc:
        return "must not hold a user name or password; use headers"
    if "#" in url:
        return "must not have a # part"
    return placeholder_problem(query, secrets=True)


def header_problems(headers: Mapping[str, str]) -> Iterator[Problem]:
    """The problems of a map of headers, their paths beginning with `headers`."""
    seen: set[str] = set()
    for name, value in headers.items():
        if message := _header_problem(name, value, seen):
            yield Problem(path_of(("headers", name)) if _HEADER_NAME.fullmatch(name) else "headers", message)
        seen.add(name.lower())


def _header_problem(name: str, value: str, seen: set[str]) -> str | None:
    if not _HEADER_NAME.fullmatch(name):
        return f'"{name}" is not a header name'
    if name.lower() in _OWN or name.lower().startswith("sec-websocket-"):
        return "is set by the connection itself"
    if name.lower() in seen:
        return "is given twice (case does not count)"
    if not value.isprintable():
        return "must not contain line breaks or control characters"
    if not value.isascii():
        return "must be plain ASCII"
    return placeholder_problem(value, secrets=True)
