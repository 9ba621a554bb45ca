"""Checks about the application's state after the conversation."""

from __future__ import annotations

from typing import Any, Final

from runs_app.grading.case import Case, call_row, call_spans
from runs_app.grading.check import Check, comparison_rows, counted, in_words, not_applicable, verdict
from runs_app.grading.matching import match
from runs_app.grading.plain_values import ABSENT, identical

Json = Any

UNCHANGED: Final = {"unchanged": True}


def final_state(case: Case) -> Check:
    return _state(case, "final_state", required=False)


def application_state(case: Case) -> Check:
    return _state(case, "application_state", required=True)


def _state(case: Case, id: str, *, required: bool) -> Check:
    expected, final = case.scenario.expected.state, case.record.final_state
    if not expected:
        return not_applicable(id, "the scenario expects nothing of the state")
    if identical(expected, UNCHANGED):
        rows = changed_rows(case.record.initial_state, final)
        slips = "; ".join(f"{row['path']} changed" for row in rows)
    else:
        rows = comparison_rows(expected, final)
        slips = in_words(match(expected, final))
    return verdict(
        id,
        not slips,
        required=required,
        reason=slips or ("the state is unchanged" if expected == UNCHANGED else "the state is as expected"),
        rows=rows,
        spans_ms=call_spans(call for call in case.calls if call.status == "completed"),
    )


def changed_rows(initial: dict[str, Json], final: dict[str, Json]) -> list[dict[str, Json]]:
    """One row per top-level key whose value differs, in the order of the keys' first appearance."""
    rows = []
    for key in dict.fromkeys((*initial, *final)):
        before, after = initial.get(key, ABSENT), final.get(key, ABSENT)
        if before is not ABSENT and after is not ABSENT and identical(before, after):
            continue
        reason = "added" if before is ABSENT else "removed" if after is ABSENT else "changed"
        rows.append(
            {
                "path": key,
                "expected": None if before is ABSENT else before,
                "actual": None if after is ABSENT else after,
                "absent": after is ABSENT,
                "reason": reason,
                "ok": False,
            }
        )
    return rows


def verified_state_change(case: Case) -> Check:
    """A state that changed must have been changed by a tool that completed."""
    rows = changed_rows(case.record.initial_state, case.record.final_state)
    if not rows:
        return not_applicable("verified_state_change", "the state did not change")
    completed = [call for call in case.calls if call.status == "completed"]
    return verdict(
        "verified_state_change",
        bool(completed),
        required=True,
        reason=f"the state changed after {counted(len(completed), 'completed call')}",
        changed=[row["path"] for row in rows],
        calls=[call_row(call) for call in completed],
        spans_ms=call_spans(completed),
    )
