"""Agents as other harnesses write them down, turned into our applications and configurations.

A file of `targets:` (tamesu) has each agent under its name, with tools in session_update and plain tool_results. Those
become an application of the agent's name, as only declared tools are answered here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from scenarios_app.spec.application import parse_application
from scenarios_app.spec.configuration import parse_configuration
from scenarios_app.spec.contract import name_problem
from scenarios_app.spec.errors import Problem, SpecError, join_path, path_of
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.sources import Source
from scenarios_app.spec.wording import kind_of

_URL = "wss://api.openai.com/v1/realtime"


@dataclass(frozen=True)
class Agents:
    """Documents of applications and configurations, the path of each in its file, and what was left out of them."""

    applications: tuple[tuple[str, dict[str, Json]], ...]
    configurations: tuple[tuple[str, dict[str, Json]], ...]
    remarks: tuple[Problem, ...] = ()


def is_targets(value: Json) -> bool:
    return isinstance(value, dict) and "targets" in value


def read_targets(source: Source) -> Agents:
    """Raises SpecError with the line of everything that cannot be taken over."""
    document = source.value
    targets = document.get("targets") if isinstance(document, dict) else None
    if not isinstance(targets, dict) or not targets:
        said = "must be an object of agents by their names" if targets is not None else "this field is required"
        raise SpecError(source.placed([Problem("targets", said)]))
    problems: list[Problem] = []
    remarks = [Problem(key, "is not a target: it was left out") for key in document if key != "targets"]
    applications, configurations = [], []
    for name, target in targets.items():
        path = path_of(("targets", name))
        if isinstance(target, dict) and target.get("type") not in (None, "realtime"):
            remarks.append(Problem(f"{path}.type", "this site talks with realtime targets only: it was left out"))
            continue
        wrong = list(_target_problems(name, target))
        problems += [problem.under(path) for problem in wrong]
        if not wrong:
            application, configuration = _agent(name, target)
            problems += _contract_problems(application, configuration, path)
            applications += [(path, application)] if application else []
            configurations.append((path, configuration))
    if not problems and not configurations:
        problems = [Problem("targets", "there is no realtime target among these")]
    if problems:
        raise SpecError(source.placed(problems))
    return Agents(tuple(applications), tuple(configurations), source.placed(remarks))


def _contract_problems(application: Json, configuration: Json, path: str) -> list[Problem]:
    """Under the names that the file has for the fields, each once."""
    found: list[Problem] = []
    for parse, document in ((parse_application, application), (parse_configuration, configuration)):
        try:
            if document is not None:
                parse(document)
        except SpecError as error:
            found += error.problems
    renamed = (Problem(join_path(path, _THEIRS.get(p.field, p.path)), p.message) for p in found)
    return list(dict.fromkeys(renamed))


def _target_problems(name: str, target: Json) -> Iterator[Problem]:
    if not isinstance(target, dict):
        yield Problem("", f"must be an object, not {kind_of(target)}")
        return
    if problem := name_problem(name):
        yield Problem("", f"the name {problem}")
    for key in target:
        if key not in _TAKEN and key not in _MAPS and key != "type":
            yield Problem(path_of((key,)), "is no key of a realtime target")
    for key in _MAPS:
        if key in target and not isinstance(target[key], dict):
            yield Problem(key, f"must be an object, not {kind_of(target[key])}")
    if not target.get("model") and not _model_in(target.get("url")):
        yield Problem("model", "this field is required where the url names no model")


def _model_in(url: Json) -> str:
    query = parse_qs(url.partition("?")[2].partition("#")[0]) if isinstance(url, str) else {}
    return next(iter(query.get("model") or query.get("deployment") or []), "")


def _audio(value: Json) -> Json:
    """The agent's alone: their caller is always PCM16."""
    return {"output": value}


def _timeout(value: Json) -> Json:
    return {"turn": value}


def _same(value: Json) -> Json:
    return value


_TAKEN: Mapping[str, tuple[str, Callable[[Json], Json]]] = {
    "url": ("endpoint", _same),
    "model": ("model", _same),
    "mode": ("mode", _same),
    "protocol": ("dialect", _same),
    "done_tool": ("done_tool", _same),
    "audio_format": ("audio", _audio),
    "turn_timeout": ("timeouts", _timeout),
}
_THEIRS = {
    "endpoint": "url",
    "dialect": "protocol",
    "audio": "audio_format",
    "timeouts": "turn_timeout",
    "instructions": "session_update.instructions",
    "tools": "session_update.tools",
}
_MAPS = ("headers", "session_update", "tool_results")


def _agent(name: str, target: dict[str, Any]) -> tuple[dict[str, Json] | None, dict[str, Json]]:
    """The application that answers its tools (None when nothing is answered) and the configuration."""
    update = dict(target.get("session_update") or {})
    configuration: dict[str, Json] = {"name": name, "protocol": "realtime", "endpoint": _URL}
    configuration["model"] = _model_in(target.get("url"))
    for key, (ours, convert) in _TAKEN.items():
        if key in target:
            configuration[ours] = convert(target[key])
    if target.get("headers"):
        configuration["headers"] = target["headers"]
    if isinstance(update.get("instructions"), str):
        configuration["instructions"] = update.pop("instructions")
    application = _application(name, update, target.get("tool_results") or {})
    if application:
        configuration["application"] = {"name": name}
    if update:
        configuration["session_update"] = update
    return application, configuration


def _application(name: str, update: dict[str, Any], results: dict[str, Json]) -> dict[str, Json] | None:
    """Takes the tools that are answered out of the session_update; those that are only recorded stay there."""
    tools = update.get("tools")
    listed = tools if isinstance(tools, list) else []
    known = list(results)  # no mapping: a name may be a list, which is no key
    answered = [tool for tool in listed if isinstance(tool, dict) and tool.get("name") in known]
    if not answered:
        return None
    rest = [tool for tool in listed if tool not in answered]
    if rest:
        update["tools"] = rest
    else:
        del update["tools"]
    declared = [{key: value for key, value in tool.items() if key != "type"} for tool in answered]
    names = {tool["name"] for tool in answered}
    return {"name": name, "tools": declared, "tool_results": {k: v for k, v in results.items() if k in names}}
