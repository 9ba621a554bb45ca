"""The jinja2 texts of an application's answers, checked without running them.

Nothing here is compiled: jinja2 evaluates constant parts while it compiles, so that `{{ 9**9**9 }}` would hang the
form that checks it. Rendering, with its limits, is the tool executor's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import jinja2
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from scenarios_app.spec.errors import Problem, join_path, path_of
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.wording import suggestion

# What `when` and the templates may name.
TEMPLATE_NAMES = frozenset({"args", "state", "facts", "reference_date", "now", "counter"})
LONGEST_TEMPLATE = 20_000  # characters

_FUNCTIONS = frozenset({"range", "dict"})
_STATEMENTS = (nodes.Output, nodes.For, nodes.If, nodes.Assign, nodes.With)
# In a plain tool_results map `{{args.order-id}}` is the argument of that name; to jinja2 it is a subtraction.
_PLAIN_ARGUMENT = re.compile(r"\{\{\s*args\.[A-Za-z0-9_-]+\s*\}\}")
_ENVIRONMENT = ImmutableSandboxedEnvironment()


def template_problems(
    value: Json, path: str, *, plain: bool = False, more_names: tuple[str, ...] = ()
) -> Iterator[Problem]:
    """A problem for every text in `value` that cannot be rendered. `plain`: it is part of a tool_results map.
    `more_names` may be named besides TEMPLATE_NAMES."""
    if isinstance(value, str):
        text = _PLAIN_ARGUMENT.sub("", value) if plain else value
        if message := _problem(text, expression=False, more_names=more_names):
            yield Problem(path, message)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from template_problems(item, join_path(path, path_of([key])), plain=plain, more_names=more_names)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from template_problems(item, f"{path}[{index}]", plain=plain, more_names=more_names)


def expression_problem(text: str) -> str | None:
    """Why a `when` cannot be evaluated; None when it can."""
    return _problem(text, expression=True)


def _problem(text: str, *, expression: bool, more_names: tuple[str, ...] = ()) -> str | None:
    kind = "an expression" if expression else "a template"
    if len(text) > LONGEST_TEMPLATE:
        return f"must have at most {LONGEST_TEMPLATE} characters"
    try:
        tree = _expression(text) if expression else _ENVIRONMENT.parse(text)
    except jinja2.TemplateSyntaxError as error:
        return f"is not {kind}: {error.message}"
    except RecursionError:
        return f"is not {kind}: it is nested too deep"
    return _foreign(tree, TEMPLATE_NAMES.union(more_names))


def _expression(text: str) -> nodes.Node:
    parser = Parser(_ENVIRONMENT, text, state="variable")
    tree = parser.parse_expression()
    if not parser.stream.eos:
        raise jinja2.TemplateSyntaxError("there is more text after its end", parser.stream.current.lineno)
    # find_all looks below a node, never at it
    return nodes.Output([tree])


def _foreign(tree: nodes.Node, known_names: frozenset[str]) -> str | None:
    """What a template names that does not exist."""
    for statement in tree.find_all(nodes.Stmt):
        if not isinstance(statement, _STATEMENTS):
            return f"{type(statement).__name__.lower()} is not available in tool answers"
    for node in tree.find_all((nodes.Filter, nodes.Test)):
        known = _ENVIRONMENT.filters if isinstance(node, nodes.Filter) else _ENVIRONMENT.tests
        if node.name not in known:
            return f"there is no {type(node).__name__.lower()} {node.name}{suggestion(node.name, list(known))}"
    unknown = _names(tree) - known_names - _FUNCTIONS
    if unknown:
        return f"there is no {', '.join(sorted(unknown))} here; known are {', '.join(sorted(known_names))}"
    return None


def _names(tree: nodes.Node) -> set[str]:
    """Names that are read and nowhere set."""
    names = list(tree.find_all(nodes.Name))
    own = {name.name for name in names if name.ctx != "load"}
    if next(tree.find_all(nodes.For), None) is not None:
        own.add("loop")
    return {name.name for name in names if name.ctx == "load"} - own
