"""What is known of providers' hosts: the credentials they ask for, and what they no longer take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from scenarios_app.spec.errors import path_of

if TYPE_CHECKING:
    from scenarios_app.spec.configuration import Configuration

OPENAI_HOST = "api.openai.com"
AZURE_HOSTS = ".openai.azure.com"

_BETA_HEADER, _BETA_VALUE = "openai-beta", "realtime=v1"


def provider_remarks(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """(path, message) of what a known host would refuse, or take for another dialect."""
    address, _, query = configuration.endpoint.partition("?")
    parts = urlsplit(address)
    host = parts.hostname or ""
    given = {name.lower(): (name, value) for name, value in configuration.headers.items()}
    if host == OPENAI_HOST:
        yield from _openai(configuration, given)
    elif host.endswith(AZURE_HOSTS):
        yield from _azure(host, parts.path, dict(parse_qsl(query, keep_blank_values=True)), given)
    yield from _beta_header(host, configuration.dialect, given)


def _openai(configuration: Configuration, given: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    name, value = given.get("authorization", ("", ""))
    if not name:
        yield "headers", f"{OPENAI_HOST} needs an Authorization header: Bearer {{{{secrets.NAME}}}}"
    elif not value.startswith("Bearer "):
        yield path_of(("headers", name)), f"{OPENAI_HOST} expects Bearer and a space before the key"
    if configuration.dialect == "beta":
        yield "dialect", f"{OPENAI_HOST} speaks ga only"


def _azure(host: str, path: str, query: dict[str, str], given: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    if "api-key" not in query and not {"api-key", "authorization"} & given.keys():
        yield "headers", f"{host} needs an api-key header: {{{{secrets.NAME}}}}"
    if "api-version" in query and path.startswith("/openai/v1/"):
        yield "endpoint", "this path takes no api-version: Azure answers it with 401"


def _beta_header(host: str, dialect: str, given: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    name, value = given.get(_BETA_HEADER, ("", ""))
    if _BETA_VALUE not in value:
        return
    if host == OPENAI_HOST:
        yield path_of(("headers", name)), f"{host} has switched the beta dialect off: take this header out"
    elif dialect == "ga":
        yield path_of(("headers", name)), "this header asks for the beta dialect, and the configuration speaks ga"
