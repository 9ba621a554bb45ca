"""Details of a reply against what was expected: said, said wrongly, left out, or kept though it was taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from runs_app.simulator.entities import Mention, corrections, entities
from runs_app.simulator.judge_compare import NUMERIC, Demand, in_words, mentions_of, same
from runs_app.simulator.judge_evidence import Evidence, Execution

# What a finding costs: "wrong" ends at 0, "unmet" at 0.5 (two of them 0.25), "slip" at 0.75.
Weight = Literal["wrong", "unmet", "slip", "note"]

READS_ONLY = re.compile(r"^(?:check|get|find|list|search|look|read|query|fetch|show|track|verify)", re.IGNORECASE)


@dataclass(frozen=True)
class Finding:
    """One thing that counts against the reply (or, as a note, that could not be compared)."""

    weight: Weight
    text: str


def details(demand: Demand, evidence: Evidence) -> Iterator[Finding]:
    said = _said(evidence)
    allowed = [each for group in demand.wanted for each in group]
    for each in demand.forbidden:
        if any(same(each, other) for other in said) and not any(same(each, other) for other in allowed):
            yield Finding("wrong", f"The reply says {in_words(each)}, against: {demand.sentence}")
    understood = _understood(demand, evidence)
    for group in demand.wanted:
        other = _other(group, allowed, in_calls(evidence))
        if other is not None:
            yield Finding("wrong", f"The tool was called with {in_words(other)} instead of {_either(group)}")
        yield from _in_reply(group, _other(group, allowed, said), said, understood)
    unsaid = [group for group in demand.wanted if _has(group, understood) and not _has(group, said)]
    unsaid = [group for group in unsaid if _other(group, allowed, said) is None]
    if unsaid:
        listed = ", ".join(dict.fromkeys(_either(group) for group in unsaid))
        yield Finding("slip", f"The reply does not say what the agent had right: {listed}")


def _understood(demand: Demand, evidence: Evidence) -> list[Mention]:
    """What the agent need not say aloud: what it put into a call, and the caller's words when it asks or says no."""
    calls = [each for call in evidence.tools or () for each in mentions_of(call, evidence.reference_date)]
    if demand.denies or demand.asks:
        calls += entities(evidence.request, reference_date=evidence.reference_date)
    return calls


def _in_reply(
    group: tuple[Mention, ...], other: Mention | None, said: list[Mention], understood: list[Mention]
) -> Iterator[Finding]:
    """One expected detail against the reply; `other` is what stands there in its place."""
    if _has(group, said):
        return
    if other is not None:
        yield Finding("wrong", f"The reply says {in_words(other)} instead of {_either(group)}")
    elif not _has(group, understood):
        yield Finding("unmet", f"The reply leaves out {_either(group)}")


def _either(group: tuple[Mention, ...]) -> str:
    return " or ".join(dict.fromkeys(in_words(each) for each in group))


def _has(group: tuple[Mention, ...], found: list[Mention]) -> bool:
    return any(same(each, other) for each in group for other in found)


def _other(group: tuple[Mention, ...], allowed: list[Mention], found: list[Mention]) -> Mention | None:
    """A rival of the expected detail: of its kind, not expected anywhere, while the expected one is absent."""
    if _has(group, found):
        return None
    kind, unit = group[0].kind, group[0].unit
    rivals = (
        each for each in found if each.kind == kind and (kind not in NUMERIC or each.unit == unit or not each.unit)
    )
    return next((each for each in rivals if not any(same(each, other) for other in allowed)), None)


def _said(evidence: Evidence) -> list[Mention]:
    """What the reply asserts; when it corrects itself, what it ends with."""
    named = entities(evidence.response, reference_date=evidence.reference_date)
    revoked = [each.first for each in corrections(evidence.response, reference_date=evidence.reference_date)]
    return [each for each in named if not each.negated and each not in revoked]


def acting(evidence: Evidence) -> list[Execution]:
    return [call for call in evidence.tools or () if call.completed and not READS_ONLY.match(call.name)]


def taken_back(evidence: Evidence) -> Iterator[Finding]:
    """Whether the reply or a call uses a value that the caller had corrected."""
    used = [
        *_said(evidence),
        *(each for call in acting(evidence) for each in mentions_of(call, evidence.reference_date)),
    ]
    for each in corrections(evidence.request, reference_date=evidence.reference_date):
        if any(same(each.first, other) for other in used) and not any(same(each.last, other) for other in used):
            yield Finding(
                "wrong",
                f"The caller corrected {in_words(each.first)} to {in_words(each.last)}; the agent kept the first.",
            )


def in_calls(evidence: Evidence) -> list[Mention]:
    """What the arguments of the calls that changed something name."""
    return [each for call in acting(evidence) for each in mentions_of(call, evidence.reference_date)]
