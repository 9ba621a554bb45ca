"""A deterministic verdict and how it is put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from runs_app.grading.matching import match
from runs_app.grading.plain_values import ABSENT, Mismatch
from scenarios_app.spec import matcher_words

Json = Any

Status = Literal["passed", "failed", "not_applicable", "not_assessed"]


@dataclass(frozen=True)
class Check:
    """`required`: failing it fails the trial. `evidence` may hold `spans_ms`, pairs of [start, end] on the timeline."""

    id: str
    status: Status
    required: bool
    reason: str
    evidence: dict[str, Json] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.status == "failed"


def verdict(id: str, ok: bool, *, required: bool, reason: str, **evidence: Json) -> Check:
    """Passed or failed; the reason is kept in both cases, it says what was found."""
    return Check(id, "passed" if ok else "failed", required, reason, evidence)


def not_applicable(id: str, reason: str, **evidence: Json) -> Check:
    return Check(id, "not_applicable", False, reason, evidence)


def not_assessed(id: str, reason: str, *, required: bool = False, **evidence: Json) -> Check:
    return Check(id, "not_assessed", required, reason, evidence)


def comparison_rows(expected: dict[str, Json], actual: dict[str, Json]) -> list[dict[str, Json]]:
    """One row per expected key that matches, and one per place that does not: path, expected, actual, reason, ok."""
    rows: list[dict[str, Json]] = []
    for key, value in expected.items():
        found = match({key: value}, actual)
        if found:
            rows += [mismatch_row(item) for item in found]
        else:
            got = actual.get(key, ABSENT)
            rows.append(_row(key, value, got, ok=True))
    return rows


def _row(path: str, expected: Json, actual: Json, *, ok: bool, reason: str = "") -> dict[str, Json]:
    absent = actual is ABSENT
    return {
        "path": path,
        "expected": expected,
        "actual": None if absent else actual,
        "absent": absent,
        "reason": reason,
        "ok": ok,
    }


def mismatch_row(item: Mismatch) -> dict[str, Json]:
    actual = ABSENT if item.actual_absent else item.actual
    return _row(item.path, item.expected, actual, ok=False, reason=item.reason)


def in_words(mismatches: Iterable[Mismatch]) -> str:
    """`date: expected "2027-05-15", got "2027-05-14" (different text)`, joined for several places."""
    return "; ".join(_place_in_words(item) for item in mismatches)


def _place_in_words(item: Mismatch) -> str:
    where = item.path or "the value"
    if item.actual_absent:
        return f"{where}: expected {shown(item.expected)}, {item.reason}"
    return f"{where}: expected {shown(item.expected)}, got {shown(item.actual)} ({item.reason})"


def shown(value: Json, limit: int = 80) -> str:
    """A value in short words for a sentence: JSON, and matchers as what they mean."""
    text = matcher_words.in_words(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def listed(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    items = list(words)
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
