"""docs/protocol.md says of every quirk which test proves it, and every behaviour of the client has its test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DOC = Path(__file__).parents[2] / "docs" / "protocol.md"
ROW = re.compile(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \| (?:`(test_\w+)`|(none)) \|$", re.MULTILINE)
QUIRKS, BEHAVIOURS = range(1, 53), range(1, 37)


def marked(kind: str) -> Iterator[tuple[int, str]]:
    """(number, test) of every mark of that kind beside this file."""
    for path in TESTS.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for mark in node.decorator_list:
                    if ast.unparse(mark).startswith(f"pytest.mark.{kind}("):
                        assert isinstance(mark, ast.Call)
                        yield from ((ast.literal_eval(number), node.name) for number in mark.args)


def test_every_quirk_has_a_row_whose_test_has_its_number() -> None:
    rows = {int(number): (ours, test) for number, _, ours, test, _ in ROW.findall(DOC.read_text(encoding="utf-8"))}
    assert list(rows) == list(QUIRKS)
    proofs = set(marked("quirk"))
    assert [number for number, (_, test) in rows.items() if test and (number, test) not in proofs] == []
    without = {number: ours for number, (ours, test) in rows.items() if not test}
    assert all(ours.startswith("no test: ") for ours in without.values()), without


@pytest.mark.parametrize(("kind", "numbers"), [("quirk", QUIRKS), ("behaviour", BEHAVIOURS)])
def test_no_test_has_a_number_that_there_is_not(kind: str, numbers: range) -> None:
    assert {number for number, _ in marked(kind)} <= set(numbers)


def test_every_behaviour_of_the_client_has_a_test() -> None:
    assert set(BEHAVIOURS) - {number for number, _ in marked("behaviour")} == set()
