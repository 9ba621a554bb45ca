"""What is known of providers' hosts: the credentials they ask for, and what they no longer take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from scenarios_app.spec.errors import path_of

if TYPE_CHECKING:
    from scenarios_app.spec.configuration import Configuration

OPENAI_HOST = "api.openai.com"
AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
AZURE_PREVIEW = "/openai/realtime"  # of the beta; its query names the deployment where others name the model
AZURE_GA = "/openai/v1/realtime"

_ONLY_GA = ("audio", "output_modalities", "max_output_tokens", "truncation", "prompt", "include", "reasoning")
_ONLY_BETA = (
    *("modalities", "voice", "turn_detection", "input_audio_format", "output_audio_format", "temperature"),
    *("input_audio_transcription", "input_audio_noise_reduction", "max_response_output_tokens"),
)

_BETA_HEADER, _BETA_VALUE = "openai-beta", "realtime=v1"


def provider_remarks(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """(path, message) of what a known host would refuse, or take for another dialect."""
    host = urlsplit(configuration.endpoint.partition("?")[0]).hostname or ""
    given = {name.lower(): (name, value) for name, value in configuration.headers.items()}
    if host == OPENAI_HOST:
        yield from _openai(configuration, given)
    elif host.endswith(AZURE_HOSTS):
        yield from _azure(host, _path_and_query(configuration.endpoint)[1], given)
    if slip := azure_slip(configuration.endpoint):
        yield "endpoint", slip
    if _path_and_query(configuration.endpoint)[0] == AZURE_PREVIEW and configuration.dialect == "ga":
        yield "dialect", f"{AZURE_PREVIEW} is Azure's preview, which speaks beta; {AZURE_GA} speaks ga"
    yield from _beta_header(host, configuration.dialect, given)
    yield from _other_shape(configuration)


def azure_slip(url: str) -> str | None:
    """What is wrong with an address of Azure's form, on whatever host: gateways keep its paths."""
    path, query = _path_and_query(url)
    if path == AZURE_GA and "api-version" in query:
        return "this path takes no api-version: Azure answers it with 401"
    if path == AZURE_PREVIEW and "api-version" not in query:
        return "this path needs an api-version, such as ?api-version=2025-04-01-preview"
    return None


def _path_and_query(url: str) -> tuple[str, dict[str, str]]:
    address, _, query = url.partition("?")
    return urlsplit(address).path.rstrip("/"), dict(parse_qsl(query, keep_blank_values=True))


def _openai(configuration: Configuration, given: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    name, value = given.get("authorization", ("", ""))
    if not name:
        yield "headers", f"{OPENAI_HOST} needs an Authorization header: Bearer {{{{secrets.NAME}}}}"
    elif not value.startswith("Bearer "):
        yield path_of(("headers", name)), f"{OPENAI_HOST} expects Bearer and a space before the key"
    if configuration.dialect == "beta":
        yield "dialect", f"{OPENAI_HOST} speaks ga only"


def _azure(host: str, query: dict[str, str], given: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    if "api-key" not in query and not {"api-key", "authorization"} & given.keys():
        yield "headers", f"{host} needs an api-key header: {{{{secrets.NAME}}}}"


def _other_shape(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Keys of a session_update that only the other dialect knows."""
    foreign = _ONLY_GA if configuration.dialect == "beta" else _ONLY_BETA
    other = "ga" if configuration.dialect == "beta" else "beta"
    for key in configuration.session_update:
        if key in foreign:
            message = f"only the {other} dialect has this key, and the configuration speaks {configuration.dialect}"
            yield path_of(("session_update", key)), message


def _beta_header(host: str, dialect: str, given: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    name, value = given.get(_BETA_HEADER, ("", ""))
    if _BETA_VALUE not in value:
        return
    if host == OPENAI_HOST:
        yield path_of(("headers", name)), f"{host} has switched the beta dialect off: take this header out"
    elif dialect == "ga":
        yield path_of(("headers", name)), "this header asks for the beta dialect, and the configuration speaks ga"
