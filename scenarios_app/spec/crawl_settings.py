"""CRAWL's config.toml and .env as one configuration of GPT Live. No value of a key is taken over: it becomes the name
of a secret."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from scenarios_app.spec.agent_files import Agents
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.errors import Part, Problem, SpecError
from scenarios_app.spec.jsontext import Json, decode
from scenarios_app.spec.numbers import number_of

KEY = "{{secrets.OPENAI_API_KEY}}"
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")
_AT = re.compile(r"line (\d+)")

# path in config.toml -> path in the configuration
_TOML = {
    ("assistant", "mode"): ("backend", "mode"),
    ("assistant", "endpoint"): ("backend", "endpoint"),
    ("audio", "chunk_ms"): ("audio", "chunk_ms"),
    ("audio", "real_time"): ("audio", "real_time"),
    ("execution", "response_timeout_seconds"): ("timeouts", "response"),
}
_ENV = {
    "OPENAI_LIVE_ENDPOINT": ("endpoint",),
    "OPENAI_LIVE_MODEL": ("model",),
    "OPENAI_LIVE_VOICE": ("voice",),
    "OPENAI_LIVE_BACKEND_MODEL": ("backend", "model"),
    "OPENAI_LIVE_BACKEND_REASONING_EFFORT": ("backend", "reasoning"),
    "OPENAI_LIVE_BACKEND_MAX_OUTPUT_TOKENS": ("backend", "max_output_tokens"),
    "OPENAI_LIVE_BACKEND_VERBOSITY": ("backend", "verbosity"),
    "OPENAI_ASSISTANT_MODE": ("backend", "mode"),
    "OPENAI_CLIENT_ASSISTANT_ENDPOINT": ("backend", "endpoint"),
    "OPENAI_TTS_MODEL": ("caller", "model"),
    "OPENAI_WALK_TTS_VOICE": ("caller", "voice"),
    "OPENAI_EVAL_JUDGE_MODEL": ("judge", "model"),
    "OPENAI_EVAL_JUDGE_REASONING_EFFORT": ("judge", "reasoning_effort"),
}
_SECRETS = {
    "OPENAI_CLIENT_ASSISTANT_TOKEN": ("backend", "token"),
    "OPENAI_RESPONSES_API_KEY": ("backend", "api_key"),
}
_ELSEWHERE = {
    ("dataset", "path"): "import that file on the page of scenarios",
    ("execution", "concurrency"): "is chosen when a run starts",
    ("execution", "max_examples"): "is chosen when a run starts, by the suite",
    ("execution", "verbose"): "has no meaning here",
}
Places = dict[tuple[Part, ...], tuple[str, int | None]]  # path in the configuration -> name and line in the file
_RATE = ("audio", "sample_rate_hz")


def read_crawl(*, toml: bytes = b"", env: bytes = b"", name: str = "CRAWL") -> Agents:
    """One or both of the files; what .env says wins. Raises SpecError with lines."""
    document: dict[str, Any] = _defaults(name)
    remarks: list[Problem] = []
    places: Places = {}
    if toml:
        remarks += _take_toml(document, decode(toml), places)
    if env:
        remarks += _take_env(document, decode(env), places)
    backend = document["backend"]
    if backend["mode"] == "client" and "endpoint" in backend:
        document["backend"] = {k: backend[k] for k in ("mode", "endpoint", "token") if k in backend}
    else:
        # without a service of its own the assistant is asked as any other model of OpenAI
        document["backend"] = {k: value for k, value in backend.items() if k not in ("endpoint", "token")}
        document["backend"] |= {"api_key": KEY} if backend["mode"] == "client" else {}
    try:
        parse_configuration(document)
    except SpecError as error:
        raise SpecError([_where_it_was(problem, places) for problem in error.problems]) from None
    return Agents((), (("", document),), tuple(remarks))


def _where_it_was(problem: Problem, places: Places) -> Problem:
    path, line = places.get(problem.parts, (problem.path, None))
    return Problem(path, problem.message, line)


def _defaults(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "protocol": "live",
        "endpoint": "https://api.openai.com/v1/live/sessions",
        "model": "gpt-live-1",
        "voice": "marin",
        "mode": "audio",
        "headers": {"Authorization": f"Bearer {KEY}"},
        "backend": {
            "mode": "responses",
            "model": "gpt-5.6-terra",
            "reasoning": "none",
            "verbosity": "low",
            "max_output_tokens": 1000,
        },
        "timeouts": {"response": 30},
        "caller": {"model": "gpt-4o-mini-tts", "voice": "marin", "api_key": KEY},
        "judge": {"model": "gpt-5.6-terra", "reasoning_effort": "medium", "api_key": KEY},
    }


def _put(document: dict[str, Any], path: tuple[str, ...], value: Json) -> None:
    for part in path[:-1]:
        document = document.setdefault(part, {})
    document[path[-1]] = value


def _take_toml(document: dict[str, Any], text: str, places: Places) -> Iterator[Problem]:
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT.search(str(error))
        raise SpecError([Problem("", f"this is not TOML: {error}", int(found[1]) if found else None)]) from None
    except ValueError:  # as Python's int() says it of thousands of digits
        raise SpecError([Problem("", "a number has more digits than can be read")]) from None
    except RecursionError:
        raise SpecError([Problem("", "nested too deep to be read")]) from None
    lines = _toml_lines(text)
    for section, fields in settings.items():
        for key, value in (fields if isinstance(fields, dict) else {"": fields}).items():
            at, line = (section, key), lines.get((section, key))
            path = f"{section}.{key}".rstrip(".")
            if at in _TOML:
                if value != "":
                    _put(document, _TOML[at], value)
                    places[_TOML[at]] = (path, line)
            elif at == _RATE and value != 24000:
                raise SpecError([Problem(path, f"must be 24000: no other rate is spoken here, not {value}", line)])
            elif at != _RATE:
                yield Problem(path, _ELSEWHERE.get(at, "is not known here: it was left out"), line)


def _toml_lines(text: str) -> dict[tuple[str, str], int]:
    lines: dict[tuple[str, str], int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[([A-Za-z0-9_-]+)\]", line):
            section = head[1]
        elif (pair := re.match(r"\s*([A-Za-z0-9_-]+)\s*=", line)) and section:
            lines[section, pair[1]] = number
    return lines


def _take_env(document: dict[str, Any], text: str, places: Places) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise SpecError([Problem("", "must be NAME=VALUE", number)])
        name, value = match[1], _unquoted(match[2])
        if name in _ENV and value:
            whole = number_of(value) if name.endswith("_TOKENS") else None
            _put(document, _ENV[name], value if whole is None else whole)
            places[_ENV[name]] = (name, number)
        elif name in (*_SECRETS, "OPENAI_API_KEY") and value:
            if name in _SECRETS:
                _put(document, _SECRETS[name], f"{{{{secrets.{name}}}}}")
            yield Problem(name, "its value was not taken over: the operator gives it as a secret of that name", number)
        elif name not in _ENV and value:
            yield Problem(name, "is not known here: it was left out", number)


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.split(" #")[0].rstrip()
