"""Of what kind a failure is, so that thirty-one failures can be told as four problems.

A kind is the check that decided, and what of it went wrong: the tool, the place in its arguments, and in what way the
value diverges. It names no scenario and no value: what fails alike in many scenarios is one problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from runs_app.grading.divergence import divergence
from scenarios_app.spec.jsontext import clean_text

Json = Any

LONGEST_PART: Final = 60  # characters of a part; beyond that two kinds are one
LONGEST_KEY: Final = 300
_APART: Final = ":"


@dataclass(frozen=True)
class FailureKind:
    """`check`: id of the deciding check, or the stage of an ending ("response_timeout"). Empty parts do not apply.

    `place`: path in the arguments or the state, a semantic dimension, or a metric.
    """

    check: str
    tool: str = ""
    place: str = ""
    divergence: str = ""

    @property
    def key(self) -> str:
        """Stored with the trial and used in addresses; `from_key` reads it back."""
        parts = (self.check, self.tool, self.place, self.divergence)
        return _APART.join(_escaped(_short(part)) for part in parts)[:LONGEST_KEY]

    @staticmethod
    def from_key(key: str) -> FailureKind:
        """Any text is the key of something; nothing is raised."""
        parts = [unquote(part) for part in key.split(_APART)]
        return FailureKind(*(parts + [""] * 4)[:4])

    @property
    def words(self) -> str:
        """As pages name it: `create_reservation date: one day early`."""
        where = " ".join(filter(None, (self.tool, self.place)))
        what = self.divergence or _SAID.get(self.check, "failed")
        return f"{where}: {what}" if where else what if self.check in _SAID or self.divergence else self.check


@dataclass(frozen=True)
class Verdict:
    """A check as it was stored, as much of it as a kind is made of."""

    id: str
    status: str
    required: bool
    evidence: Mapping[str, Json]


@dataclass(frozen=True)
class Score:
    """A semantic grade as it was stored."""

    dimension: str
    status: str
    score: float | None


# Checks and stages that say it all by themselves.
_SAID: Final = {
    "": "failed before kinds of failures were kept",
    "response_timeout": "no answer in time",
    "incomplete": "the answer was cut off",
    "conversation_completed": "the conversation did not end well",
    "assistant_responded": "the agent said nothing",
    "clarification_behavior": "did not ask back, or acted before it asked",
    "verified_state_change": "the state changed without a tool",
    "grounded_assistant_response": "the result was never told",
    "run_validity": "not a valid conversation",
    "tool_contract": "the calls are not as expected",
    "application_state": "the state is not as expected",
    "semantic_outcome": "the judge said no",
}


def failure_signature(stage: str, checks: Sequence[Verdict], grades: Sequence[Score]) -> FailureKind:
    """The kind of a trial that failed, from its stored evidence. `stage` is the outcome's, often empty."""
    if stage in ("response_timeout", "incomplete"):
        return FailureKind(stage)
    decisive = next((check for check in checks if check.required and check.status == "failed"), None)
    if decisive is None:
        return FailureKind("unknown", divergence="failed for no check that is stored")
    by_id = {check.id: check for check in checks}
    if decisive.id == "tool_contract":
        return next(_of_tools(by_id), FailureKind(decisive.id))
    return _of_check(decisive, grades)


def _of_check(check: Verdict, grades: Sequence[Score]) -> FailureKind:
    if check.id == "semantic_outcome":
        return FailureKind(check.id, place=_lowest(grades), divergence="the judge said no")
    if check.id == "authorized_actions":
        return FailureKind(check.id, tool=_first_name(check.evidence.get("calls")), divergence="called, and prohibited")
    if check.id == "delegation_policy":
        wanted = "required" if check.evidence.get("expected") == "required" else "forbidden"
        return FailureKind(check.id, divergence=f"delegation {wanted}, and {_observed(check)}")
    if check.id == "application_state":
        return _of_rows(check.id, "", check.evidence.get("rows")) or FailureKind(check.id)
    if check.id.startswith("assertion"):
        return _of_assertion(check)
    return FailureKind(check.id)


