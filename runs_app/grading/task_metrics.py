"""Metrics of the task: what was done of what was expected. CRAWL's names and formulas."""

from __future__ import annotations

from runs_app.grading.case import Case
from runs_app.grading.tool_checks import prohibited_calls

Numbers = dict[str, float | None]


def task_metrics(case: Case) -> Numbers:
    turns = case.record.turns
    return {
        "tool_accuracy": tool_accuracy(case),
        "tool_calls": len(case.calls),
        "tool_calls_expected": len(case.wanted) if case.tools_judged else None,
        "delegation_accuracy": _delegation_accuracy(case),
        "delegations": case.delegations,
        "delegations_expected": _delegations_expected(case),
        "conversation_turns": sum(bool(t.caller_text.strip()) + bool(t.agent_text.strip() or t.agent) for t in turns),
        "conversation_turns_expected": 2 * len(turns),
    }


def tool_accuracy(case: Case) -> float | None:
    """0 after any prohibited call; null when the scenario says nothing about tools; 1 or 0 when no call was expected
    or none was made; else matching calls / the longer of both lists."""
    if prohibited_calls(case):
        return 0.0
    if not case.tools_judged:
        return None if not case.scenario.expected.tools.prohibited else 1.0
    expected, actual = len(case.wanted), len(case.calls)
    if not expected or not actual:
        return float(expected == actual)
    return round(min(matched(case), expected, actual) / max(expected, actual), 4)


def matched(case: Case) -> int:
    """Expected calls that were made in order, with the right arguments, and ran as far as they had to."""
    return sum(
        pair.kind == "in_order"
        and not pair.mismatches
        and case.fulfilled(case.wanted[pair.wanted], case.calls[pair.actual])
        for pair in case.alignment.pairs
    )


def _delegation_accuracy(case: Case) -> float | None:
    policy = case.scenario.expected.delegation
    return None if policy == "optional" else float((case.delegations > 0) == (policy == "required"))


def _delegations_expected(case: Case) -> int | None:
    return {"required": 1, "forbidden": 0, "optional": None}[case.scenario.expected.delegation]
