"""Who leads the call: a scenario's own persona, or the one that CRAWL's `simulation_parameters` describe.

CRAWL leaves the inside of `simulation_parameters` open. What is understood becomes a persona; everything else is listed
with its place, and stays in the scenario.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from scenarios_app.spec.errors import Problem
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.persona import AgendaStep, Persona, persona_problems
from scenarios_app.spec.wording import kind_of, problems_of

if TYPE_CHECKING:
    from scenarios_app.spec.scenario import Scenario

ROOT: Final = "simulation_parameters"
_GOAL: Final = ("goal", "private_goal", "objective")
_FACTS: Final = ("known_facts", "facts")
_STYLE: Final = ("style", "description", "voice", "tone", "personality")
_STEP_NAMES: Final = {
    "commitment": "commitment",
    "trigger_condition": "when",
    "completion_condition": "done_when",
    "response_hint": "words",
}
_ACTIONS: Final = ("answer", "correct", "interrupt", "finish")


@dataclass(frozen=True)
class Played:
    """`left_out`: what of `simulation_parameters` has no place in a persona."""

    persona: Persona
    stop_when: str | None = None
    max_turns: int | None = None
    left_out: tuple[Problem, ...] = ()


def played(scenario: Scenario) -> Played | None:
    """The persona that leads the call; None where a script does, or nobody is needed."""
    if scenario.input.turns:
        return None
    if scenario.persona is not None:
        return Played(scenario.persona, scenario.stop_when, scenario.max_turns)
    if scenario.simulation_parameters is None:
        return None
    reading = _Reading(scenario.simulation_parameters)
    persona = reading.persona(scenario.title)
    return Played(
        persona,
        scenario.stop_when or reading.text("stop_when"),
        scenario.max_turns or reading.count("max_turns"),
        tuple(reading.rest()),
    )


def patience_s(scenario: Scenario) -> float | None:
    """After how much silence the caller hangs up, also one who follows a script."""
    who = played(scenario)
    persona = who.persona if who else scenario.persona
    given = persona.behaviors.patience_s if persona else None
    return None if given is None else float(given)


def left_out(scenario: Scenario) -> tuple[Problem, ...]:
    """What of the scenario's `simulation_parameters` nobody plays, and why."""
    if scenario.simulation_parameters is None:
        return ()
    if scenario.input.turns:
        return (Problem(ROOT, "is kept and not played: input.turns lead the call"),)
    if scenario.persona is not None:
        return (Problem(ROOT, "is kept and not played: the scenario's persona leads the call"),)
    who = played(scenario)
    return who.left_out if who else ()


