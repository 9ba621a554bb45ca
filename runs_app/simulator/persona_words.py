"""How a simulated caller puts things: facts as answers, commitments as requests, and the small words around them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from runs_app.simulator.kinds import kind_of, label, phrase, say_value
from runs_app.simulator.luck import luck
from runs_app.simulator.persona_scene import Scene, Step

Json = Any

_LEADS = ("", "Okay. ", "Right. ", "Good. ", "All right. ")
_BREAKS = ("Wait. ", "Sorry, one thing. ", "Hold on. ")
_YES = ("Yes, please.", "Yes, that is right.", "Yes, please do.")
_BYES = (
    "That is all, thank you. Goodbye.",
    "Thank you, that was everything. Goodbye.",
    "Great, that is all. Goodbye.",
)
_WITHIN = 0.5  # of all answers have a small word in front

# How a commitment that is written as an order to the caller is said by him.
_ORDERS = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), spoken)
    for pattern, spoken in (
        (r"^ask (?:the agent )?(?:whether|if) (.+?)[.?]*$", r"Can you tell me whether \1?"),
        (r"^ask (?:the agent )?((?:what|when|where|who|which|how|why)\b.+?)[.?]*$", r"Can you tell me \1?"),
        (r"^ask (?:the agent )?(?:for|to have) (.+?)[.?]*$", r"I would like \1, please."),
        (r"^ask about (.+?)[.?]*$", r"I have a question about \1?"),
        (r"^(?:say|mention|tell (?:the agent|them)|explain|insist|add)(?: that)?:? (.+?)[.]*$", r"\1."),
        (r"^(?:request|book|order|want) (.+?)[.]*$", r"I would like \1, please."),
    )
)


def chosen(scene: Scene, among: tuple[str, ...], purpose: str) -> str:
    return among[int(luck(scene.seed, f"{purpose} {scene.turn}") * len(among))]


def lead(scene: Scene) -> str:
    return chosen(scene, _LEADS, "lead")


def yes(scene: Scene) -> str:
    return chosen(scene, _YES, "yes")


def goodbye(scene: Scene) -> str:
    return chosen(scene, _BYES, "goodbye")


def step_words(scene: Scene, step: Step) -> str:
    """A step as it is said; the same seed puts it in the same words."""
    text = step.words or _said(step.commitment)
    if scene.interrupting:
        return f"{chosen(scene, _BREAKS, 'break')}{text}"
    if step.action == "correct" and not step.words:
        return ended(f"Sorry, actually, I meant {told(step.facts)}")
    return f"{lead(scene)}{text}" if luck(scene.seed, f"small {scene.turn}") < _WITHIN else text


def _said(commitment: str) -> str:
    for order, spoken in _ORDERS:
        if order.match(commitment):
            text = order.sub(spoken, commitment)
            return text[0].upper() + text[1:]
    return ended(commitment)


def told(facts: dict[str, Json]) -> str:
    """`for 4 people, on June 12`."""
    return ", ".join(phrase(name, value) for name, value in facts.items())


def answer(facts: Iterable[tuple[str, Json]]) -> str:
    """Facts as the answer to a question: a name by itself, what names its own kind as it is, the rest by its label."""
    parts = [_answered(name, value) for name, value in facts]
    return " ".join(parts)


def _answered(name: str, value: Json) -> str:
    kind, said = kind_of(name, {}), say_value(value)
    if kind == "name":
        return ended(f"My name is {said}")
    if kind in ("date", "time", "count") or "size" in name:
        return ended(f"It is {phrase(name, value)}")
    if kind in ("id", "phone", "email"):
        return ended(f"The {label(name)} is {said}")
    return ended(f"{said[:1].upper()}{said[1:]}")


def ended(sentence: str) -> str:
    return sentence if sentence.rstrip().endswith((".", "!", "?")) else f"{sentence}."
