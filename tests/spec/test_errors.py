from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios_app.spec.errors import Problem, SpecError, by_field, join_path, parts_of, path_of


def test_a_path_reads_like_the_document() -> None:
    parts = ("scenarios", 3, "expected", "tools", "required", 0, "name")
    assert path_of(parts) == "scenarios[3].expected.tools.required[0].name"


def test_a_key_with_spaces_or_dots_is_quoted() -> None:
    assert path_of(("arguments", "first name", "a.b", "$any_of", 0)) == 'arguments["first name"]["a.b"].$any_of[0]'


@settings(deadline=None)  # the machine may be busy
@given(st.lists(st.one_of(st.integers(min_value=0), st.text())))
def test_every_path_reads_back(parts: list[str | int]) -> None:
    assert parts_of(path_of(parts)) == tuple(parts)


@pytest.mark.parametrize("text", ["a[b]", "a..b", "a[", "[-1]"])
def test_a_text_that_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a path"):
        parts_of(text)


@pytest.mark.parametrize(
    ("prefix", "path", "joined"),
    [("a", "b", "a.b"), ("a", "[0].b", "a[0].b"), ("", "b", "b"), ("a", "", "a"), ("[2]", "b", "[2].b")],
)
def test_paths_join(prefix: str, path: str, joined: str) -> None:
    assert join_path(prefix, path) == joined


def test_a_problem_says_line_path_and_message() -> None:
    assert str(Problem("input.text", "must not be empty", 7)) == "line 7, input.text: must not be empty"
    assert str(Problem("", "this is not JSON")) == "this is not JSON"


def test_a_problem_knows_its_field() -> None:
    assert Problem("input.context.history[0].text", "x").field == "input"
    assert Problem("", "x").field == ""


def test_problems_go_to_the_longest_field_that_holds_them() -> None:
    problems = [
        Problem("input.text", "must not be empty"),
        Problem("input.context.history[0].role", "must be user or assistant"),
        Problem("title", "must not be empty"),
        Problem("expected.answer", "this field is required"),
        Problem("inputs", "there is no such field"),
    ]
    assert by_field(problems, ["title", "input", "input.text"]) == {
        "input.text": ["must not be empty"],
        "input": ["context.history[0].role: must be user or assistant"],
        "title": ["must not be empty"],
        "": ["expected.answer: this field is required", "inputs: there is no such field"],
    }


def test_the_error_shows_twenty_problems_and_keeps_all() -> None:
    error = SpecError([Problem(f"a[{n}]", "is wrong") for n in range(25)])
    assert len(error.problems) == 25
    assert str(error).splitlines()[-1] == "and 5 more"
    assert len(str(error).splitlines()) == 21
