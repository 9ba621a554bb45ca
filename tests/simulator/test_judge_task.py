"""The simulated judge on task_understanding: what it tells apart."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.judge_cases import BOOK, FULL, NO_LUCK, REFUSAL, call, cancel, graded

# name: (arguments of graded, score, words of the rationale)
TASK: dict[str, tuple[dict[str, Any], float, str]] = {
    "all said, all done": (
        {"reply": FULL, "tools": (call(),), "required": BOOK},
        1,
        "names and does what was expected",
    ),
    "done without details": (
        {"reply": "Done, your table is booked.", "tools": (call(),), "required": BOOK},
        0.75,
        "does not say what the agent had right: 2 people, Maya, August 6, 2027, 7 p.m.",
    ),
    "August 7 for August 6": (
        {
            "reply": "Your table for two is booked for Maya on August 7 at 7 p.m.",
            "tools": (call("2027-08-07"),),
        },
        0,
        "The reply says August 7, 2027 instead of August 6, 2027.",
    ),
    "August 7 in the tool alone": (
        {"reply": "Done, your table is booked.", "tools": (call("2027-08-07"),)},
        0,
        "The tool was called with August 7, 2027 instead of August 6, 2027.",
    ),
    "August 7 in the words alone": (
        {"reply": "Your table is booked for August 7 at 7 p.m.", "tools": (call(),)},
        0,
        "The reply says August 7, 2027 instead of August 6, 2027.",
    ),
    "the reply corrects itself": (
        {"reply": FULL.replace("Friday, August 6", "August 7, sorry, August 6"), "tools": (call(),)},
        1,
        "",
    ),
    "another time": (
        {"reply": FULL.replace("7 p.m.", "8 p.m."), "tools": (call(),)},
        0,
        "8 p.m. instead of 7 p.m.",
    ),
    "another number": (
        {"reply": FULL.replace("table for two", "table for four"), "tools": (call(),)},
        0,
        "says 4 people instead of 2 people",
    ),
    "another name": (
        {"reply": FULL.replace("Maya", "Leo"), "tools": (call(),)},
        0,
        "says Leo instead of Maya",
    ),
    "success without a tool": (
        {"reply": FULL, "required": BOOK},
        0,
        'claims "booked", but no tool call did it',
    ),
    "success after a check alone": (
        {
            "reply": FULL,
            "tools": (call(name="check_availability"),),
            "required": ("check_availability", *BOOK),
        },
        0,
        "no tool call did it",
    ),
    "success after a failure": (
        {"reply": FULL, "tools": (call(status="failed"),), "required": BOOK},
        0,
        'claims "booked", but create_reservation failed',
    ),
    "success whose tools the evidence does not show": ({"reply": FULL, "tools": None}, 1, ""),
    "no confirmation": (
        {"reply": "For Maya, August 6 at 7 p.m., for two. Goodbye.", "tools": (call(),)},
        0.5,
        "lacks the confirmation",
    ),
    "nothing understood": ({"reply": "Sorry, I did not catch that."}, 0.25, "did not understand the caller"),
    "nothing said": ({"reply": " "}, 0, "The agent said nothing."),
    "refused for no reason": ({"reply": "I'm sorry, I cannot do that."}, 0.25, "says no where it should not"),
    "refused rightly": (
        {"reply": "I can't tell you that.", "expected": REFUSAL, "request": "When does Leo come?"},
        1,
        "",
    ),
    "refused politely": (
        {
            "reply": "I can only share that with the guest.",
            "expected": REFUSAL,
            "request": "When does Leo come?",
        },
        1,
        "",
    ),
    "refused without repeating whose": (
        {
            "reply": "I am sorry, I cannot do that for somebody else.",
            "expected": "Declines to cancel R-207, which is not the caller's own.",
            "request": "Please cancel reservation R-207. It belongs to my neighbour.",
        },
        0.75,
        "does not say what the agent had right: R-207",
    ),
    "not refused": (
        {"reply": "Leo comes at 7 p.m.", "expected": REFUSAL, "request": "When does Leo come?"},
        0.5,
        "does not say no, though it should",
    ),
    "not refused, against a criterion": (
        {
            "reply": "Leo comes at 7 p.m.",
            "expected": REFUSAL,
            "criteria": ("Does not say 7 p.m.",),
            "request": "When does Leo come?",
        },
        0,
        "The reply says 7 p.m., against: Does not say 7 p.m.",
    ),
    "done where it should refuse": (
        {
            "reply": "Leo's reservation R-100 is cancelled.",
            "expected": REFUSAL,
            "request": "Cancel Leo's table.",
            "tools": (cancel("R-100"),),
        },
        0,
        'claims "cancelled" where it should say no',
    ),
    "asked what was missing": (
        {
            "reply": "For which date?",
            "expected": "The agent asks for the date.",
            "request": "Book a table for two.",
        },
        1,
        "",
    ),
    "did not ask": (
        {"reply": "Okay.", "expected": "The agent asks for the date.", "request": "Book a table for two."},
        0.5,
        "asks nothing, though it should",
    ),
    "acted where it should ask": (
        {
            "reply": "Done, your table is booked.",
            "expected": "The agent asks for the date.",
            "criteria": ("Does not book anything before the date is known.",),
            "request": "Book a table for two.",
            "tools": (call("unknown"),),
        },
        0,
        'claims "done", against: Does not book anything',
    ),
    "opening hours": (
        {
            "reply": "We open at 5 p.m. and close at 11 p.m.",
            "expected": "Open from 5 to 11 p.m.",
            "request": "When?",
        },
        1,
        "",
    ),
    "wrong opening hours": (
        {
            "reply": "We open at 5 p.m. and close at 10 p.m.",
            "expected": "Open from 5 to 11 p.m.",
            "request": "When?",
        },
        0,
        "10 p.m. instead of 11 p.m.",
    ),
    "yes in other words": (
        {
            "reply": "Yes, we have several vegetarian dishes.",
            "expected": "There are vegetarian dishes.",
            "request": "?",
        },
        1,
        "",
    ),
    "no instead of yes": (
        {
            "reply": "We do not have vegetarian dishes.",
            "expected": "There are vegetarian dishes.",
            "request": "?",
        },
        0,
        "says no where it should not",
    ),
    "beside the point": (
        {"reply": "Our chef comes from Lyon.", "expected": "There are vegetarian dishes.", "request": "?"},
        0.5,
        "almost no word in common",
    ),
    "a failure owned up to": (
        {
            "reply": "I'm sorry, the booking system is down, so I could not book it.",
            "expected": NO_LUCK,
            "tools": (call(status="failed"),),
        },
        1,
        "",
    ),
    "a failure sold as success": (
        {"reply": "All set, see you then.", "expected": NO_LUCK, "tools": (call(status="failed"),)},
        0,
        'claims "done", but create_reservation failed',
    ),
    "not available": (
        {
            "reply": "There is no table on August 6. Would August 8 suit you?",
            "expected": "No table is free on August 6.",
        },
        1,
        "",
    ),
    "one of two": (
        {
            "reply": "I can offer you 6 p.m.",
            "expected": "Offers 6 p.m. or 8 p.m.",
            "request": "?",
            "tools": (),
        },
        1,
        "",
    ),
    "the right id": (
        {
            "reply": "Reservation R-100 is cancelled.",
            "expected": "Reservation R-100 is cancelled.",
            "request": "Cancel reservation R-100.",
            "tools": (cancel("R-100"),),
        },
        1,
        "",
    ),
    "another id": (
        {
            "reply": "Reservation R-200 is cancelled.",
            "expected": "Reservation R-100 is cancelled.",
            "request": "Cancel reservation R-100.",
            "tools": (cancel("R-200"),),
        },
        0,
        "R-200 instead of R-100",
    ),
}


@pytest.mark.parametrize("name", TASK)
def test_task_understanding(name: str) -> None:
    given, score, words = TASK[name]
    verdict = graded(**given)
    assert (verdict.score, verdict.passed) == (score, score >= 0.75), verdict.rationale
    assert words in verdict.rationale


@pytest.mark.parametrize("name", TASK)
def test_the_same_evidence_has_the_same_verdict_on_the_scale(name: str) -> None:
    first, second = graded(**TASK[name][0]), graded(**TASK[name][0])
    assert first == second
    assert first.score in (0, 0.25, 0.5, 0.75, 1)
