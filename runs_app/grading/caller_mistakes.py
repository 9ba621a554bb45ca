"""Mistakes of a caller that a model plays: they are ours, so a trial with one says nothing about the agent.

Found by rules: values that nobody gave him, required steps that he never came to, and steps that he claims to have
said without their facts. A judge is asked for the rest (caller_judging.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from runs_app.grading.named_values import (
    MONTHS,
    claimed_codes,
    claimed_names,
    claimed_numbers,
    hours,
    is_time,
    joined,
    leaves,
    months,
    numbers,
    plain,
    words,
)
from runs_app.realtime.persona.told import PersonaTold
from runs_app.realtime.record import Record, Turn
from scenarios_app.spec.persona import AgendaStep, Persona
from scenarios_app.spec.scenario import Scenario
from scenarios_app.spec.simulation import played

Kind = Literal["invented", "forgot", "left_out", "judged"]


@dataclass(frozen=True)
class Mistake:
    """`turn`: the caller's, from 0; None where it is about the whole call."""

    kind: Kind
    turn: int | None
    reason: str


def caller_mistakes(scenario: Scenario, record: Record) -> tuple[Mistake, ...]:
    """Empty also where a script leads the call."""
    who = played(scenario)
    if record.persona is None or who is None:
        return ()
    told = who.persona
    return (*_invented(scenario, record, told), *_forgotten(record.persona, told), *_left_out(record, told))


def _invented(scenario: Scenario, record: Record, persona: Persona) -> Iterator[Mistake]:
    given = _given(scenario, persona)
    for turn in record.turns[1:]:
        heard = joined(before.agent_text for before in record.turns[: turn.index])
        if unknown := _unknown(turn.caller_text, f"{given}\n{heard}"):
            named = ", ".join(f'"{each}"' for each in dict.fromkeys(unknown))
            yield Mistake("invented", turn.index, f"the caller said {named}, which nobody had told him")


def _given(scenario: Scenario, persona: Persona) -> str:
    """All that the caller was given: his part, his first words, and what was said before the call."""
    context = scenario.input.context
    history = [message.text for message in context.history] if context else []
    steps = [text for step in persona.agenda for text in leaves(step.to_json())]
    return joined([persona.goal, persona.style, *leaves(persona.facts), *steps, scenario.input.text, *history]) + (
        f"\n{scenario.reference_date or ''}"
    )


def _unknown(said: str, known: str) -> list[str]:
    values, named, text, vocabulary = numbers(known), months(known), plain(known), words(known)
    claims = claimed_numbers(said)
    found = [claim for claim, meant in claims if not meant <= (hours(values) if is_time(claim) else values)]
    found += [MONTHS[month - 1].title() for month in sorted(_months_of_days(said)) if month not in named]
    found += [code for code in claimed_codes(said) if plain(code) not in text]
    return found + [name for name in claimed_names(said) if not words(name) <= vocabulary]


def _months_of_days(said: str) -> set[int]:
    """Of days that are named; "may" alone is no month."""
    days = [claim for claim, _ in claimed_numbers(said) if months(claim)]
    return months(joined(days))


def _forgotten(told: PersonaTold, persona: Persona) -> Iterator[Mistake]:
    if told.ended_by != "caller":
        return
    for step in persona.agenda:
        if step.required and step.id not in told.steps:
            yield Mistake("forgot", None, f"the caller hung up without step {step.id}: {step.commitment}")


def _left_out(record: Record, persona: Persona) -> Iterator[Mistake]:
    steps = {step.id: step for step in persona.agenda}
    for turn in record.turns:
        for name in turn.thought.steps if turn.thought else ():
            step = steps.get(name)
            if step is not None and step.facts and not _tells(turn, step):
                reason = f"the caller took step {name} as said, and named nothing of it"
                yield Mistake("left_out", turn.index, reason)


def _tells(turn: Turn, step: AgendaStep) -> bool:
    said, values = plain(turn.caller_text), numbers(turn.caller_text)
    texts = [text for value in step.facts.values() for text in leaves(value)]
    return not texts or any(numbers(text) & values or plain(text) in said for text in texts)
