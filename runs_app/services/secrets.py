"""Secrets from the environment: who may receive them, and how they stay out of everything else.

The operator binds each name to origins: `SOUNDCHECK_SECRETS=OPENAI_API_KEY=https://api.openai.com,wss://api.openai.com`
(secrets separated by `;`, origins by `,`). The value is that of the environment variable of the same name; no other
variable can be named. Only this module reads values. No message of it shows one, nor any part of the setting that
could be a value written into the wrong place.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar
from urllib.parse import quote, quote_plus

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from runs_app.realtime.endpoints import DEFAULT_PORTS, EndpointError, Origin, origin, shown
from runs_app.realtime.tools import ToolOutcome

SETTING = "SOUNDCHECK_SECRETS"
MIN_LENGTH = 4  # a shorter value cannot be kept out of texts without destroying them

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEMPLATE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_SECRET = re.compile(r"secrets\.([A-Za-z_][A-Za-z0-9_]*)")
_SCHEMES = tuple(f"{scheme}://" for scheme in DEFAULT_PORTS)

T = TypeVar("T")


class SecretError(Exception):
    """A template cannot or must not be filled in. `field` is the path of the field in the configuration."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


@dataclass(frozen=True)
class TemplateContext:
    """What `{{trial.seed}}`, `{{trial.repeat}}` and `{{run.seed}}` stand for."""

    trial_seed: int
    trial_repeat: int
    run_seed: int

    def values(self) -> dict[str, str]:
        return {
            "trial.seed": str(self.trial_seed),
            "trial.repeat": str(self.trial_repeat),
            "run.seed": str(self.run_seed),
        }


@dataclass(frozen=True, repr=False)
class Destination:
    """One address with everything that is sent to it, filled in. Its repr shows the address alone."""

    url: str
    headers: Mapping[str, str]
    api_key: str | None
    token: str | None
    model: str | None
    secret_names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Destination({shown(self.url)!r}, secrets={list(self.secret_names)})"


def declared() -> dict[str, tuple[Origin, ...]]:
    """The names of the setting and the origins that may receive them. Raises ImproperlyConfigured."""
    return parse_bindings(settings.SOUNDCHECK_SECRETS)


def render(
    *,
    url: str,
    context: TemplateContext,
    headers: Mapping[str, str] | None = None,
    api_key: str | None = None,
    token: str | None = None,
    model: str | None = None,
    at: str = "",
) -> Destination:
    """Fills in the templates of everything that goes to one address, and refuses secrets that may not go there.

    `url` is the address that will be opened (already ws or wss for a realtime endpoint). Secrets are filled in in
    headers, api_key, token and the query of the URL; trial and run values there and in the model. `at` is put before
    the field names of messages, such as "caller.". Raises SecretError, and ImproperlyConfigured for a bad setting.
    """
    fill = _Filler(declared(), context.values())
    full_url = _render_url(url, fill, f"{at}endpoint")
    filled_headers = {
        name: _header_value(fill(value, f"{at}headers.{name}"), f"{at}headers.{name}")
        for name, value in (headers or {}).items()
    }
    key = None if api_key is None else _header_value(fill(api_key, f"{at}api_key"), f"{at}api_key")
    filled_token = None if token is None else _header_value(fill(token, f"{at}token"), f"{at}token")
    filled_model = None if model is None else fill(model, f"{at}model", secrets_allowed=False)
    fill.check_destination(full_url, f"{at}endpoint")
    return Destination(full_url, filled_headers, key, filled_token, filled_model, tuple(sorted(fill.used)))


def is_set(name: str) -> bool:
    return bool(_environment_value(name))


def with_trial_values(template: str, context: TemplateContext) -> str:
    """The template with what `context` knows filled in; secrets keep their names, as pages may show them."""
    values = context.values()
    return _TEMPLATE.sub(lambda match: values.get(match[1].strip(), match[0]), template)


