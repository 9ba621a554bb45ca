from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios_app.spec.answer_templates import template_problems
from scenarios_app.spec.application import parse_application, parse_applications
from scenarios_app.spec.errors import SpecError
from tests.spec.examples import APPLICATION, changed, complaints


def refused(changes: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        parse_application(changed(APPLICATION, changes))
    return complaints(caught.value)


def test_an_application_is_kept_as_given() -> None:
    application = parse_application(APPLICATION)
    assert application.to_json() == APPLICATION
    tool = application.tool("create_reservation")
    assert tool is not None
    assert [answer.delay_ms for answer in tool.answers] == [0, 250]
    assert tool.definition() == {
        "type": "function",
        "name": "create_reservation",
        "description": "Books a table.",
        "parameters": APPLICATION["tools"][0]["parameters"],
    }
    assert application.tool("other") is None


def test_a_name_alone_is_an_application_and_a_tool() -> None:
    application = parse_application({"name": "Empty", "tools": [{"name": "ping"}]})
    assert application.tools[0].parameters == {"type": "object", "properties": {}}
    assert parse_application({"name": "Empty"}).tools == ()


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"name": "a,b"}, "name", "comma or an @"),
        ({"name": "a@1"}, "name", "comma or an @"),
        ({"name": " a"}, "name", "space"),
        ({"name": "a\nb"}, "name", "control characters"),
        ({"name": "x" * 101}, "name", "at most 100"),
        ({"facts": []}, "facts", "must be an object"),
        ({"tools[0].name": "create reservation"}, "tools[0].name", "letters, digits, _ or -"),
        ({"tools[0].name": "x" * 65}, "tools[0].name", "1 to 64"),
        ({"tools[0].reads": "all"}, "tools[0].reads", "must be a list"),
        ({"tools[0].answers[1].delay_ms": -1}, "tools[0].answers[1].delay_ms", "0 or more"),
        ({"tools[0].answers[1].delay_ms": 600_001}, "tools[0].answers[1].delay_ms", "or less"),
        ({"tools[0].answers[1].delay_ms": "1s"}, "tools[0].answers[1].delay_ms", "must be a number, not text"),
        ({"tools[0].answers[1].effects": [1]}, "tools[0].answers[1].effects", "must be an object"),
        ({"tools[0].answers[0]": {"when": "true"}}, "tools[0].answers[0]", "needs a result or an error"),
        ({"tools[0].http": {"url": "ftp://x/y"}}, "tools[0].http", "one behaviour"),
        ({"tools[0].answer": []}, "tools[0].answer", "did you mean answers?"),
        ({"tool_results.create_reservation": 1}, "tool_results.create_reservation", "answered by its answers"),
        ({"tool_results": {"a b": 1}}, 'tool_results["a b"]', "letters, digits"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], path: str, words: str) -> None:
    found = refused(changes)
    assert path in found
    assert words in found[path]


def test_a_tool_is_declared_once() -> None:
    tool = {"name": "ping"}
    assert refused({"tools": [tool, {"name": "pong"}, tool]}) == {"tools[2].name": 'the tool "ping" is declared twice'}


@pytest.mark.parametrize(
    ("parameters", "path", "words"),
    [
        ({"type": "object", "properties": {"n": {"type": "strin"}}}, "properties.n.type", "is not JSON Schema"),
        ({"type": "object", "required": "n"}, "required", "is not JSON Schema"),
        ({"type": "object", "properties": {"n": {"pattern": "("}}}, "properties.n.pattern", "is not JSON Schema"),
        ({"type": "array"}, "type", "must be object"),
        ({"properties": {"n": {"$ref": "#/$defs/m"}}}, "properties.n.$ref", "leads nowhere"),
        ({"properties": {"n": {"$ref": "https://example.com/n.json"}}}, "properties.n.$ref", "leads nowhere"),
        ({"allOf": [{"$ref": "#/allOf/7"}]}, "allOf[0].$ref", "leads nowhere"),
        ({"allOf": [{"$ref": "#/allOf/²"}]}, "allOf[0].$ref", "leads nowhere"),
        ({"allOf": [{"$ref": f"#/allOf/{'9' * 5000}"}]}, "allOf[0].$ref", "leads nowhere"),
    ],
)
def test_parameters_are_json_schema_that_leads_nowhere_else(parameters: dict[str, Any], path: str, words: str) -> None:
    found = refused({"tools[0].parameters": parameters})
    assert list(found) == [f"tools[0].parameters.{path}"]
    assert words in found[f"tools[0].parameters.{path}"]


