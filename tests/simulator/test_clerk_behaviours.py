"""Ten behaviours x their wordings, on and forbidden: each changes what the clerk does, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import pytest

from runs_app.simulator.clerk import THOUGHT_MS, Call, Decision, Say
from runs_app.simulator.instructions import Policy
from runs_app.simulator.lines import Said
from runs_app.simulator.understood import LABELS
from tests.simulator.desks import RESTAURANT, answered, ask, only_call, only_words, tool
from tests.simulator.wording_table import ASKED, FORBIDDEN, cells

CORRECTED = "Book a table for Maya on June 12, sorry, June 13, at 7 p.m. for two."
PLAIN = "Book a table for Maya on June 12 at 7 p.m. for two."
WITHOUT_NAME = "Book a table on June 12 at 7 p.m. for two."
BOOKED = {"guest_name": "Maya", "date": "2027-06-12", "time": "19:00", "party_size": 2}
FREE = {"available": True}


def agreed(text: str, instructions: str, **more: object) -> Decision:
    """What the clerk does after a yes to "Shall I?": so every behaviour can be seen whether it confirms or not."""
    return ask(f"Yes, please. {text}", instructions, before=[Said("assistant", "Shall I?")], **more)  # type: ignore[arg-type]


def booked(instructions: str, output: object) -> str:
    """What the clerk says after a booking that the system answered with `output`."""
    after = answered("create_reservation", output, BOOKED)
    if checks_first(instructions):
        after = answered("check_availability", FREE, BOOKED, "call_0") + after
    return only_words(agreed(PLAIN, instructions, after=after))


def takes_corrected_value(instructions: str) -> bool:
    date = only_call(agreed(CORRECTED, instructions)).arguments["date"]
    assert date in ("2027-06-12", "2027-06-13")
    return date == "2027-06-13"


def checks_first(instructions: str) -> bool:
    name = only_call(agreed(PLAIN, instructions)).name
    assert name in ("check_availability", "create_reservation")
    return name == "check_availability"


def reads_back(instructions: str) -> bool:
    words = booked(instructions, {"reservation_id": "R-301"})
    assert "R-301" in words
    return all(detail in words for detail in ("Maya", "June 12", "7 p.m.", "2 people"))


def refuses_strangers(instructions: str) -> bool:
    (output,) = agreed("Please cancel reservation R-200.", instructions, state={"verified": False}).outputs
    if isinstance(output, Call):
        assert (output.name, output.arguments) == ("cancel_reservation", {"reservation_id": "R-200"})
        return False
    assert "R-200" in output.text
    return True


def asks_for_missing(instructions: str) -> bool:
    (output,) = agreed(WITHOUT_NAME, instructions).outputs
    if isinstance(output, Call):
        assert output.arguments.get("guest_name", "unknown") == "unknown"
        return False
    assert "guest name" in output.text
    assert output.text.endswith("?")
    return True


def is_brief(instructions: str) -> bool:
    words = booked(instructions, {"reservation_id": "R-301", "table": "by the window", "note": "bring a coat"})
    assert "R-301" in words
    return "window" not in words


def confirms_first(instructions: str) -> bool:
    (output,) = ask(PLAIN, instructions).outputs
    if isinstance(output, Call):
        return False
    assert output.text == "Shall I book it: for Maya, on June 12, at 7 p.m., for 2 people?"
    return True


def offers_alternatives(instructions: str) -> bool:
    full = {"available": False, "alternatives": ["17:00", "21:30"]}
    words = only_words(agreed(PLAIN, instructions, after=answered("check_availability", full, BOOKED)))
    assert words.startswith("I am sorry")
    return "5 p.m. or 9:30 p.m." in words


def hands_over(instructions: str) -> bool:
    words = only_words(ask("Do you repair bicycles?", instructions))
    assert words.startswith("I am sorry")
    return "putting you through to a colleague" in words


def says_only_what_tools_returned(instructions: str) -> bool:
    words = booked(instructions, {})
    assert ("It is booked" in words) != ("cannot confirm" in words)
    return "cannot confirm" in words


DOES: dict[str, Callable[[str], bool]] = {
    "corrected_value": takes_corrected_value,
    "check_first": checks_first,
    "read_back": reads_back,
    "refuse_strangers": refuses_strangers,
    "ask_missing": asks_for_missing,
    "be_brief": is_brief,
    "confirm_first": confirms_first,
    "offer_alternatives": offers_alternatives,
    "transfer": hands_over,
    "only_tools": says_only_what_tools_returned,
}


def test_every_behaviour_has_a_cost_a_name_and_wordings_for_and_against() -> None:
    names = set(asdict(Policy()))
    assert names == set(DOES) == set(THOUGHT_MS) == set(LABELS) == set(ASKED) == set(FORBIDDEN)
    assert len(names) == 10
    assert all(len(sentences) >= 3 for sentences in ASKED.values())


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


def test_who_agreed_is_not_asked_again_and_who_said_no_gets_nothing() -> None:
    asked = [Said("user", PLAIN), Said("assistant", "Shall I book it: for Maya, on June 12, at 7 p.m.?")]
    call = only_call(ask("Yes, please.", "Confirm before acting.", before=asked))
    assert (call.name, call.arguments) == ("create_reservation", BOOKED)
    for no in ("No.", "No, thank you.", "No, leave it as it is.", "Never mind."):
        assert "leave everything as it is" in only_words(ask(no, "Confirm before acting.", before=asked))


def test_looking_needs_no_consent() -> None:
    text = "Is a table free on June 12 at 7 p.m. for two?"
    assert only_call(ask(text, "Confirm before acting.")).name == "check_availability"


TRANSFER = tool("transfer_to_colleague", "Hand the call over to the team.", reason={"type": "string"})


@pytest.mark.parametrize("text", ["Do you repair bicycles?", "I want to speak to a real person."])
def test_a_tool_that_hands_over_is_used_where_the_clerk_cannot_help(text: str) -> None:
    tools = [*RESTAURANT, TRANSFER]
    wanted = "Transfer to a person when you cannot help."
    assert only_call(ask(text, wanted, tools=tools)).name == "transfer_to_colleague"
    assert isinstance(ask(text, tools=tools).outputs[0], Say)


def test_a_stranger_is_refused_and_not_handed_over() -> None:
    wanted = "Transfer to a person when you cannot help. Refuse strangers."
    words = only_words(
        ask("Please cancel reservation R-200.", wanted, tools=[*RESTAURANT, TRANSFER], state={"verified": False})
    )
    assert "R-200" in words
    assert "colleague" not in words


def test_a_failure_is_told_and_handed_over_once() -> None:
    tools, wanted = [*RESTAURANT, TRANSFER], "Transfer to a person when you cannot help."
    failed = answered("create_reservation", {"error": "the system is down"}, BOOKED)
    assert only_call(ask(PLAIN, wanted, tools=tools, after=failed)).name == "transfer_to_colleague"
    over = failed + answered("transfer_to_colleague", {"ok": True}, {}, "call_2")
    words = only_words(ask(PLAIN, wanted, tools=tools, after=over))
    assert words.startswith("I am sorry, that did not work: the system is down.")
    assert words.endswith("I am putting you through to a colleague.")
