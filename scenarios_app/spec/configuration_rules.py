"""The rules of a configuration: endpoints, headers, placeholders, session tools, and what no engine serves yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scenarios_app.spec.addresses import header_problems, url_problem
from scenarios_app.spec.conditions import condition_problems
from scenarios_app.spec.errors import Problem, path_of
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.templates import no_placeholders, placeholder_problem
from scenarios_app.spec.wording import kind_of

if TYPE_CHECKING:
    from scenarios_app.spec.configuration import Backend, Configuration

SIMULATOR = "simulator"  # an endpoint of this word is our own simulator, wherever it runs
TURN_DETECTION = ("none", "server_vad", "semantic_vad")

_SOCKETS = ("ws", "wss", "http", "https")
_HTTP = ("http", "https")
_SERVICES = {"backend": _SOCKETS, "caller": _HTTP, "judge": _HTTP, "persona": _HTTP}
_KEYS = ("api_key", "token")
_AUDIO_TYPES = ("audio/pcm", "audio/pcmu", "audio/pcma")
_LIVE_SESSION = ("instructions", "input", "audio", "delegation", "tools", "triggers", "store", "safety_identifier")
_NOBODY = "must be responses or client before this can run: GPT Live hands tasks on, and would wait for their answers"


def turn_detection(value: Json) -> Json:
    kind = value.get("type") if isinstance(value, dict) else "none" if value is None else value
    if kind not in TURN_DETECTION:
        raise ValueError(
            f"must be {', '.join(TURN_DETECTION[:-1])} or {TURN_DETECTION[-1]}, or an object whose type is"
        )
    return value


def detects_turns(configuration: Configuration) -> bool:
    """Whether the server ends the caller's turns: session_update has the last word, in the GA or the beta shape."""
    update = configuration.session_update
    audio = update.get("audio")
    heard = audio.get("input") if isinstance(audio, dict) else None
    for part in (heard, update):
        if isinstance(part, dict) and "turn_detection" in part:
            return part["turn_detection"] is not None
    return configuration.vad is not None


def text_or_object(value: Json) -> Json:
    if value is not None and not isinstance(value, (str, dict)):
        raise ValueError(f"must be text or an object, not {kind_of(value)}")
    return value


def problems(configuration: Configuration) -> Iterator[Problem]:
    """Every rule that the models alone cannot check."""
    yield from _endpoint(configuration.endpoint, "endpoint", _SOCKETS)
    if configuration.protocol == "live":
        yield from _live(configuration)
    if configuration.own_backend is not None:
        yield from (problem.under("backend") for problem in _own_backend(configuration.own_backend))
    yield from header_problems(configuration.headers)
    if message := placeholder_problem(configuration.model, secrets=False):
        yield Problem("model", message)
    for name, schemes in _SERVICES.items():
        service = getattr(configuration, name)
        if service is not None:
            yield from (problem.under(name) for problem in _service(service, schemes))
    yield from condition_problems(configuration.caller.condition, "caller.condition")
    yield from _session_tools(configuration.session_update)
    yield from no_placeholders(_without_templates(configuration.to_json()), "")


def _live(configuration: Configuration) -> Iterator[Problem]:
    """What GPT Live cannot do, and what it wants."""
    backend, audio = configuration.backend, configuration.audio
    if "?" in configuration.endpoint:
        yield Problem("endpoint", "the live protocol takes no query")
    if configuration.mode == "text":
        yield Problem("mode", "the live protocol is spoken: audio")
    if configuration.vad is not None:
        yield Problem(
            "turn_detection", "the live protocol has none to set: the model itself hears when somebody speaks"
        )
    if audio.input != audio.output:
        yield Problem(
            "audio.output", f"the live protocol has one format for both ways, and audio.input is {audio.input}"
        )
    if backend is not None and backend.mode == "responses" and backend.model is None:
        yield Problem("backend.model", "is required where the backend is a model of the provider (mode: responses)")
    for key in configuration.session_update:
        if key not in _LIVE_SESSION:
            known = ", ".join(_LIVE_SESSION)
            yield Problem(path_of(("session_update", key)), f"the live protocol has no such setting; it has {known}")