def test_references_inside_a_schema_are_followed() -> None:
    parameters = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/a~1b"},
            "again": {"$ref": "#"},
            "first": {"$ref": "#/allOf/0"},
            "$ref": {"type": "string"},
        },
        "allOf": [{}],
        "$defs": {"a/b": {"type": "string"}},
    }
    parse_application(changed(APPLICATION, {"tools[0].parameters": parameters}))


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("result", "{{ args.x", "is not a template"),
        ("result", "{% if args.x %}", "is not a template"),
        ("result", "{{ args.x | uper }}", "did you mean upper?"),
        ("result", "{% if args.x is evenn %}{% endif %}", "there is no test evenn"),
        ("result", "{{ arg.x }}", "there is no arg here; known are args, counter, facts"),
        ("result", "{{ secrets.KEY }}", "there is no secrets here"),
        ("result", "{% include 'x' %}", "include is not available"),
        ("result", "{% import 'x' as y %}", "import is not available"),
        ("result", "{% macro m() %}{% endmacro %}", "macro is not available"),
        ("result", "{{ lipsum() }}", "there is no lipsum here"),
        ("result", "x" * 20_001, "at most 20000 characters"),
        ("result", "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "is not a template"),
        ("error", "{{ nobody }}", "there is no nobody here"),
        ("when", "args.x ==", "is not an expression"),
        ("when", "args.x == 1 }} {{ 2", "is not an expression"),
        ("when", "stat.open", "there is no stat here"),
        ("when", "args.x | nofilter", "there is no filter nofilter"),
    ],
)
def test_a_template_that_cannot_run_is_named(field: str, text: str, words: str) -> None:
    answer = {"result": 1, field: text}
    found = refused({"tools[0].answers": [{"result": 1}, answer]})
    assert list(found) == [f"tools[0].answers[1].{field}"]
    assert words in found[f"tools[0].answers[1].{field}"]


def test_an_argument_with_a_hyphen_is_read_in_a_plain_map_alone() -> None:
    text = "Order {{args.order-id}} of {{ args.name }}"
    parse_application(changed(APPLICATION, {"tool_results.lookup_policy": {"text": text}}))
    assert "there is no id here" in refused({"tools[0].answers[1].result": text})["tools[0].answers[1].result"]


def test_templates_are_found_at_any_depth() -> None:
    bad = "{{ nobody }}"
    assert set(
        refused(
            {
                "tools[0].answers": [{"result": {"a": [1, {"b c": bad}]}, "effects": {"s": bad}}],
                "tool_results.lookup_policy": [bad],
            }
        )
    ) == {
        'tools[0].answers[0].result.a[1]["b c"]',
        "tools[0].answers[0].effects.s",
        "tool_results.lookup_policy[0]",
    }


@pytest.mark.parametrize(
    "text",
    [
        "{{args.KEY}}",
        "{{ counter('R-', 3) }} at {{ now }} on {{ reference_date }} for {{ facts.name | upper }}",
        "{% for r in state.reservations %}{{ loop.index }}: {{ r.id }}{% endfor %}",
        "{% set total = args.a + args.b %}{{ total if total > 3 else range(total) | list }}",
        "{% with x = args.x %}{% if x is defined %}{{ dict(a=x) }}{% endif %}{% endwith %}",
        "no template, 50 % off {",
    ],
)
def test_a_template_that_can_run_is_accepted(text: str) -> None:
    assert list(template_problems({"x": [text]}, "")) == []


