"""The simulated caller: goal, facts and agenda by rules, with a seed for how he puts it. It is no language model.

He repeats himself when he was not understood, answers what he is asked from his facts and says that he does not know
the rest, corrects the agent where it says a value that is not his, and otherwise brings up the next step of his agenda.
When nothing is left he says goodbye.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from runs_app.simulator.entities import entities
from runs_app.simulator.judge_compare import same, shared_words
from runs_app.simulator.kinds import kind_of, label, phrase
from runs_app.simulator.persona_scene import Scene, Step
from runs_app.simulator.persona_words import answer, ended, goodbye, step_words, yes
from runs_app.simulator.polarity import asks, claimed_actions, denies
from runs_app.simulator.tool_fit import split_words, stem

Json = Any

NEAR = 0.34  # of a trigger's words were heard
SO = 0.6  # of the words of `stop_when` were heard

_NOT_UNDERSTOOD = re.compile(r"\bdid(?: not|n[’']t) (?:catch|hear|get|understand)\b|\bsay (?:it|that) again\b", re.I)
_ANYTHING_ELSE = re.compile(
    r"[^.?!]*\b(?:anything else|something else|what else|how can i help|how may i help|help you)\b[^.?!]*\?", re.I
)
_CONFIRM = re.compile(
    r"\b(?:shall i|should i|do you want me to|would you like me to|is (?:that|this) (?:right|correct|okay|ok)|"
    r"(?:is|are) (?:that|those) all right|(?:right|correct)\?)",
    re.I,
)
_ASKED_KINDS = {
    "name": re.compile(r"\bnames?\b", re.I),
    "date": re.compile(r"\b(?:dates?|which day|what day)\b", re.I),
    "time": re.compile(r"\b(?:times?|what hour|when)\b", re.I),
    "count": re.compile(r"\b(?:how many|party size|number of)\b", re.I),
    "phone": re.compile(r"\b(?:phone|telephone|mobile)\b", re.I),
    "email": re.compile(r"\be-?mail\b", re.I),
    "id": re.compile(r"\b(?:number|id|code|reference)\b", re.I),
}
_PLAIN = frozenset({"the", "a", "an", "of", "is", "number"})


@dataclass(frozen=True)
class Words:
    say: str
    steps: tuple[str, ...] = ()
    hang_up: bool = False
    stop: bool = False
    why: str = ""

    def to_json(self) -> dict[str, Json]:
        return {**asdict(self), "steps": list(self.steps)}


def next_words(scene: Scene) -> Words:
    """Deterministic: the same scene has the same words."""
    if scene.interrupting:
        return _over(scene)
    if _is_so(scene):
        return Words("", stop=True, why=f"it is so: {scene.stop_when}")
    if _NOT_UNDERSTOOD.search(scene.heard):
        return Words(scene.own_last, why="the agent did not understand")
    if (wrong := _corrected(scene)) is not None:
        return wrong
    question = _ANYTHING_ELSE.sub("", scene.heard).strip()
    if question and asks(question):
        return _answered(scene, question)
    return _goes_on(scene)


def _over(scene: Scene) -> Words:
    step = scene.due
    if step is None or step.action == "finish":
        return Words("", hang_up=True, why="nothing that cannot wait")
    return Words(step_words(scene, step), (step.id,), why="this cannot wait")


def _is_so(scene: Scene) -> bool:
    heard = scene.heard
    return bool(scene.stop_when and heard) and not denies(heard) and shared_words(scene.stop_when, heard) >= SO


def _answered(scene: Scene, question: str) -> Words:
    wanted = list(_asked_for(scene, question))
    if wanted:
        return Words(answer(wanted), why="the agent asked for it")
    step = scene.due
    if step is not None and step.when and shared_words(step.when, question) >= NEAR:
        return _says(scene, step)
    if _CONFIRM.search(question):
        return Words(yes(scene), why="the agent asked for a yes")
    if step is not None and step.action != "finish":
        return _says(scene, step)
    return Words("I am sorry, I do not know that.", why="the agent asked for what the caller does not know")


def _asked_for(scene: Scene, question: str) -> Iterator[tuple[str, Json]]:
    said = {stem(word) for word in split_words(question)}
    for name, value in scene.known.items():
        named = {stem(word) for word in split_words(label(name)) if word not in _PLAIN}
        pattern = _ASKED_KINDS.get(kind_of(name, {}))
        if (named and named <= said) or (pattern is not None and pattern.search(question)):
            yield name, value


def _corrected(scene: Scene) -> Words | None:
    """A value that the caller has told, and that the agent has wrong in what it did or wants confirmed."""
    if not claimed_actions(scene.heard) and not _CONFIRM.search(scene.heard):
        return None
    heard = entities(scene.heard, reference_date=scene.today)
    own_lines = [text for speaker, text in scene.lines if speaker == "caller"]
    told = [one for text in own_lines for one in entities(text, reference_date=scene.today)]
    for name, value in scene.known.items():
        own = entities(phrase(name, value), reference_date=scene.today)
        for mine in own:
            others = [other for other in heard if other.kind == mine.kind and not other.negated]
            if not others or mine.kind not in ("date", "count") or not any(same(mine, one) for one in told):
                continue
            if not any(same(mine, other) for other in others):
                return _mended(scene, name, value)
    return None


def _mended(scene: Scene, name: str, value: Json) -> Words | None:
    text = ended(f"No, it is {phrase(name, value)}")
    told_before = sum(text in own for speaker, own in scene.lines if speaker == "caller")
    return None if told_before else Words(text, why=f"the agent has the {label(name)} wrong")


def _goes_on(scene: Scene) -> Words:
    step = scene.due
    if step is None:
        return Words(goodbye(scene), hang_up=True, why="nothing is left to say")
    waiting = [one for one in scene.agenda if one.id not in scene.said and one.when]
    ready = [one for one in waiting if scene.said >= set(one.after) and shared_words(one.when, scene.heard) >= NEAR]
    return _says(scene, ready[0] if step.when and ready else step)


def _says(scene: Scene, step: Step) -> Words:
    if step.action == "finish":
        return Words(step.words or goodbye(scene), (step.id,), hang_up=True, why="the goal is reached")
    return Words(step_words(scene, step), (step.id,), why=step.commitment)
