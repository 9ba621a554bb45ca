from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import clean
from scenarios_app.spec.scenario import parse_file
from scenarios_app.spec.sources import format_of
from scenarios_app.spec.yamltext import dump_yaml, yaml_source

TEXT = st.text(st.characters(blacklist_categories=("Cs",))) | st.sampled_from(
    [
        "no",
        "0o17",
        "1e3",
        "12:30",
        "2027-05-15",
        ".nan",
        "<<",
        "a: b",
        "x\r\ny\rz\n",
        " two \n lines ",
        "\u2028",
        "~",
        "0x1F",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_what_is_written_as_yaml_reads_back_the_same(value: Any) -> None:
    assert yaml_source(dump_yaml(clean(value))).value == clean(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("12:30", "12:30"),
        ("2027-05-15", "2027-05-15"),
        ("0o17", 15),
        ("017", 17),
        ("1e3", 1000.0),
        ("~", None),
        ("True", True),
        ("!!str 12", "12"),
        ('"12"', "12"),
    ],
)
def test_plain_words_mean_what_version_1_2_says(text: str, value: Any) -> None:
    assert yaml_source(f"- {text}").value == [value]


@pytest.mark.parametrize(
    ("text", "path", "line", "said"),
    [
        ("a: 1\nb:\n  c: .nan\n", "b.c", 3, "not a number"),
        ("a: 1\nb: 2\na: 3\n", "a", 3, "given before, in line 1"),
        ("a: 1\n1: x\n", "", 2, "not text"),
        ("a: !python/object:os.system x\n", "a", 1, "the tag !python/object"),
        ("a: [1\nb: 2", "", 2, "this is not YAML"),
        ("a: 1\n---\nb: 2\n", "", 2, "a second document"),
        ("a: 1\nb: *gone\n", "b", 2, "no finished &gone"),
        ("a: 1\nb: &b [*b]\n", "b[0]", 2, "no finished &b"),
        ("a: 1\nb: \x01\n", "", 2, "control character"),
        ("", "", 1, "empty"),
        ("x: " + "[" * 150, "", 1, "deeper than 100"),
    ],
)
def test_what_is_not_plain_data_is_refused_with_its_place(text: str, path: str, line: int, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        yaml_source(text)
    (problem,) = caught.value.problems
    assert (problem.path, problem.line) == (path, line)
    assert said in problem.message


def test_aliases_are_read_until_they_multiply() -> None:
    assert yaml_source("a: &x {p: 1}\nb: *x\n").value == {"a": {"p": 1}, "b": {"p": 1}}
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(SpecError, match="stand for more than"):
        yaml_source("\n".join(lines))


def test_a_scenario_file_as_yaml_names_the_lines_of_its_problems() -> None:
    text = """schema_version: "1.1"
scenarios:
  - id: one
    title: One
    interaction: single_turn
    input: {text: Hello}
  - id: ONE
    title: Two
    interaction: duet
    input:
      text: Hello
"""
    with pytest.raises(SpecError) as caught:
        parse_file(yaml_source(text))
    found = [(problem.path, problem.line) for problem in caught.value.problems]
    assert found == [("scenarios[1].id", 7), ("scenarios[1].interaction", 9)]
    assert "line 3" in caught.value.problems[0].message


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [("A.YML", "", "yaml"), ("a.csv", "{", "csv"), ("", ' {"a": 1}', "json"), ("a.txt", "a: 1", "yaml")],
)
def test_the_format_is_told_by_the_name_or_by_how_the_text_begins(name: str, text: str, kind: str) -> None:
    assert format_of(name, text.encode()) == kind
