"""`POST /v1/understood`: where the sentences stand that the clerk heeds, and as what."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import AsyncOpenAI, BadRequestError

from runs_app.simulator.instructions import read_policy, read_sentences
from runs_app.simulator.understood import LABELS, LONGEST, answer_understood
from tests.simulator.http_app import serving
from tests.simulator.wire_client import Simulator
from tests.simulator.wording_table import ASKED, FORBIDDEN, cells

Json = Any


async def asked(url: str, body: Json) -> Json:
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        return await client.post("/understood", body=body, cast_to=object)


async def test_the_running_simulator_says_which_sentences_it_heeds(simulator: Simulator) -> None:
    prompt = (
        "Grüße 🎧! You are the desk. Read the details back.\nBe kind, and never guess a name.\n"
        '```json\n{"note": "Check availability first."}\n```\nDo not offer alternatives.'
    )
    spans = (await asked(f"{simulator.http}/v1", {"instructions": prompt}))["spans"]
    told = [(prompt[span["start"] : span["end"]], span["label"], span["asks"]) for span in spans]
    assert told == [
        ("Read the details back.", "read back", True),
        ("Be kind, and never guess a name.", "ask for what is missing", True),
        ("Do not offer alternatives.", "offer alternatives", False),
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "instructions must be the text of a prompt"),
        ({"instructions": 7}, "instructions must be the text of a prompt"),
        ({"instructions": "a" * (LONGEST + 1)}, "are the most"),
        ([], "must be a JSON object"),
    ],
)
async def test_what_is_no_prompt_is_refused_by_name(body: Json, message: str) -> None:
    async with serving({"/v1/understood": answer_understood}) as url:
        with pytest.raises(BadRequestError, match=message):
            await asked(url, body)


@pytest.mark.parametrize(("behaviour", "sentence"), cells(ASKED))
def test_a_heeded_sentence_has_its_exact_place(behaviour: str, sentence: str) -> None:
    prompt = f"You are the front desk.  {sentence}  Have a nice day."
    (found,) = read_sentences(prompt)
    assert prompt[found.start : found.end] == sentence
    assert found.verdicts == {behaviour: True}
    assert LABELS[behaviour]


@pytest.mark.parametrize(("behaviour", "sentence"), cells(FORBIDDEN))
def test_a_forbidding_sentence_is_told_as_one(behaviour: str, sentence: str) -> None:
    (found,) = read_sentences(f"You are the front desk.\n{sentence}")
    assert found.verdicts[behaviour] is False


PIECES = st.sampled_from(
    [*(one[0] for one in ASKED.values()), "Hello!", "", "\n\n", "a, b", "```json\n{}\n```", "x" * 500]
)


@given(st.lists(PIECES, max_size=12))
def test_places_are_in_order_do_not_overlap_and_agree_with_the_policy(pieces: list[str]) -> None:
    prompt = " ".join(pieces)
    found = read_sentences(prompt)
    ends = [0, *(one.end for one in found)]
    assert all(end <= one.start < one.end <= len(prompt) for end, one in zip(ends, found, strict=False))
    policy = read_policy(prompt)
    assert all(getattr(policy, name) for one in found for name in one.verdicts)


def test_a_prompt_without_full_stops_is_still_read_in_pieces() -> None:
    prompt = ", ".join(["be nice to everybody who calls"] * 20 + ["read the details back", "and so on"])
    (found,) = read_sentences(prompt)
    assert prompt[found.start : found.end] == "read the details back"