@pytest.mark.parametrize("text", ["{{ 9**9**9**9 }}", "{{ 'x' * 10**12 }}", "{{ 'x' | center(10**11) }}"])
def test_checking_a_template_never_runs_it(text: str) -> None:
    """Compiling would: jinja2 folds constants. This test ends at once or not at all."""
    assert list(template_problems(text, "")) == []
    parse_application(changed(APPLICATION, {"tools[0].answers[1].when": text[2:-2]}))


@settings(deadline=None)  # the machine may be busy
@given(st.text("{}%()[]|.,'\" \nabcargsif=+*-1#", max_size=60))
def test_any_text_is_judged_without_an_exception(text: str) -> None:
    assert len(list(template_problems(text, "x"))) <= 1


def test_other_behaviours_are_kept() -> None:
    document = {
        "name": "Staging",
        "tools": [
            {"name": "ask", "http": {"url": "https://staging.example.com/ask", "timeout": "500ms"}},
            {"name": "compute", "python": "billing"},
            {"name": "plain", "answers": [{"result": 1}]},
        ],
    }
    application = parse_application(document)
    assert application.to_json() == document
    assert application.tools[0].http is not None
    assert application.tools[0].http.timeout == 0.5
    assert application.tool_names == {"ask", "compute", "plain"}


@pytest.mark.parametrize(
    ("http", "path"),
    [
        *(({"url": url}, "url") for url in ("ftp://x/y", "https://", "staging", "http://[x", "https://{{secrets.A}}/")),
        ({"url": "https://a:b@x/"}, "url"),
        ({"url": "https://x/?key={{secrets.A}}&b={{nothing}}"}, "url"),
        ({"url": "https://x/", "headers": {"Host": "other"}}, "headers.Host"),
        ({"url": "https://x/", "headers": {"X-A": "a\nb"}}, "headers.X-A"),
        ({"url": "https://x/", "headers": {"X-A": "{{args.x}}"}}, "headers.X-A"),
        ({"url": "https://x/", "effects": {"a": "{{ answer.x }}"}}, "effects.a"),
    ],
)
def test_an_http_tool_is_checked_field_by_field(http: dict[str, Any], path: str) -> None:
    assert list(refused({"tools": [{"name": "ask", "http": http}]})) == [f"tools[0].http.{path}"]


def test_an_http_tool_may_name_secrets_and_its_own_result() -> None:
    headers = {"Authorization": "Bearer {{secrets.STAGING}}", "X-Seed": "{{trial.seed}}"}
    effects = {"order": "{{ result.id }}", "who": "{{ args.name }}"}
    http = {"url": "https://x/?k={{secrets.K}}", "headers": headers, "send_state": True, "effects": effects}
    document = {"name": "Staging", "tools": [{"name": "ask", "http": http}]}
    assert parse_application(document).to_json() == document


def test_a_list_of_applications_keeps_its_order_and_its_repeated_names() -> None:
    second = changed(APPLICATION, {"facts.opens": "12:00"})
    applications = parse_applications(json.dumps([APPLICATION, second]))
    assert [application.to_json() for application in applications] == [APPLICATION, second]


def test_the_problems_of_a_list_come_with_path_and_line() -> None:
    text = json.dumps([APPLICATION, changed(APPLICATION, {"tools[0].answers[0].when": "("}), {"name": "a,b"}], indent=1)
    with pytest.raises(SpecError) as caught:
        parse_applications(text)
    lines = text.splitlines()
    assert [problem.path for problem in caught.value.problems] == ["[1].tools[0].answers[0].when", "[2].name"]
    assert [lines[(problem.line or 0) - 1].strip() for problem in caught.value.problems] == [
        '"when": "(",',
        '"name": "a,b"',
    ]


def test_an_object_where_a_list_should_be_is_explained() -> None:
    with pytest.raises(SpecError, match="must be a list of applications, not an object"):
        parse_applications(json.dumps(APPLICATION))