def named_in(*templates: str | None) -> tuple[str, ...]:
    """The secrets that these name, in order, each once."""
    found = [match[1].strip() for template in templates if template for match in _TEMPLATE.finditer(template)]
    return tuple(dict.fromkeys(name[1] for text in found if (name := _SECRET.fullmatch(text))))


def redact(value: T) -> T:
    """The same text, list or dict with every known secret's value replaced by its name. Never raises.

    Also finds a value as it stands in a URL or inside JSON text. Other types come back as they are.
    """
    patterns = _patterns(_known_values(getattr(settings, SETTING, "")))
    return value if patterns is None else _redacted(value, patterns)


def redact_outcome(outcome: ToolOutcome) -> ToolOutcome:
    """The outcome of a tool call as it may be shown: an endpoint may repeat the key that it was sent."""
    return replace(
        outcome,
        output=redact(outcome.output),
        output_text=redact(outcome.output_text),
        error=redact(outcome.error),
        fault=outcome.fault and replace(outcome.fault, detail=redact(outcome.fault.detail), instead_of=None),
    )


def parse_bindings(raw: str) -> dict[str, tuple[Origin, ...]]:
    """`NAME=origin,origin;NAME2=...` as a dict. Raises ImproperlyConfigured that names the entry, never its text."""
    bindings: dict[str, tuple[Origin, ...]] = {}
    for number, entry in enumerate(raw.split(";"), 1):
        if not entry.strip():
            continue
        name, equals, origins = (part.strip() for part in entry.partition("="))
        if not equals or not _NAME.fullmatch(name):
            raise ImproperlyConfigured(
                f"{SETTING}, entry {number}: write NAME=origin,origin;NAME2=origin"
                " where NAME is an environment variable (letters, digits, underscores)"
            )
        if name in bindings:
            raise ImproperlyConfigured(f"{SETTING}, entry {number}: {name} is listed twice")
        place = f"{SETTING}, entry {number} ({name})"
        bindings[name] = tuple(_bound_origin(text.strip(), place) for text in origins.split(","))
    return bindings


def _bound_origin(text: str, place: str) -> Origin:
    if not text.lower().startswith(_SCHEMES):
        # The text is not shown: it may be the value, written into the wrong variable.
        raise ImproperlyConfigured(
            f"{place}: an origin starts with https://, wss://, http:// or ws://"
            " (the secret itself belongs into the variable of that name, not here)"
        )
    try:
        found = origin(text.rstrip("/"))
    except EndpointError as error:
        raise ImproperlyConfigured(f"{place}: {error}") from None
    if text.rstrip("/").partition("://")[2].lower() not in _spellings(found):
        raise ImproperlyConfigured(f"{place}: an origin has no path and no query, write {found}")
    if not found.encrypted and not found.loopback:
        raise ImproperlyConfigured(f"{place}: {found} is not encrypted; plain http and ws go only to loopback")
    return found


def _spellings(found: Origin) -> tuple[str, str]:
    host = f"[{found.host}]" if ":" in found.host else found.host
    with_port = f"{host}:{found.port}"
    return (host, with_port) if found.port == DEFAULT_PORTS[found.scheme] else (with_port, with_port)


