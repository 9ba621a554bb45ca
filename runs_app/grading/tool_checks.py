"""Checks about the agent's function calls: which, with what, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runs_app.grading.alignment import Pair
from runs_app.grading.case import Case, call_row, call_spans
from runs_app.grading.check import (
    Check,
    comparison_rows,
    counted,
    in_words,
    listed,
    mismatch_row,
    not_applicable,
    verdict,
)
from runs_app.grading.matching import matches
from runs_app.realtime.record import ToolCall
from scenarios_app.spec.scenario import ExpectedCall

Json = Any

_NO_WORD = "the scenario says nothing about which tools to call"


def delegation_decision(case: Case) -> Check:
    return _delegation(case, "delegation_decision", required=False)


def delegation_policy(case: Case) -> Check:
    return _delegation(case, "delegation_policy", required=True)


def _delegation(case: Case, id: str, *, required: bool) -> Check:
    policy, count = case.scenario.expected.delegation, case.delegations
    evidence = {"expected": policy, "observed": count > 0, "count": count, "spans_ms": call_spans(case.calls)}
    if policy == "optional":
        return not_applicable(id, "delegation is left to the agent", **evidence)
    handed = f"handed on {counted(count, 'task')}" if case.hands_on else f"delegated in {counted(count, 'response')}"
    nothing = "handed nothing on" if case.hands_on else "called no function"
    seen = f"the agent {handed if count else nothing}"
    ok = (count > 0) == (policy == "required")
    return verdict(id, ok, required=required, reason=f"delegation is {policy}, and {seen}", **evidence)


def tool_selection(case: Case) -> Check:
    if not case.tools_judged:
        return not_applicable("tool_selection", _NO_WORD, calls=[call_row(call) for call in case.calls])
    slips = list(selection_slips(case))
    names = listed(want.name for want in case.wanted)
    clean = f"called {names}, as expected" if case.wanted else "no tool was called, as expected"
    return verdict(
        "tool_selection",
        not slips,
        required=False,
        reason="; ".join(slips) or clean,
        **_selection_evidence(case),
    )


def selection_slips(case: Case) -> Iterator[str]:
    """Each slip once: wrong, out of order, missing, repeated, not expected."""
    for pair in case.alignment.pairs:
        wanted, call = case.wanted[pair.wanted], case.calls[pair.actual]
        if pair.kind == "wrong_tool":
            yield f"called {call.name} where {wanted.name} was expected"
        elif pair.kind == "out_of_order":
            yield f"{wanted.name} was called out of order"
    for index in case.alignment.missing:
        yield f"{case.wanted[index].name} was not called"
    for index in case.alignment.duplicates:
        yield f"{case.calls[index].name} was called again with the same arguments"
    for index in case.alignment.extra:
        yield f"{case.calls[index].name} was called and not expected"


def _selection_evidence(case: Case) -> dict[str, Json]:
    alignment = case.alignment
    places: dict[int, str] = {pair.actual: pair.kind for pair in alignment.pairs}
    places |= dict.fromkeys(alignment.duplicates, "duplicate") | dict.fromkeys(alignment.extra, "extra")
    partner = {pair.actual: pair.wanted for pair in alignment.pairs}
    unexpected = sorted((*alignment.duplicates, *alignment.extra))
    return {
        "expected": [{"name": w.name, "arguments": w.arguments, "status": w.status} for w in case.wanted],
        "calls": [
            {**call_row(call), "place": places[index], "expected_index": partner.get(index)}
            for index, call in enumerate(case.calls)
        ],
        "missing": [case.wanted[index].name for index in alignment.missing],
        "unexpected": [call_row(case.calls[index]) for index in unexpected],
        "spans_ms": call_spans(case.calls),
    }


def parameter_accuracy(case: Case) -> Check:
    pairs = [pair for pair in case.alignment.pairs if pair.same_tool]
    if not pairs:
        return not_applicable("parameter_accuracy", "no expected tool was called" if case.wanted else _NO_WORD)
    slips = [argument_slip(case, pair) for pair in pairs if pair.mismatches]
    return verdict(
        "parameter_accuracy",
        not slips,
        required=False,
        reason="; ".join(slips) or f"the arguments of {counted(len(pairs), 'call')} are as expected",
        calls=[_pair_rows(case, pair) for pair in pairs],
        spans_ms=call_spans(case.calls[pair.actual] for pair in pairs),
    )


def argument_slip(case: Case, pair: Pair) -> str:
    return f"{case.wanted[pair.wanted].name}: {in_words(pair.mismatches)}"


def _pair_rows(case: Case, pair: Pair) -> dict[str, Json]:
    wanted, call = case.wanted[pair.wanted], case.calls[pair.actual]
    readable = call.arguments is not None
    rows = comparison_rows(wanted.arguments, call.arguments or {}) if readable else []
    return {
        **call_row(call),
        "expected_index": pair.wanted,
        "rows": rows or [mismatch_row(item) for item in pair.mismatches],
        "raw": None if readable else call.arguments_raw,
    }


def tool_execution(case: Case) -> Check:
    pairs = [pair for pair in case.alignment.pairs if pair.same_tool]
    if not pairs:
        return not_applicable("tool_execution", "no expected tool was called" if case.wanted else _NO_WORD)
    slips = [execution_slip(case, pair) for pair in pairs if not _ran(case, pair)]
    return verdict(
        "tool_execution",
        not slips,
        required=False,
        reason="; ".join(slips) or f"{counted(len(pairs), 'expected call')} ran as far as it had to",
        calls=[call_row(case.calls[pair.actual]) for pair in pairs],
        spans_ms=call_spans(case.calls[pair.actual] for pair in pairs),
    )


def _ran(case: Case, pair: Pair) -> bool:
    return case.fulfilled(case.wanted[pair.wanted], case.calls[pair.actual])


def execution_slip(case: Case, pair: Pair) -> str:
    call = case.calls[pair.actual]
    if call.status == "recorded":
        return f"{call.name} was called, and nobody answered it"
    return f"{call.name} failed: {call.error or call.parse_error or 'no reason given'}"


def tool_contract(case: Case) -> Check:
    """Names, arguments, order and execution together: the one required check about tools."""
    if not case.tools_judged:
        return not_applicable("tool_contract", _NO_WORD)
    pairs = [pair for pair in case.alignment.pairs if pair.same_tool]
    slips = list(selection_slips(case))
    slips += [argument_slip(case, pair) for pair in pairs if pair.mismatches]
    # Arguments that nobody could read are told above; that such a call then failed is the same slip.
    slips += [
        execution_slip(case, pair)
        for pair in pairs
        if not _ran(case, pair) and case.calls[pair.actual].arguments is not None
    ]
    matched = sum(pair.kind == "in_order" and not pair.mismatches and _ran(case, pair) for pair in pairs)
    return verdict(
        "tool_contract",
        not slips,
        required=True,
        reason="; ".join(slips) or "the expected calls, and no others, ran in order",
        expected=len(case.wanted),
        matched=matched,
        actual=len(case.calls),
        spans_ms=call_spans(case.calls),
    )


def authorized_actions(case: Case) -> Check:
    """A prohibited call counts when it was attempted, whatever came of it."""
    prohibited = case.scenario.expected.tools.prohibited
    if not prohibited:
        return not_applicable("authorized_actions", "no tool is prohibited")
    attempted = prohibited_calls(case)
    return verdict(
        "authorized_actions",
        not attempted,
        required=True,
        reason=_attempts(attempted) or "no prohibited tool was called",
        prohibited=[{"name": call.name, "arguments": call.arguments} for call in prohibited],
        calls=[call_row(call) for call in attempted],
        spans_ms=call_spans(attempted),
    )


def prohibited_calls(case: Case) -> list[ToolCall]:
    prohibited = case.scenario.expected.tools.prohibited
    return [call for call in case.calls if any(_is(call, ban) for ban in prohibited)]


def _is(call: ToolCall, ban: ExpectedCall) -> bool:
    return call.name == ban.name and (not ban.arguments or matches(ban.arguments, call.arguments))


def _attempts(calls: list[ToolCall]) -> str:
    return "; ".join(f"{call.name} is prohibited and was called ({call.status})" for call in calls)
