"""Templates of tool answers: what they can do, and that none of them can hurt the worker."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs_app.realtime import sandbox
from runs_app.realtime.sandbox import Function, LimitError, TemplateError

NAMES: dict[str, Any] = {
    "args": {"items": [1, 2], "name": "Nora", "n": 3, "get": "got", "text": "{{ 7 * 7 }}"},
    "state": {"rooms": [{"id": 1, "free": True}, {"id": 2, "free": False}, {"id": 3, "free": True}]},
    "facts": {"unit": {"price": 12.5}},
    "double": Function(lambda value: value * 2),
}


def rendered(value: Any) -> Any:
    with sandbox.limits():
        return sandbox.render(value, NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ args.n + 1 }}", 4),
        ("{{ args.n > 2 and not args.nope }}", True),
        ("{{ facts.unit.price * args.n }}", 37.5),
        ("{{ args['na' ~ 'me'] }}", "Nora"),
        ("{{ args.name.upper() ~ '/' ~ args.n }}", "NORA/3"),
        ("{{ args.name.replace('N', 'D') }}", "Dora"),
        ("{{ '%02d:%s'|format(args.n, 'x') }}", "03:x"),
        ("{{ state.rooms|selectattr('free')|map(attribute='id')|list }}", [1, 3]),
        ("{{ state.rooms|selectattr('id', 'gt', 1)|map(attribute='id') }}", [2, 3]),
        ("{{ (state.rooms|map(attribute='id')|list)[1:] }}", [2, 3]),
        ("{{ state.rooms|sum(attribute='id') }}", 6),
        ("{{ range(3)|join('-') }}", "0-1-2"),
        ("{{ [5, 1, 3]|sort|first }}", 1),
        ("{{ args.nope|default('none') }}", "none"),
        ("{{ 'a' if args.vip else 'b' }}", "b"),
        ("{{ {'a': args.items, 'b': args.nope} }}", {"a": [1, 2], "b": None}),
        ("{{ dict(a=1) }}", {"a": 1}),
        ("{{ (1, 2) }}", [1, 2]),
        ("{{ double(args.n) }}", 6),
        ("{{ args.items|tojson }}", "[1, 2]"),
        ("{{ '<b>'|tojson }}", '"<b>"'),
        ("{{ args.n }}\n", "3\n"),
        (" {{ args.n }}", " 3"),
        ("{% set a = args.n * 2 %}{{ a }}", "6"),
        (
            "{% for r in state.rooms if r.free %}{{ loop.index }}:{{ r.id }}{{ ',' if not loop.last }}{% endfor %}",
            "1:1,2:3",
        ),
        ("{% for key, value in facts.unit.items() %}{{ key }}={{ value }}{% else %}nothing{% endfor %}", "price=12.5"),
        ("{% if args.n == 3 %}three{% else %}other{% endif %}{# not shown #}", "three"),
        ("{{ none }}|{{ true }}|{{ 1.5 }}|{{ args.items }}", "|true|1.5|[1, 2]"),
    ],
)
def test_templates_compute_what_an_answer_needs(text: str, expected: Any) -> None:
    assert rendered(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ args.items }}", [1, 2]),
        ("{{ args.get }}", "got"),
        ("{{ args.keys }}", None),
        ("{{ args.get('n') }}", 3),
        ("{{ args.keys()|list }}", ["items", "name", "n", "get", "text"]),
        ("{{ args.name.upper }}", None),
        ("{{ args.nope.deeper['still'].not }}", None),
    ],
)
def test_a_name_of_the_data_is_data_and_a_method_only_when_called(text: str, expected: Any) -> None:
    assert rendered(text) == expected


def test_what_comes_out_of_a_template_is_never_rendered_again() -> None:
    assert rendered({"a": "{{ args.text }}", "b": "x {{ args.text }}"}) == {"a": "{{ 7 * 7 }}", "b": "x {{ 7 * 7 }}"}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("args.n > 2", True), ("args.nope", False), ("args.nope.deeper == 'x'", False), ("'ora' in args.name", True)],
)
def test_a_condition_is_an_expression(expression: str, expected: bool) -> None:
    with sandbox.limits():
        assert sandbox.condition(expression, NAMES) is expected


HARMFUL = [
    "{{ 'x' * 10**10 }}",
    "{{ 10**10 * 'x' }}",
    "{{ [0] * 10**10 }}",
    "{{ 9 ** (9 ** 9) }}",
    "{{ (10 ** 1000) * (10 ** 1000) }}",
    "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
    "{% for i in range(9999) %}{% for j in range(9999) if false %}{% endfor %}{% endfor %}",
    "{{ range(10**12) }}",
    "{% for i in range(9999) %}" + "a" * 100 + "{% endfor %}",
    "{% set a = 'x' * 99 %}" + "{% set a = a ~ a %}" * 40,
    "{% set a = 'x' * 99 %}" + "{% set a = a + a %}" * 40,
    "{% set a = ['x' * 99] %}" + "{% set a = [a, a] %}" * 40 + "{{ a }}",
    "{% set a = [1] %}" + "{% set a = [a] %}" * 80 + "{{ a }}",
    "{{ 'a'|center(10**9) }}",
    "{{ ['a', 'b']|map('center', 10**9)|list }}",
    "{{ '%1000000000d'|format(1) }}",
    "{{ '%*d'|format(10**9, 1) }}",
    "{{ ('%s' * 9999)|format('x' * 9999) }}",
    "{{ ('x' * 60000).replace('x', 'y' * 60000) }}",
    "{{ ('x' * 60000)|replace('x', 'y' * 60000) }}",
    "{{ (['x' * 60000] * 60000)|join }}",
    "{{ ([''] * 60000)|join('y' * 60000) }}",
    "{{ [1]|batch(10**9, 'x')|list }}",
    "{{ 5|round(-(10**8)) }}",
    "{{ ('x\n' * 9999)|indent('y' * 9999) }}",
    "{{ " + "(" * 2000 + "1" + ")" * 2000 + " }}",
    "{{ " + "+".join(["1"] * 5000) + " }}",
    "{{ " + "[" * 150 + "]" * 150 + " }}",
]


@pytest.mark.parametrize("text", HARMFUL, ids=range(len(HARMFUL)))
def test_a_template_that_asks_for_too_much_is_stopped_before_it_hurts(text: str) -> None:
    before_s = time.thread_time()
    with pytest.raises(LimitError):
        rendered(text)
    assert time.thread_time() - before_s < 1.5


@pytest.mark.parametrize("text", HARMFUL[:5])
def test_nothing_is_computed_while_a_template_is_compiled(text: str) -> None:
    sandbox.prepare(text)


def test_one_budget_is_shared_by_everything_of_one_call() -> None:
    text = "{% for i in range(9000) %}{{ i }}{% endfor %}"
    with sandbox.limits():
        sandbox.render(text, NAMES)
        with pytest.raises(LimitError, match="takes more than 100000 steps"):
            sandbox.render([text] * 10, NAMES)
    assert len(rendered(text)) > 9000


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ args.__class__ }}",
        "{{ args['__class__'] }}",
        "{{ args|attr('__class__') }}",
        "{{ [args]|map(attribute='__class__')|list }}",
        "{{ ['{0.__class__}']|map('format', args)|list }}",
        "{{ '{0.__class__}'.format(args) }}",
        "{{ double.call.__globals__ }}",
        "{{ range.__init__ }}",
        "{{ self._TemplateReference__context }}",
        "{{ cycler.__init__.__globals__ }}",
        "{% for a in [1] %}{{ loop._iterable }}{% endfor %}",
        "{% for a in [1] %}{{ loop.__init__ }}{% endfor %}",
    ],
)
def test_no_template_reaches_python(text: str) -> None:
    try:
        result = rendered(text)
    except TemplateError:
        return
    assert result in (None, "", [None], ["{0.__class__}"])


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{{ args.n / 0 }}", "ZeroDivisionError"),
        ("{{ args.name + 1 }}", "TypeError"),
        ("{{ args.nope + 1 }}", "nope is not defined"),
        ("{{ 1e308 * 10 }}", "its result is inf, which is no JSON"),
        ("{{ double }}", "its result is a Function, which is no JSON"),
        ("{{ args.name() }}", "name() is not available on a dict"),
        ("{{ args.name.encode() }}", "encode() is not available on a str"),
        ("{{ args.items.append(3) }}", "append() is not available on a list"),
        ("{{ args.update({'n': 4}) }}", "update() is not available on a dict"),
        ("{{ lipsum() }}", "only functions"),
        ("{{ '%s' % 3 }}", "use the format filter"),
        ("{{ [[1], [2]]|sum(start=[]) }}", "adds numbers"),
        ("{{ 1 + }}", "unexpected"),
        ("{{ open", "unexpected"),
        ("{% include 'x' %}", "include is not available"),
        ("{% import 'x' as y %}", "import is not available"),
        ("{% extends 'x' %}", "extends is not available"),
        ("{% macro m() %}{{ m() }}{% endmacro %}", "macro is not available"),
        ("{% block b %}{% endblock %}", "block is not available"),
        ("{% for x in args.items recursive %}{{ loop(x) }}{% endfor %}", "recursive loops are not available"),
        ("{{ args.name|random }}", "No filter named 'random'"),
        ("{{" + " " * 20_000 + "}}", "more than 20000 characters"),
    ],
)
def test_a_template_that_goes_wrong_says_how(text: str, part: str) -> None:
    with pytest.raises(TemplateError) as caught:
        rendered(text)
    assert part in str(caught.value)


def test_a_condition_has_one_expression_and_no_more() -> None:
    with pytest.raises(TemplateError, match="more text after its end"):
        sandbox.prepare_condition("args.n args.n")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_any_json_goes_through_a_single_expression_unchanged_and_copied(value: Any) -> None:
    with sandbox.limits():
        made = sandbox.render("{{ args.value }}", {"args": {"value": value}})
    assert made == value
    assert type(made) is type(value)
    if isinstance(value, list | dict) and value:
        assert made is not value


@given(st.text(max_size=40))
def test_a_text_without_templates_is_itself(text: str) -> None:
    plain = text.replace("{", "(")
    assert rendered(plain) == plain


PIECES = st.sampled_from(
    (
        *("{{", "}}", "{%", "%}", "{#", "#}", "args", ".", "n", "items", "name", "[", "]", "(", ")", "'", "|", "~"),
        *("+", "-", "*", "**", "/", "%", "1", "9", "x", "if", "else", "for", "in", "endfor", "set", "=", "not", "and"),
        *("range", "map", "join", "format", "length", "state", "loop", ",", ":", "==", "<", "is", "defined", "none"),
    )
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=14))
def test_any_template_ends_in_a_value_or_a_clear_error(pieces: list[str]) -> None:
    for text in (" ".join(pieces), "{{ " + " ".join(pieces) + " }}"):
        try:
            json.dumps(rendered(text), allow_nan=False)
        except (TemplateError, LimitError):
            continue