def _observed(check: Verdict) -> str:
    return "it did" if check.evidence.get("observed") else "it did not"


def _lowest(grades: Sequence[Score]) -> str:
    """The dimension with the lowest score among those that were judged; the first of equals."""
    judged = [(grade.score, n, grade.dimension) for n, grade in enumerate(grades) if grade.score is not None]
    return min(judged)[2] if judged else ""


def _of_assertion(check: Verdict) -> FailureKind:
    evidence = check.evidence
    if "metric" in evidence:
        way = "not measured" if evidence.get("value") is None else "beyond its limit"
        return FailureKind("assertion", place=str(evidence["metric"]), divergence=way)
    if "question" in evidence:
        return FailureKind("assertion", place=str(evidence["question"]), divergence="the judge said no")
    return FailureKind("assertion", tool=_first_name(evidence.get("calls")), divergence="called other than asserted")


def _of_tools(by_id: Mapping[str, Verdict]) -> Iterator[FailureKind]:
    """The slips behind tool_contract in the order in which its reason tells them; the diagnostic checks know which."""
    for id, slips in (
        ("tool_selection", _selection_slips),
        ("parameter_accuracy", _argument_slips),
        ("tool_execution", _execution_slips),
    ):
        check = by_id.get(id)
        if check is not None and check.status == "failed":
            yield from slips(check.evidence)


def _selection_slips(evidence: Mapping[str, Json]) -> Iterator[FailureKind]:
    calls = [call for call in evidence.get("calls") or [] if isinstance(call, dict)]
    named = {"wrong_tool": "called instead of another tool", "out_of_order": "called out of order"}
    for call in calls:
        if call.get("place") in named:
            yield FailureKind("tool_contract", tool=str(call.get("name")), divergence=named[call["place"]])
    for name in evidence.get("missing") or []:
        yield FailureKind("tool_contract", tool=str(name), divergence="not called")
    extra = {"duplicate": "called again with the same arguments", "extra": "called and not expected"}
    for call in calls:
        if call.get("place") in extra:
            yield FailureKind("tool_contract", tool=str(call.get("name")), divergence=extra[call["place"]])


def _argument_slips(evidence: Mapping[str, Json]) -> Iterator[FailureKind]:
    for call in evidence.get("calls") or []:
        tool = str(call.get("name"))
        if call.get("raw") is not None:
            yield FailureKind("tool_contract", tool=tool, divergence="arguments that cannot be read")
        found = _of_rows("tool_contract", tool, call.get("rows"))
        if found is not None:
            yield found


def _execution_slips(evidence: Mapping[str, Json]) -> Iterator[FailureKind]:
    for call in evidence.get("calls") or []:
        if call.get("status") != "completed":
            way = "called, and nobody answered it" if call.get("status") == "recorded" else "the call failed"
            yield FailureKind("tool_contract", tool=str(call.get("name")), divergence=way)


def _of_rows(check: str, tool: str, rows: Json) -> FailureKind | None:
    """Of rows as check.comparison_rows makes them, the first that is not ok."""
    for row in rows or []:
        if not row.get("ok"):
            way = _way(row)
            return FailureKind(check, tool=tool, place=_place(row.get("path")), divergence=way)
    return None


def _place(path: Json) -> str:
    """The entries of a list are one place."""
    return re.sub(r"\[\d+\]", "[]", str(path or ""))


def _way(row: Mapping[str, Json]) -> str:
    if row.get("reason") in ("added", "removed", "changed"):
        return f"{row['reason']}, and must not be"
    return divergence(
        row.get("expected"), row.get("actual"), absent=bool(row.get("absent")), reason=str(row.get("reason") or "")
    )


def _first_name(calls: Json) -> str:
    return str(calls[0].get("name", "")) if calls else ""


def _escaped(part: str) -> str:
    return part.replace("%", "%25").replace(_APART, "%3A")


def _short(text: str) -> str:
    return " ".join(clean_text(text).split())[:LONGEST_PART]
