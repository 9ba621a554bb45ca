"""The rules of an application: tool schemas that are schemas, templates that can run, one behaviour per tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from jsonschema import Draft202012Validator

from scenarios_app.spec.addresses import header_problems, url_problem
from scenarios_app.spec.answer_templates import expression_problem, template_problems
from scenarios_app.spec.errors import Problem, join_path, path_of
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.numbers import number_of

if TYPE_CHECKING:
    from scenarios_app.spec.application import Answer, Application, HttpBehaviour, Tool


def problems(application: Application) -> Iterator[Problem]:
    """Every rule that the models alone cannot check."""
    names = [tool.name for tool in application.tools]
    for index, tool in enumerate(application.tools):
        path = f"tools[{index}]"
        if tool.name in names[:index]:
            yield Problem(f"{path}.name", f'the tool "{tool.name}" is declared twice')
        yield from (problem.under(path) for problem in _tool(tool))
        if tool.name in application.tool_results and _behaviours(tool):
            yield Problem(f"tool_results.{tool.name}", f"this tool is answered by its {_behaviours(tool)[0]} already")
    yield from template_problems(application.tool_results, "tool_results", plain=True)


def _behaviours(tool: Tool) -> list[str]:
    return [name for name in ("answers", "http", "python") if getattr(tool, name)]


def _tool(tool: Tool) -> Iterator[Problem]:
    yield from schema_problems(tool.parameters, "parameters")
    behaviours = _behaviours(tool)
    if len(behaviours) > 1:
        yield Problem(behaviours[1], f"a tool has one behaviour; this one has {behaviours[0]} already")
    if tool.http is not None:
        yield from (problem.under("http") for problem in _http(tool.http))
    for index, answer in enumerate(tool.answers):
        yield from (problem.under(f"answers[{index}]") for problem in _answer(answer))


def _http(http: HttpBehaviour) -> Iterator[Problem]:
    if message := url_problem(http.url, ("http", "https")):
        yield Problem("url", message)
    yield from header_problems(http.headers)
    yield from template_problems(http.effects, "effects", more_names=("result",))


def _answer(answer: Answer) -> Iterator[Problem]:
    if "result" not in answer.model_fields_set and answer.error is None:
        yield Problem("", "needs a result or an error")
    if answer.when is not None and (message := expression_problem(answer.when)):
        yield Problem("when", message)
    yield from template_problems(answer.result, "result")
    yield from template_problems(answer.effects, "effects")
    yield from template_problems(answer.error, "error")


def schema_problems(schema: Json, path: str) -> Iterator[Problem]:
    """Why a value is not the JSON Schema of a function's arguments."""
    checker = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)
    wrong = False
    for error in checker.iter_errors(schema):
        wrong = True
        yield Problem(join_path(path, path_of(error.absolute_path)), f"is not JSON Schema: {error.message[:200]}")
    if wrong:
        return
    if schema.get("type", "object") != "object":
        yield Problem(join_path(path, "type"), "must be object: a function's arguments are an object")
    yield from _references(schema, schema, path)


def _references(value: Json, root: Json, path: str) -> Iterator[Problem]:
    """References must stay inside the schema: nothing is fetched while a call is checked."""
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str) and not _resolves(reference, root):
            yield Problem(join_path(path, "$ref"), f'"{reference}" leads nowhere in this schema')
        for key, item in value.items():
            yield from _references(item, root, join_path(path, path_of([key])))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _references(item, root, f"{path}[{index}]")


def _resolves(reference: str, root: Json) -> bool:
    if not reference.startswith("#"):
        return False
    target = root
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict) and key in target:
            target = target[key]
        elif isinstance(target, list) and (place := number_of(key)) is not None and place < len(target):
            target = target[place]
        else:
            return False
    return reference == "#" or reference.startswith("#/")