class _Filler:
    """Fills in templates and remembers which secrets it used where, until the destination is known."""

    def __init__(self, bindings: dict[str, tuple[Origin, ...]], values: dict[str, str]) -> None:
        self.bindings = bindings
        self.values = values
        self.used: dict[str, str] = {}  # name of the secret -> field that named it first

    def __call__(self, template: str, field: str, *, secrets_allowed: bool = True, quoted: bool = False) -> str:
        if "{{" in _TEMPLATE.sub("", template):
            raise SecretError(field, "a {{ is never closed by }}")

        def replacement(match: re.Match[str]) -> str:
            value = self._value(match[1].strip(), field, secrets_allowed)
            return quote(value, safe="") if quoted else value

        return _TEMPLATE.sub(replacement, template)

    def check_destination(self, url: str, url_field: str) -> None:
        try:
            place = origin(url)
        except EndpointError as error:
            raise SecretError(url_field, redact(str(error))) from None
        for name, field in self.used.items():
            if not place.encrypted and not place.loopback:
                raise SecretError(field, f"secret {name} is not sent to {place}: plain http and ws go only to loopback")
            if place not in self.bindings[name]:
                allowed = ", ".join(map(str, self.bindings[name]))
                raise SecretError(
                    field, f"secret {name} may not be sent to {place}; {SETTING} allows it only for {allowed}"
                )

    def _value(self, expression: str, field: str, secrets_allowed: bool) -> str:
        if expression in self.values:
            return self.values[expression]
        found = _SECRET.fullmatch(expression)
        if not found or not secrets_allowed:
            kinds = ("secrets.NAME", *self.values) if secrets_allowed else tuple(self.values)
            raise SecretError(field, f"{{{{{expression}}}}} is not known here; possible are {', '.join(kinds)}")
        self.used.setdefault(found[1], field)
        return self._secret(found[1], field)

    def _secret(self, name: str, field: str) -> str:
        if name not in self.bindings:
            raise SecretError(field, f"there is no secret {name}: the operator has not listed it in {SETTING}")
        value = _environment_value(name)
        if not value:
            raise SecretError(field, f"secret {name} is empty: the environment variable {name} is not set")
        if len(value) < MIN_LENGTH:
            raise SecretError(field, f"secret {name} is shorter than {MIN_LENGTH} characters")
        return value


def _render_url(url: str, fill: _Filler, field: str) -> str:
    head, question, rest = url.partition("?")
    query, number_sign, fragment = rest.partition("#")
    if "{{" in head or "{{" in fragment:
        raise SecretError(field, "templates are possible only in the query of a URL")
    return f"{head}{question}{fill(query, field, quoted=True)}{number_sign}{fragment}"


def _header_value(value: str, field: str) -> str:
    if not (value.isascii() and value.replace("\t", " ").isprintable()):
        raise SecretError(field, "a header takes printable ASCII only (is there a line break in it?)")
    return value


def _environment_value(name: str) -> str:
    # A value that was read from a file often ends with a line break.
    return os.environ.get(name, "").strip()


def _known_values(raw: str) -> tuple[tuple[str, str], ...]:
    """(name, value) of every secret that the setting names, also when the rest of the setting cannot be read."""
    names = dict.fromkeys(entry.partition("=")[0].strip() for entry in raw.split(";"))
    pairs = ((name, _environment_value(name)) for name in names if _NAME.fullmatch(name))
    return tuple((name, value) for name, value in pairs if len(value) >= MIN_LENGTH)


@dataclass(frozen=True, repr=False)
class _Patterns:
    matcher: re.Pattern[str]
    names: Mapping[str, str]


@lru_cache(maxsize=4)
def _patterns(known: tuple[tuple[str, str], ...]) -> _Patterns | None:
    names: dict[str, str] = {}
    for name, value in known:
        for form in (value, quote(value, safe=""), quote(value), quote_plus(value), *_json_forms(value)):
            names.setdefault(form, name)
    if not names:
        return None
    # Longest first: a value may begin with another one.
    return _Patterns(re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True)))), names)


def _json_forms(value: str) -> tuple[str, str]:
    return json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]


def _redacted(value: T, patterns: _Patterns) -> T:
    if isinstance(value, str):
        return patterns.matcher.sub(lambda match: f"[secret {patterns.names[match[0]]}]", value)  # type: ignore[return-value]
    if isinstance(value, dict):
        return {_redacted(key, patterns): _redacted(item, patterns) for key, item in value.items()}  # type: ignore[return-value]
    if isinstance(value, list):
        return [_redacted(item, patterns) for item in value]  # type: ignore[return-value]
    if isinstance(value, tuple):
        return tuple(_redacted(item, patterns) for item in value)  # type: ignore[return-value]
    return value
