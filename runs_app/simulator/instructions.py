"""What the clerk reads out of its instructions: ten behaviours, and the facts of the fenced JSON block.

Each behaviour is understood in several wordings (docs/simulator.md lists them) and forbidden by "never ...", "do not
..." or "ignore ...". Where one sentence asks for a behaviour and another forbids it, it is forbidden.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from runs_app.simulator.wire import Json
from runs_app.simulator.wording import NOT, Wording
from runs_app.simulator.wordings import WORDINGS


@dataclass(frozen=True)
class Policy:
    """The behaviours that the instructions ask for."""

    corrected_value: bool = False  # take the value that the caller corrected to, not the first one
    check_first: bool = False  # check availability before anything is booked
    read_back: bool = False  # read the details back
    refuse_strangers: bool = False  # do nothing to what belongs to somebody who is not the verified caller
    ask_missing: bool = False  # ask for what is missing instead of filling in `unknown`
    be_brief: bool = False  # say no more than the answer
    confirm_first: bool = False  # have the caller say yes before anything is changed
    offer_alternatives: bool = False  # where a wish cannot be met, say what else there is
    transfer: bool = False  # hand over to a person where the clerk cannot help
    only_tools: bool = False  # take nothing for done that no tool told


@dataclass(frozen=True)
class Sentence:
    """Where a sentence stands in the instructions, and what it says of which behaviour: True asks, False forbids."""

    start: int
    end: int
    verdicts: Mapping[str, bool]


@dataclass(frozen=True)
class Knowledge:
    """What the fenced JSON block at the end of the instructions tells."""

    facts: dict[str, Json] = field(default_factory=dict)
    state: dict[str, Json] = field(default_factory=dict)
    summary: str = ""
    reference_date: str | None = None


# A "not" reaches to the next comma, semicolon or turn of the sentence.
_NEGATED = re.compile(rf"\b{NOT}\b[^,;:]*$", re.IGNORECASE)
_TURN = re.compile(r"\b(?:but|instead|rather)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_COMMA = re.compile(",")
_LONGEST_SENTENCE = 400
_BLOCK = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


def read_policy(instructions: str) -> Policy:
    """The behaviours that `instructions` (without its JSON blocks) ask for and nowhere forbid."""
    said = [verdict for sentence in read_sentences(instructions) for verdict in sentence.verdicts.items()]
    return Policy(**{name: (name, True) in said and (name, False) not in said for name in WORDINGS})


def read_sentences(instructions: str) -> list[Sentence]:
    """The sentences that speak of a behaviour, in order; what stands in a JSON block is no instruction."""
    # As long as before, so that every position stays true.
    prose = _BLOCK.sub(lambda block: "\n" * len(block.group()), instructions)
    found = []
    for start, end in _places(prose):
        verdicts = {name: _verdict(wording, prose[start:end]) for name, wording in WORDINGS.items()}
        known = {name: verdict for name, verdict in verdicts.items() if verdict is not None}
        if known:
            found.append(Sentence(start, end, known))
    return found


def read_knowledge(instructions: str) -> Knowledge:
    """Facts, state, summary and reference date of the fenced JSON blocks; a later block adds to an earlier one."""
    known: dict[str, Json] = {}
    for block in _blocks(instructions):
        known |= block
    return Knowledge(
        facts=_first_dict(known, "facts", "business_facts"),
        state=_first_dict(known, "state", "authorised_state", "authorized_state", "authorized_application_state"),
        summary=str(known.get("summary") or known.get("previous_conversation_summary") or ""),
        reference_date=known.get("reference_date") if isinstance(known.get("reference_date"), str) else None,
    )


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Where sentences and lines stand, without the space around them; what goes on for ever is cut at its commas, for
    patterns that look far ahead."""
    for start, end in _pieces(text, _SENTENCE, 0, len(text)):
        if end - start > _LONGEST_SENTENCE:
            yield from _pieces(text, _COMMA, start, end)
        else:
            yield start, end


def _pieces(text: str, cut: re.Pattern[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    for found in [*cut.finditer(text, start, end), None]:
        stop = found.start() if found else end
        piece = text[start:stop]
        if piece.strip():
            yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
        start = found.end() if found else end


def _verdict(wording: Wording, sentence: str) -> bool | None:
    """True: asks for the behaviour; False: forbids it; None: speaks of something else."""
    if wording.asked_although_negative(sentence):
        return True
    if wording.forbidden_outright(sentence):
        return False
    places = wording.asked_at(sentence)
    return not any(_negated(sentence[:place]) for place in places) if places else None


def _negated(before: str) -> bool:
    negated = _NEGATED.search(before)
    return bool(negated and not _TURN.search(before, negated.start()))


def _blocks(instructions: str) -> Iterator[dict[str, Json]]:
    for text in _BLOCK.findall(instructions):
        try:
            block = json.loads(text)
        except ValueError:
            continue  # a fenced example that is not JSON is none of the clerk's business
        if isinstance(block, dict):
            yield block


def _first_dict(known: dict[str, Json], *names: str) -> dict[str, Json]:
    return next((known[name] for name in names if isinstance(known.get(name), dict)), {})