@dataclass
class _Reading:
    """One pass over the parameters. `used`: keys that found their place."""

    given: Mapping[str, Json]
    used: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def text(self, *names: str) -> str | None:
        for name in names:
            value = self.given.get(name)
            if isinstance(value, str) and value.strip():
                self.used.add(name)
                return value
        return None

    def count(self, name: str) -> int | None:
        value = self.given.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            return None
        self.used.add(name)
        return value

    def persona(self, title: str) -> Persona:
        goal, style = self.text(*_GOAL), self._style()
        if goal is None:
            self.problems.append(Problem(ROOT, "names no goal: the scenario's title stands for it"))
        facts = self._facts()
        persona = Persona(goal=goal or title, facts=facts, style=style, agenda=self._agenda(facts), seed=self._seed())
        if wrong := list(persona_problems(persona)):
            self.problems += [problem.under(ROOT) for problem in wrong]
            self.problems.append(Problem(f"{ROOT}.agenda", "is left out whole: no caller could follow it"))
            persona = persona.model_copy(update={"agenda": ()})
        return persona

    def rest(self) -> Iterator[Problem]:
        yield from self.problems
        for name in self.given:
            if name not in self.used:
                yield Problem(f"{ROOT}.{name}", "is kept and not played: a persona has no such part")

    def _seed(self) -> int | None:
        value = self.given.get("seed")
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        self.used.add("seed")
        return value

    def _style(self) -> str | None:
        described = self.given.get("persona")
        if isinstance(described, str) and described.strip():
            self.used.add("persona")
            return described
        if isinstance(described, dict):
            self.used.add("persona")
            return self._style_of(described)
        return self.text("style")

    def _style_of(self, described: Mapping[str, Json]) -> str | None:
        known = [name for name in _STYLE if isinstance(described.get(name), str)]
        for name in described:
            if name not in known:
                self.problems.append(Problem(f"{ROOT}.persona.{name}", "is kept and not played: no part of a style"))
        return " ".join(described[name] for name in known) or None

    def _facts(self) -> dict[str, Json]:
        for name in _FACTS:
            value = self.given.get(name)
            if isinstance(value, dict):
                self.used.add(name)
                return value
            if isinstance(value, list) and all(isinstance(one, str) for one in value):
                self.used.add(name)
                return {f"fact {nth}": one for nth, one in enumerate(value, 1)}
        return {}

    def _agenda(self, facts: Mapping[str, Json]) -> tuple[AgendaStep, ...]:
        given = self.given.get("agenda")
        if not isinstance(given, list):
            return ()
        self.used.add("agenda")
        read = [self._step(entry, f"{ROOT}.agenda[{index}]", index, facts) for index, entry in enumerate(given)]
        steps = [step for step in read if step is not None]
        ids = {step.id for step in steps}
        # who waits for a step that is left out waits for nobody
        return tuple(
            step.model_copy(update={"after": tuple(before for before in step.after if before in ids)}) for step in steps
        )

    def _step(self, entry: Json, path: str, index: int, facts: Mapping[str, Json]) -> AgendaStep | None:
        if not isinstance(entry, dict):
            self.problems.append(Problem(path, f"is left out: a step is an object, not {kind_of(entry)}"))
            return None
        action = entry.get("action", "answer")
        if action not in _ACTIONS:
            self.problems.append(Problem(f"{path}.action", f'the step is left out: nobody plays "{action}"'))
            return None
        known: dict[str, Json] = {"id": entry.get("id", f"step {index + 1}"), "action": action}
        known |= {ours: entry[theirs] for theirs, ours in _STEP_NAMES.items() if entry.get(theirs)}
        known.setdefault("commitment", known.get("words", ""))
        known |= {"facts": self._step_facts(entry.get("facts"), f"{path}.facts", facts), "after": _after(entry)}
        if isinstance(entry.get("required"), bool):
            known["required"] = entry["required"]
        served = {"id", "action", "facts", "after", "required", *_STEP_NAMES}
        self.problems += [
            Problem(f"{path}.{name}", "is kept and not played: a step has no such part")
            for name in entry
            if name not in served
        ]
        return self._valid(known, path)

    def _step_facts(self, given: Json, path: str, facts: Mapping[str, Json]) -> dict[str, Json]:
        """Values, or names of facts that are known."""
        if isinstance(given, dict):
            return given
        if given is None:
            return {}
        names = given if isinstance(given, list) else [given]
        unknown = [name for name in names if not (isinstance(name, str) and name in facts)]
        if unknown:
            shown = ", ".join(map(str, unknown))
            self.problems.append(Problem(path, f"is kept and not played: there is no known fact {shown}"))
        return {name: facts[name] for name in names if name not in unknown}

    def _valid(self, known: dict[str, Json], path: str) -> AgendaStep | None:
        try:
            return AgendaStep.model_validate(known)
        except ValidationError as error:
            self.problems += [
                Problem(path, f"the step is left out: {problem}") for problem in problems_of(error, AgendaStep)
            ]
            return None


def _after(entry: Mapping[str, Json]) -> Json:
    after = entry.get("after") or ()
    return [after] if isinstance(after, str) else list(after) if isinstance(after, list | tuple) else after
