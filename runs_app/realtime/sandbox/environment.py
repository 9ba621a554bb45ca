"""The jinja2 environment of tool answers, and the rewriting that leads every step of a template through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.runtime import ChainableUndefined, Context, LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from runs_app.realtime.sandbox import operations
from runs_app.realtime.sandbox.budget import MAX_ITEMS, MAX_SOURCE, TemplateError, check_size, size, spend
from runs_app.realtime.sandbox.values import as_text, guarded

Names = Mapping[str, Any]
Runnable = Callable[[Names], Any]


@dataclass(frozen=True)
class Function:
    """Something that a template may call by name."""

    call: Callable[..., Any]


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, LoopContext) and not attribute.startswith("_"):
            return getattr(obj, attribute)
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        spend()
        if isinstance(obj, Undefined):
            return obj
        try:
            return obj[argument]
        except (TypeError, LookupError):
            return self.undefined(f"{argument} is not defined", name=str(argument))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        operations.check_operation(operator, left, right)
        result = super().call_binop(context, operator, left, right)
        spend(1 + size(result) // 16)
        return result

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        spend()
        for own in ("_loop_vars", "_block_vars"):  # jinja2's own, meant for functions that take a context
            kwargs.pop(own, None)
        if isinstance(__obj, Function):
            return __obj.call(*args, **kwargs)
        if __obj in (__self.counted, __self.joined, __self.method):
            return __obj(*args)
        raise TemplateError("only functions and methods of texts, lists and objects can be called")

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            spend()
            yield item

    def joined(self, *parts: Any) -> str:
        texts = [as_text(part) for part in parts]
        check_size(sum(map(len, texts)), "text")
        return "".join(texts)

    def method(self, obj: Any, name: str) -> Function:
        found = operations.method(obj, name)
        if found is None:
            raise TemplateError(f"{name}() is not available on a {type(obj).__name__}")
        return Function(found)


def _limited_range(*bounds: int) -> range:
    numbers = range(*bounds)
    check_size(len(numbers), "list", MAX_ITEMS)
    return numbers


@jinja2.pass_context
def _finalize(context: Context, value: Any) -> str:
    # With a context to pass, jinja2 leaves constants alone at compile time, where no budget runs.
    return as_text(value)


_ENVIRONMENT = _Environment(
    optimized=False,  # nothing is computed at compile time
    undefined=ChainableUndefined,
    finalize=_finalize,
    keep_trailing_newline=True,
)
_ENVIRONMENT.globals = {"range": Function(_limited_range), "dict": Function(dict)}
_ENVIRONMENT.filters = operations.filters()


@lru_cache(maxsize=4096)
def compiled(source: str) -> Runnable:
    """A text with templates in it. What is one single `{{expression}}` keeps the type of its value."""
    tree = _parsed(lambda: _ENVIRONMENT.parse(source), source)
    match tree.body:
        case [nodes.Output(nodes=[nodes.Expr() as only])] if not isinstance(only, nodes.TemplateData):
            return _evaluating(only)
    template = guarded(lambda: _ENVIRONMENT.from_string(_rewritten(tree)))
    return lambda names: _collected(template, names)


@lru_cache(maxsize=4096)
def compiled_expression(source: str) -> Runnable:
    """A bare expression."""

    def parse() -> nodes.Expr:
        parser = Parser(_ENVIRONMENT, source, state="variable")
        tree = parser.parse_expression()
        if not parser.stream.eos:
            raise jinja2.TemplateSyntaxError("there is more text after its end", parser.stream.current.lineno)
        return tree

    return _evaluating(_parsed(parse, source))


def _parsed(parse: Callable[[], Any], source: str) -> Any:
    if len(source) > MAX_SOURCE:
        raise TemplateError(f"it has more than {MAX_SOURCE} characters")
    return guarded(parse)


def _evaluating(tree: nodes.Expr) -> Runnable:
    body: list[nodes.Node] = [nodes.Assign(nodes.Name("result", "store"), tree, lineno=1)]
    template = guarded(lambda: _ENVIRONMENT.from_string(_rewritten(nodes.Template(body, lineno=1))))

    def evaluate(names: Names) -> Any:
        context = template.new_context(dict(names))
        for _ in template.root_render_func(context):
            pass
        return context.vars["result"]

    return evaluate


def _collected(template: jinja2.Template, names: Names) -> str:
    parts: list[str] = []
    length = 0
    for part in template.root_render_func(template.new_context(dict(names))):
        parts.append(part)
        length += len(part)
        check_size(length, "text")
        spend(1 + len(part) // 16)
    return "".join(parts)


_KNOWN_NODES = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Assign, nodes.With, nodes.Name),
    *(nodes.Const, nodes.Tuple, nodes.List, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.CondExpr, nodes.Filter),
    *(nodes.Test, nodes.Call, nodes.Getitem, nodes.Getattr, nodes.Slice, nodes.Concat, nodes.Compare, nodes.Operand),
    *(nodes.BinExpr, nodes.UnaryExpr),
)


def _rewritten(tree: nodes.Template) -> nodes.Template:
    for node in tree.find_all(nodes.Node):
        if not isinstance(node, _KNOWN_NODES):
            raise TemplateError(f"{type(node).__name__.lower()} is not available in tool answers")
        if isinstance(node, nodes.For) and node.recursive:
            raise TemplateError("recursive loops are not available in tool answers")
    counting: nodes.Template = _Counting().visit(tree)
    counting.set_environment(_ENVIRONMENT)
    return counting


def _call(name: str, arguments: list[nodes.Expr]) -> nodes.Call:
    return nodes.Call(nodes.EnvironmentAttribute(name), arguments, [], None, None)


class _Counting(NodeTransformer):
    """Leads what jinja2 compiles to bare Python through the environment, where it is counted."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.iter = _call("counted", [_expr(node.iter)])
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _call("joined", node.nodes)

    def visit_Call(self, node: nodes.Call) -> nodes.Node:
        self.generic_visit(node)
        if isinstance(node.node, nodes.Getattr):
            node.node = _call("method", [node.node.node, nodes.Const(node.node.attr)])
        return node


def _expr(node: nodes.Node) -> nodes.Expr:
    if not isinstance(node, nodes.Expr):
        raise TemplateError(f"{type(node).__name__.lower()} cannot be looped over")
    return node
