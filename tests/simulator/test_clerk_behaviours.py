"""Five behaviours x their wordings, on and forbidden: each changes what the clerk does, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runs_app.simulator.clerk import THOUGHT_MS, Call, Decision
from tests.simulator.desks import answered, ask, only_call, only_words
from tests.simulator.wording_table import ASKED, FORBIDDEN, cells

CORRECTED = "Book a table for Maya on June 12, sorry, June 13, at 7 p.m. for two."
PLAIN = "Book a table for Maya on June 12 at 7 p.m. for two."
WITHOUT_NAME = "Book a table on June 12 at 7 p.m. for two."
BOOKED = {"guest_name": "Maya", "date": "2027-06-12", "time": "19:00", "party_size": 2}


def takes_corrected_value(instructions: str) -> bool:
    date = only_call(ask(CORRECTED, instructions)).arguments["date"]
    assert date in ("2027-06-12", "2027-06-13")
    return date == "2027-06-13"


def checks_first(instructions: str) -> bool:
    name = only_call(ask(PLAIN, instructions)).name
    assert name in ("check_availability", "create_reservation")
    return name == "check_availability"


def reads_back(instructions: str) -> bool:
    after = answered("create_reservation", {"reservation_id": "R-301"}, BOOKED)
    if checks_first(instructions):
        after = answered("check_availability", {"available": True}, BOOKED, "call_0") + after
    words = only_words(ask(PLAIN, instructions, after=after))
    assert "R-301" in words
    return all(detail in words for detail in ("Maya", "June 12", "7 p.m.", "2 people"))


def refuses_strangers(instructions: str) -> bool:
    (output,) = ask("Please cancel reservation R-200.", instructions, state={"verified": False}).outputs
    if isinstance(output, Call):
        assert (output.name, output.arguments) == ("cancel_reservation", {"reservation_id": "R-200"})
        return False
    assert "R-200" in output.text
    return True


def asks_for_missing(instructions: str) -> bool:
    (output,) = ask(WITHOUT_NAME, instructions).outputs
    if isinstance(output, Call):
        assert output.arguments.get("guest_name", "unknown") == "unknown"
        return False
    assert "guest name" in output.text
    assert output.text.endswith("?")
    return True


DOES: dict[str, Callable[[str], bool]] = {
    "corrected_value": takes_corrected_value,
    "check_first": checks_first,
    "read_back": reads_back,
    "refuse_strangers": refuses_strangers,
    "ask_missing": asks_for_missing,
}


def thinks_ms(instructions: str) -> float:
    decision: Decision = ask(PLAIN, instructions)
    return decision.extra_ms


@pytest.mark.parametrize("behaviour", DOES)
def test_without_instructions_the_clerk_does_none_of_it(behaviour: str) -> None:
    assert not DOES[behaviour]("You are the front desk.")
    assert thinks_ms("You are the front desk.") == 0


@pytest.mark.parametrize(("behaviour", "sentence"), cells(ASKED))
def test_each_wording_changes_what_the_clerk_does_and_how_long_it_takes(behaviour: str, sentence: str) -> None:
    assert DOES[behaviour](sentence)
    assert thinks_ms(sentence) == THOUGHT_MS[behaviour] > 0


@pytest.mark.parametrize(("behaviour", "sentence"), cells(FORBIDDEN))
def test_a_forbidden_behaviour_is_not_done_though_another_sentence_asks_for_it(behaviour: str, sentence: str) -> None:
    instructions = f"{ASKED[behaviour][0]}\n{sentence}"
    assert not DOES[behaviour](instructions)
    assert thinks_ms(instructions) == 0


@pytest.mark.parametrize("removed", DOES)
def test_removing_one_line_loses_exactly_its_behaviour(removed: str) -> None:
    instructions = "\n".join(sentences[0] for name, sentences in ASKED.items() if name != removed)
    assert {name for name, does in DOES.items() if not does(instructions)} == {removed}


def test_a_slip_forgets_all_of_it() -> None:
    every = "\n".join(sentences[0] for sentences in ASKED.values())
    assert only_call(ask(CORRECTED, every, forgetful=True)).arguments["date"] == "2027-06-12"
