"""A caller played by a model: what it wants, what it knows, what it brings up, and its temper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from scenarios_app.spec.contract import Contract, Flag, NotNegative, Seconds, Text, Whole
from scenarios_app.spec.errors import Problem
from scenarios_app.spec.jsontext import Json

Share = Annotated[NotNegative, Field(le=1), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
Positive = Annotated[Whole, Field(ge=1)]
MOST_STEPS = 50


class Behaviors(Contract):
    """`interrupt_probability`: of each reply to be talked over. The caller hangs up after `patience_s` of silence in
    which he waits, or after `patience_turns` replies in a row that bring nothing new."""

    interrupt_probability: Share | None = None
    patience_turns: Positive | None = None
    patience_s: Seconds | None = None


class AgendaStep(Contract):
    """One thing that the caller brings up. `when`: what must have happened in the call; `after`: steps that come
    first; `facts`: what the caller knows from this step on, in place of what he knew; `words`: how he may put it."""

    id: Text
    commitment: Text
    action: Literal["answer", "correct", "interrupt", "backchannel", "finish"] = "answer"
    when: Text | None = None
    done_when: Text | None = None
    words: Text | None = None
    facts: dict[str, Json] = {}
    after: tuple[Text, ...] = ()
    required: Flag = True


class Persona(Contract):
    """Nothing else reaches the model that plays it, but the conversation."""

    goal: Text
    facts: dict[str, Json] = {}
    style: Text | None = None
    agenda: tuple[AgendaStep, ...] = ()
    behaviors: Behaviors = Behaviors()
    seed: Whole | None = None


def persona_problems(persona: Persona) -> Iterator[Problem]:
    """Rules that span several steps of the agenda."""
    if len(persona.agenda) > MOST_STEPS:
        yield Problem("agenda", f"has {len(persona.agenda)} steps, at most {MOST_STEPS} are allowed")
    ids = [step.id for step in persona.agenda]
    for index, step in enumerate(persona.agenda):
        path = f"agenda[{index}]"
        if step.id in ids[:index]:
            yield Problem(f"{path}.id", f'the id "{step.id}" is used before in agenda[{ids.index(step.id)}]')
        for place, before in enumerate(step.after):
            if before not in ids:
                yield Problem(f"{path}.after[{place}]", f'there is no step "{before}" in the agenda')
        if step.action == "correct" and not step.facts and not step.words:
            yield Problem(path, "a correction needs facts or words: what the caller says instead")
    if stuck := _stuck(persona):
        yield Problem("agenda", f"these steps wait for one another and never come: {', '.join(stuck)}")


def _stuck(persona: Persona) -> list[str]:
    """Steps that no order can reach; those that wait for a step that is not there are another problem."""
    ids = {step.id for step in persona.agenda}
    waiting = {step.id: {before for before in step.after if before in ids} for step in persona.agenda}
    while ready := [id for id, before in waiting.items() if not before & waiting.keys()]:
        for id in ready:
            del waiting[id]
    return list(waiting)
