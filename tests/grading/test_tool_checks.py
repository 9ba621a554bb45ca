"""Deterministic checks about calls, state and delegation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs_app.grading import state_checks, task_metrics, tool_checks
from runs_app.grading.case import Case
from runs_app.realtime.record import Delegation, Record, ToolCall
from tests.grading.builders import BOOKING, call, case, expecting, record, scenario, unreadable_call

ALL = (
    tool_checks.tool_selection,
    tool_checks.parameter_accuracy,
    tool_checks.tool_execution,
    tool_checks.tool_contract,
)


def statuses(the_case: Case) -> list[str]:
    return [check(the_case).status for check in ALL]


def booking(*calls: ToolCall, **changes: Any) -> Case:
    return case(scenario(), record(*calls, **changes))


def two_tools(*calls: ToolCall) -> Case:
    required = [{"name": "check_availability", "arguments": {"date": "2027-05-15"}}, {"name": "create_reservation"}]
    return case(expecting(answer="Booked.", tools={"required": required}), record(*calls))


CHECK = call("check_availability", {"date": "2027-05-15"}, called_ms=1_200.0, answered_ms=1_300.0)


def test_the_expected_call_passes_all_four() -> None:
    assert statuses(booking(call())) == ["passed"] * 4


@pytest.mark.case("B03")
def test_an_extra_call_fails_selection_only_and_is_listed() -> None:
    """B03: two identical calls expected once."""
    the_case = booking(call(call_id="a"), call(call_id="b"))
    assert statuses(the_case) == ["failed", "passed", "passed", "failed"]
    selection = tool_checks.tool_selection(the_case)
    assert [row["call_id"] for row in selection.evidence["unexpected"]] == ["b"]
    assert selection.reason == "create_reservation was called again with the same arguments"
    assert task_metrics.task_metrics(the_case)["tool_calls"] == 2
    assert task_metrics.tool_accuracy(the_case) == 0.5


def test_a_missing_call_fails_selection_only() -> None:
    assert statuses(two_tools(call())) == ["failed", "passed", "passed", "failed"]
    assert tool_checks.tool_selection(two_tools(call())).reason == "check_availability was not called"


def test_calls_out_of_order_fail_selection_only() -> None:
    the_case = two_tools(call(called_ms=1_000.0), CHECK)
    assert statuses(the_case) == ["failed", "passed", "passed", "failed"]
    assert tool_checks.tool_selection(the_case).reason == "check_availability was called out of order"


def test_a_wrong_argument_fails_accuracy_and_not_selection() -> None:
    the_case = booking(call(arguments=BOOKING | {"date": "2027-05-14"}))
    assert statuses(the_case) == ["passed", "failed", "passed", "failed"]
    slip = tool_checks.parameter_accuracy(the_case)
    assert slip.reason == ('create_reservation: date: expected "2027-05-15", got "2027-05-14" (different text)')
    rows = {row["path"]: row["ok"] for row in slip.evidence["calls"][0]["rows"]}
    assert rows == {"guest_name": True, "date": False, "time": True, "party_size": True}


def test_spare_arguments_are_free() -> None:
    assert statuses(booking(call(arguments=BOOKING | {"seating": "patio"})))[1] == "passed"


def test_a_failed_call_fails_execution_unless_any_status_will_do() -> None:
    failed = call(status="failed", error="the kitchen is closed")
    assert statuses(booking(failed)) == ["passed", "passed", "failed", "failed"]
    assert tool_checks.tool_execution(booking(failed)).reason == "create_reservation failed: the kitchen is closed"
    tools = {"required": [{"name": "create_reservation", "status": "any"}]}
    assert statuses(case(expecting(answer="Sorry.", tools=tools), record(failed))) == ["passed"] * 4


def test_a_call_that_nobody_answered_did_not_run() -> None:
    unanswered = call(status="recorded", answered_ms=None)
    assert tool_checks.tool_execution(booking(unanswered)).reason == (
        "create_reservation was called, and nobody answered it"
    )


def test_unreadable_arguments_fail_accuracy_and_execution_and_keep_the_raw_text() -> None:
    the_case = booking(unreadable_call('{"guest_name": "Nora"'))
    assert statuses(the_case) == ["passed", "failed", "failed", "failed"]
    assert tool_checks.parameter_accuracy(the_case).evidence["calls"][0]["raw"] == '{"guest_name": "Nora"'
    # One slip is told once.
    assert tool_checks.tool_contract(the_case).reason.count("create_reservation") == 1


def test_the_call_that_ends_the_session_is_no_business_action() -> None:
    goodbye = call("end_session", {}, status="recorded", answered_ms=None)
    assert statuses(booking(call(), goodbye)) == ["passed"] * 4
    other = case(scenario(), record(call(), goodbye), done_tool="hang_up")
    assert tool_checks.tool_selection(other).failed
    tools = {"required": [{"name": "end_session"}]}
    assert statuses(case(expecting(answer="Goodbye.", tools=tools), record(goodbye))) == ["passed"] * 4


def test_the_same_call_id_counts_once() -> None:
    assert statuses(booking(call(call_id="a"), call(call_id="a"))) == ["passed"] * 4


def test_nothing_is_said_about_tools_where_nothing_is_expected() -> None:
    the_case = case(expecting(answer="Eleven o'clock."), record(call()))
    assert statuses(the_case) == ["not_applicable"] * 4
    assert task_metrics.tool_accuracy(the_case) is None


def test_forbidden_delegation_means_no_call() -> None:
    quiet = expecting(answer="Eleven o'clock.", delegation="forbidden")
    assert [c.status for c in (tool_checks.tool_selection(case(quiet, record())),)] == ["passed"]
    loud = case(quiet, record(call()))
    assert tool_checks.tool_selection(loud).failed
    assert tool_checks.delegation_decision(loud).failed
    assert (task_metrics.tool_accuracy(case(quiet, record())), task_metrics.tool_accuracy(loud)) == (1.0, 0.0)


def test_a_delegation_is_a_response_that_called_a_function() -> None:
    calls = (
        call(call_id="a", response_id="r1"),
        call(call_id="b", response_id="r1"),
        call(call_id="c", response_id="r2"),
    )
    decision = tool_checks.delegation_decision(booking(*calls))
    assert (decision.status, decision.evidence["count"]) == ("passed", 2)
    assert tool_checks.delegation_decision(booking()).failed


def test_a_live_agent_delegates_tasks_whether_they_call_or_not() -> None:
    asked = (Delegation("dlg_1", "responses", 0, 700.0, 2_000.0, "completed", 0),)
    live = booking(protocol="live", dialect="live", delegations=asked)
    assert tool_checks.delegation_decision(live).evidence["count"] == 1
    assert task_metrics.task_metrics(live)["delegations"] == 1
    forbidden = case(expecting(answer="At eleven.", delegation="forbidden"), live.record)
    assert tool_checks.delegation_decision(forbidden).failed
    none = booking(call(), protocol="live", dialect="live")
    assert task_metrics.task_metrics(none)["delegations"] == 0
    assert Record.from_json(json.loads(json.dumps(live.record.to_json()))) == live.record


def test_optional_delegation_is_no_automatic_success() -> None:
    free = case(expecting(answer="Eleven o'clock."), record())
    assert tool_checks.delegation_decision(free).status == "not_applicable"
    assert task_metrics.task_metrics(free)["delegation_accuracy"] is None


@pytest.mark.parametrize("status", ["completed", "failed", "recorded"])
def test_a_prohibited_tool_counts_when_it_is_attempted(status: Any) -> None:
    strict = expecting(answer="No.", tools={"prohibited": [{"name": "cancel_reservation"}]})
    the_case = case(strict, record(call("cancel_reservation", {"id": "R-200"}, status=status)))
    check = tool_checks.authorized_actions(the_case)
    assert (check.status, check.required) == ("failed", True)
    assert task_metrics.tool_accuracy(the_case) == 0.0


def test_a_prohibition_may_name_arguments() -> None:
    strict = expecting(
        answer="No.", tools={"prohibited": [{"name": "cancel_reservation", "arguments": {"id": "R-200"}}]}
    )
    own = call("cancel_reservation", {"id": "R-100"})
    other = call("cancel_reservation", {"id": "R-200"}, status="failed")
    assert tool_checks.authorized_actions(case(strict, record(own))).status == "passed"
    assert tool_checks.authorized_actions(case(strict, record(own, other))).failed


def test_state_is_compared_key_by_key() -> None:
    expected = expecting(answer="Booked.", state={"reservation": {"date": "2027-05-15", "size": 3}})
    final = {"reservation": {"date": "2027-05-15", "size": 4}, "other": 1}
    check = state_checks.final_state(case(expected, record(final_state=final)))
    assert check.reason == "reservation.size: expected 3, got 4 (different number)"
    assert [row["ok"] for row in check.evidence["rows"]] == [False]


def test_unchanged_means_exactly_unchanged() -> None:
    still = expecting(answer="No.", state={"unchanged": True})
    same = case(still, record(initial_state={"a": [1, 2]}, final_state={"a": [1, 2]}))
    more = case(still, record(initial_state={"a": 1}, final_state={"a": 1, "b": 2}))
    assert state_checks.final_state(same).status == "passed"
    assert state_checks.application_state(more).reason == "b changed"
    assert state_checks.application_state(more).required


def test_an_empty_expected_state_is_not_checked() -> None:
    check = state_checks.final_state(case(expecting(answer="No."), record(final_state={"a": 1})))
    assert check.status == "not_applicable"


def test_a_changed_state_needs_a_completed_tool() -> None:
    changed = {"initial_state": {}, "final_state": {"a": 1}}
    assert state_checks.verified_state_change(booking(call(), **changed)).status == "passed"
    assert state_checks.verified_state_change(booking(call(status="failed"), **changed)).failed
    assert state_checks.verified_state_change(booking(final_state={})).status == "not_applicable"


@pytest.mark.parametrize(
    ("made", "share"),
    [
        ((), 0.0),
        ((CHECK,), 0.5),
        ((CHECK, call()), 1.0),
        ((CHECK, call(), call("weather", {})), 0.6667),
        ((call("check_availability", {"date": "2027-05-14"}), call()), 0.5),
        ((CHECK, call(status="failed")), 0.5),
        ((call(), CHECK), 0.5),
    ],
)
def test_tool_accuracy_divides_by_the_longer_list(made: tuple[ToolCall, ...], share: float) -> None:
    assert task_metrics.tool_accuracy(two_tools(*made)) == share
