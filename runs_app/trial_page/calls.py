"""Expected and made calls side by side, each argument with what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from runs_app.grading.case import Case, Evidence
from runs_app.grading.check import comparison_rows
from runs_app.realtime.record import Record, ToolCall
from scenarios_app.spec.scenario import Scenario

Json = Any

SAYS = {
    "in_order": "as expected",
    "out_of_order": "out of order",
    "wrong_tool": "another tool in its place",
    "missing": "not called",
    "extra": "not expected",
    "duplicate": "called again",
}


@dataclass(frozen=True)
class Side:
    """What stands beside each other: an expected call, a made one, or both. `kind` is one of SAYS."""

    kind: str
    name: str  # of the expected call, else of the made one
    expected: dict[str, Json] | None
    call: ToolCall | None
    rows: tuple[dict[str, Json], ...] = ()  # per argument, expected ones first, then those that were merely given

    @property
    def says(self) -> str:
        return "with other arguments" if self.kind == "in_order" and not self.ok else SAYS[self.kind]

    @property
    def ok(self) -> bool:
        return self.kind == "in_order" and all(row["ok"] for row in self.rows)


def sides(scenario: Scenario, record: Record, done_tool: str | None) -> list[Side]:
    """In the order of the expected calls, each surplus call where it was made."""
    case = Case(Evidence(scenario, record, done_tool=done_tool))
    found = case.alignment
    placed: list[tuple[float, Side]] = []
    for pair in found.pairs:
        wanted, call = case.wanted[pair.wanted], case.calls[pair.actual]
        rows = tuple(_rows(wanted.arguments, call)) if pair.same_tool else ()
        placed.append((pair.actual, Side(pair.kind, wanted.name, wanted.arguments, call, rows)))
    for number in (*found.extra, *found.duplicates):
        kind = "duplicate" if number in found.duplicates else "extra"
        placed.append((number, Side(kind, case.calls[number].name, None, case.calls[number])))
    missing = [Side("missing", case.wanted[i].name, case.wanted[i].arguments, None) for i in found.missing]
    return [side for _, side in sorted(dict(placed).items())] + missing


def _rows(expected: dict[str, Json], call: ToolCall) -> Iterable[dict[str, Json]]:
    given = call.arguments or {}
    yield from comparison_rows(expected, given)
    for name, value in given.items():
        if name not in expected:
            yield {
                "path": name,
                "expected": None,
                "actual": value,
                "absent": False,
                "reason": "",
                "ok": True,
                "free": True,
            }
