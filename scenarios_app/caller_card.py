"""The caller that a model plays, as the page of a scenario reads him out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenarios_app.presentation import Json, inline_json, plain
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.persona import AgendaStep, Behaviors
from scenarios_app.spec.scenario import parse_scenario
from scenarios_app.spec.simulation import left_out, played


@dataclass(frozen=True)
class StepLine:
    commitment: str
    action: str  # "" for an ordinary one
    details: tuple[str, ...]


@dataclass(frozen=True)
class CallerCard:
    """Empty text or an empty list: it is not given. `mapped`: read from CRAWL's simulation_parameters, of which
    `left_out` is what nobody plays."""

    goal: str
    style: str
    facts: tuple[tuple[str, str], ...]
    steps: tuple[StepLine, ...]
    temper: tuple[str, ...]
    stop_when: str
    max_turns: int | None
    seed: int | None
    mapped: bool
    left_out: tuple[Problem, ...]


def caller_card(content: Mapping[str, Json]) -> CallerCard | None:
    """None where a script leads, or where an older version holds what is no scenario any more."""
    try:
        scenario = parse_scenario(content)
    except SpecError:
        return None
    who = played(scenario)
    if who is None:
        return None
    persona = who.persona
    return CallerCard(
        goal=persona.goal,
        style=persona.style or "",
        facts=tuple((name, plain(value)) for name, value in persona.facts.items()),
        steps=tuple(_step(step) for step in persona.agenda),
        temper=_temper(persona.behaviors),
        stop_when=who.stop_when or "",
        max_turns=who.max_turns,
        seed=persona.seed,
        mapped=scenario.persona is None,
        left_out=left_out(scenario),
    )


def _step(step: AgendaStep) -> StepLine:
    given = (
        ("when", step.when),
        ("done when", step.done_when),
        ("says", step.words),
        ("knows from then on", inline_json(step.facts) if step.facts else None),
        ("after", ", ".join(step.after)),
        ("optional", "the call may end without it" if not step.required else None),
    )
    details = tuple(f"{name}: {value}" for name, value in given if value)
    return StepLine(step.commitment, "" if step.action == "answer" else step.action, details)


def _temper(behaviors: Behaviors) -> tuple[str, ...]:
    lines = []
    if behaviors.interrupt_probability:
        lines.append(f"talks over {float(behaviors.interrupt_probability):.0%} of the replies")
    if behaviors.patience_s is not None:
        lines.append(f"hangs up after {float(behaviors.patience_s):g} s of silence")
    if behaviors.patience_turns is not None:
        lines.append(f"hangs up after {behaviors.patience_turns} replies in a row that bring nothing new")
    return tuple(lines)