def _own_backend(backend: Backend) -> Iterator[Problem]:
    """A remote assistant is asked over a socket with a token, an API over http with a key."""
    endpoint = backend.endpoint or ""
    remote = endpoint.startswith(("ws://", "wss://"))
    if remote and backend.mode == "responses":
        yield Problem("endpoint", "a remote assistant (ws or wss) is asked in mode: client")
    if remote and backend.token is None:
        yield Problem("token", "is required: a remote assistant (ws or wss) answers nobody without one")
    if remote and backend.api_key is not None:
        yield Problem("api_key", "a remote assistant (ws or wss) takes a token instead")
    if not remote and backend.token is not None:
        yield Problem("token", "is for a remote assistant, whose endpoint starts with wss:// or ws://")
    if not remote and backend.model is None:
        yield Problem("model", "is required where the backend is asked through the Responses API")


def _service(service: Any, schemes: tuple[str, ...]) -> Iterator[Problem]:
    if service.endpoint is not None:
        yield from _endpoint(service.endpoint, "endpoint", schemes)
    for name in _KEYS:
        key = getattr(service, name, None)
        if key is not None and (message := placeholder_problem(key, secrets=True)):
            yield Problem(name, message)


def _endpoint(endpoint: str, path: str, schemes: tuple[str, ...]) -> Iterator[Problem]:
    if endpoint != SIMULATOR and (message := url_problem(endpoint, schemes, f", or be the word {SIMULATOR}")):
        yield Problem(path, message)


def session_tools(session_update: dict[str, Json]) -> Iterator[tuple[int, str]]:
    """(index, name) of every named tool that a session_update declares."""
    tools = session_update.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            yield index, tool["name"]


def _session_tools(session_update: dict[str, Json]) -> Iterator[Problem]:
    tools = session_update.get("tools", [])
    if not isinstance(tools, list):
        yield Problem("session_update.tools", f"must be a list, not {kind_of(tools)}")
        return
    for index, tool in enumerate(tools):
        if not isinstance(tool, dict):
            yield Problem(f"session_update.tools[{index}]", f"must be an object, not {kind_of(tool)}")
    first: dict[str, int] = {}
    for index, name in session_tools(session_update):
        if first.setdefault(name, index) != index:
            yield Problem(f"session_update.tools[{index}].name", f'the tool "{name}" is declared twice')


def _without_templates(given: dict[str, Json]) -> dict[str, Json]:
    """The configuration without the fields in which {{...}} is filled in."""
    rest = {key: value for key, value in given.items() if key not in ("headers", "model", "endpoint")}
    for name in _SERVICES:
        if isinstance(rest.get(name), dict):
            rest[name] = {key: value for key, value in rest[name].items() if key not in ("endpoint", *_KEYS)}
    return rest


def unsupported(configuration: Configuration) -> Iterator[Problem]:
    """Fields that are valid and kept, but that no engine serves yet."""
    mode = configuration.backend.mode if configuration.backend else "direct"
    if configuration.protocol == "live" and mode == "direct":
        yield Problem("backend.mode", _NOBODY)
    audio = configuration.session_update.get("audio")
    for side in ("input", "output"):
        part = audio.get(side) if isinstance(audio, dict) else None
        if isinstance(part, dict):
            yield from (problem.under(f"session_update.audio.{side}") for problem in _session_audio(part))


def _session_audio(part: dict[str, Json]) -> Iterator[Problem]:
    form = part.get("format")
    if isinstance(form, dict) and form.get("type", "audio/pcm") not in _AUDIO_TYPES:
        yield Problem("format", f"must be one of {', '.join(_AUDIO_TYPES)}: no engine reads anything else")
