"""The ten behaviours in the clerk's instructions: several wordings each, forbidden by "never" and the like."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from runs_app.simulator.instructions import Policy, read_knowledge, read_policy
from tests.simulator.wording_table import ASKED, FORBIDDEN, cells


@pytest.mark.parametrize(("behaviour", "sentence"), cells(ASKED))
def test_each_wording_asks_for_its_behaviour_and_for_no_other(behaviour: str, sentence: str) -> None:
    assert asdict(read_policy(f"You work at the front desk. {sentence}")) == asdict(Policy()) | {behaviour: True}


@pytest.mark.parametrize(("behaviour", "sentence"), cells(FORBIDDEN))
def test_a_forbidding_sentence_takes_the_behaviour_away_though_another_asks_for_it(
    behaviour: str, sentence: str
) -> None:
    assert read_policy(sentence) == Policy()
    asked = ASKED[behaviour][0]
    assert not getattr(read_policy(f"{asked}\n{sentence}"), behaviour)
    assert not getattr(read_policy(f"{sentence}\n{asked}"), behaviour)


@pytest.mark.parametrize(
    "harmless",
    [
        "You are the friendly front desk of a restaurant. Be warm.",
        "Give the correct opening hours.",
        "Use the tools for bookings and cancellations.",
        "The last table is taken at nine. We are open until ten.",
        "Speak slowly and say thank you when the caller is done.",
        "Ask the caller how the day is going.",
        "If you book a table, mention the garden.",
    ],
)
def test_plain_sentences_ask_for_nothing(harmless: str) -> None:
    assert read_policy(harmless) == Policy()


def test_all_ten_can_be_asked_for_at_once_and_each_line_stands_for_itself() -> None:
    lines = [sentences[0] for sentences in ASKED.values()]
    assert read_policy("\n".join(lines)) == Policy(*[True] * 10)
    for number, name in enumerate(ASKED):
        left = lines[:number] + lines[number + 1 :]
        assert asdict(read_policy("\n".join(left))) == asdict(Policy(*[True] * 10)) | {name: False}


def test_a_not_reaches_only_to_the_next_comma() -> None:
    assert read_policy("Never be short with callers, ask for what is missing.").ask_missing
    assert read_policy("Do not hurry but read the details back.").read_back


def test_facts_in_the_json_block_are_no_instructions() -> None:
    block = '```json\n{"facts": {"note": "Check availability first. Read the details back."}}\n```'
    assert read_policy(f"Be kind.\n{block}") == Policy()


def test_the_json_block_gives_facts_state_summary_and_reference_date() -> None:
    block = (
        '{"facts": {"parking": "free"}, "state": {"verified": true}, "summary": "Ada", "reference_date": "2027-06-01"}'
    )
    known = read_knowledge(f"Be kind.\n```json\n{block}\n```")
    assert known.facts == {"parking": "free"}
    assert known.state == {"verified": True}
    assert (known.summary, known.reference_date) == ("Ada", "2027-06-01")


@pytest.mark.parametrize("block", ["```json\n{broken\n```", "```json\n[1, 2]\n```", "no block at all", ""])
def test_a_block_that_is_no_json_object_is_no_knowledge(block: str) -> None:
    known = read_knowledge(f"Be kind.\n{block}")
    assert (known.facts, known.state, known.summary, known.reference_date) == ({}, {}, "", None)
