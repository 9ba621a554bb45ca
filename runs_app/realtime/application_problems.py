"""What would stop an application from running, found without running anything of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jsonschema.exceptions import SchemaError

from runs_app.realtime import sandbox
from runs_app.realtime.answering import plain_result
from runs_app.realtime.record import Json
from runs_app.realtime.sandbox import LimitError, TemplateError
from runs_app.realtime.tool_arguments import ArgumentSchema
from scenarios_app.spec.application import Answer, Application, Tool
from scenarios_app.spec.errors import Problem, path_of


def problems(application: Application) -> list[Problem]:
    """Each with its field, such as `tools[0].answers[1].when`. Compiles every template."""
    found = []
    for name, value in application.tool_results.items():
        found += _problem(path_of(("tool_results", name)), sandbox.prepare, plain_result(value))
    for index, tool in enumerate(application.tools):
        found += [problem.under(f"tools[{index}]") for problem in _of_tool(tool)]
    return found


def _of_tool(tool: Tool) -> list[Problem]:
    found = _problem("parameters", ArgumentSchema.check, tool.parameters)
    for number, answer in enumerate(tool.answers):
        found += [problem.under(f"answers[{number}]") for problem in _of_answer(answer)]
    if tool.http is not None:
        found += _problem("http.effects", sandbox.prepare, tool.http.effects)
    return found


def _of_answer(answer: Answer) -> list[Problem]:
    found = _problem("when", sandbox.prepare_condition, answer.when) if answer.when is not None else []
    for field in ("result", "effects", "error"):
        found += _problem(field, sandbox.prepare, getattr(answer, field))
    return found


def _problem(place: str, check: Callable[[Any], None], value: Json) -> list[Problem]:
    try:
        check(value)
    except SchemaError as error:
        return [Problem(place, f"is not JSON Schema: {error.message[:200]}")]
    except (TemplateError, LimitError) as error:
        return [Problem(place, f"cannot be run: {error}")]
    return []
