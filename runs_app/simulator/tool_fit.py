"""Which tool fits what the caller asks for: by the words of its name, its description and its parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from runs_app.simulator.wire import Json

# Words that mean the same to the clerk, by stem. The first eleven kinds are actions: they decide between tools.
_KINDS = {
    "book": "book reserv schedul appoint signup",
    "cancel": "cancel revok delet remov scrap withdraw",
    "check": "check avail vacanc vacant verif",
    "change": "chang mov modif updat reschedul shift amend edit switch",
    "track": "track trac wher statu locat",
    "renew": "renew extend prolong",
    "borrow": "borrow loan lend",
    "refund": "refund reimburs",
    "order": "order buy purchas",
    "end": "end hang goodby terminat disconnect finish",
    "transfer": "transf escalat handov",
    "parcel": "parcel packag ship deliv consign",
    "person": "guest customer caller patron member client",
    "lookup": "lookup search find query",
}
ACTIONS = frozenset(list(_KINDS)[:11])
# Actions on something that somebody already has.
ON_EXISTING = frozenset({"cancel", "change", "refund", "renew"})
_KIND_OF = {stem: kind for kind, stems in _KINDS.items() for stem in stems.split()}

# They hint at an action without naming it.
_HINTS = {"free": "check", "spac": "check", "slot": "check", "room": "check", "open": "check", "mak": "book"}

_PLAIN_WORDS = """a an the and or but for to of on in at by with from is are was were be been do does did have has had i
    you he she it we they me my your his her its our their this that these those there here can could would will shall
    should may might must please want like need get got give tell let us if whether not no yes so as about any some
    what when who how which time date day number name id today tomorrow new create make add submit set one two three
    four five six seven eight nine ten"""
_STOP = frozenset(_PLAIN_WORDS.split())
_ENDINGS = """abilities ability ations ation ables able ancy ments ment ings ing ions ion als al ers er ies ied ed es s
    e y"""
_SUFFIXES = tuple(_ENDINGS.split())


@dataclass(frozen=True)
class Tool:
    """A function of the session, and the words that speak for it."""

    name: str
    description: str = ""
    parameters: dict[str, Json] = field(default_factory=dict)

    @property
    def properties(self) -> dict[str, dict[str, Json]]:
        found = self.parameters.get("properties")
        known = found if isinstance(found, dict) else {}
        return {name: schema if isinstance(schema, dict) else {} for name, schema in known.items()}

    @property
    def required(self) -> list[str]:
        found = self.parameters.get("required")
        return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []

    @property
    def action(self) -> str | None:
        """What it does: the first action that its name tells, else its description."""
        told = (word for text in (self.name, self.description) for word in ordered_meanings(text))
        return next((word for word in told if word in ACTIONS), None)

    @property
    def ends_call(self) -> bool:
        return "end" in meanings(self.name) and not self.required


def read_tools(raw: list[dict[str, Json]]) -> list[Tool]:
    """The function tools of a session object."""
    return [
        Tool(tool["name"], tool.get("description") or "", tool.get("parameters") or {})
        for tool in raw
        if tool.get("type") == "function"
    ]


def split_words(text: str) -> list[str]:
    """Lower-case words of a sentence or of a name in snake_case or camelCase."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return re.findall(r"[a-z]+(?:['’][a-z]+)?|\d+", spaced.replace("_", " ").lower())


@cache
def stem(word: str) -> str:
    """`word` without its endings, so that book, booking and booked are one."""
    word = re.sub(r"['’].*", "", word)
    shorter = True
    while shorter:
        ending = next((end for end in _SUFFIXES if word.endswith(end) and len(word) - len(end) >= 3), None)
        shorter = ending is not None
        word = word[: -len(ending)] if ending else word
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


@cache
def ordered_meanings(text: str) -> tuple[str, ...]:
    """The kinds of the words in `text`, in order; a word of no kind stands for itself."""
    words = (word for word in split_words(text) if word not in _STOP and len(word) > 1 and not word.isdigit())
    return tuple(_KIND_OF.get(one, one) for one in map(stem, words))


def meanings(text: str) -> frozenset[str]:
    return frozenset(ordered_meanings(text))


def hints(text: str) -> frozenset[str]:
    return frozenset(_HINTS[one] for word in split_words(text) if (one := stem(word)) in _HINTS)


def fit(text: str, tool: Tool) -> float:
    """How well `tool` fits the request in `text`; 2 and more means that it is meant."""
    asked, hinted = meanings(without_refusals(text)), hints(text)
    named, described = meanings(tool.name), meanings(tool.description)
    score = sum(3.0 if word in ACTIONS else 2.0 for word in asked & named)
    score += sum(2.0 if word in ACTIONS else 1.0 for word in (asked & described) - named)
    score += sum(1.0 for word in (hinted - asked) & (named | described))
    score += sum(0.5 for word in asked & _parameter_words(tool) - named - described)
    wanted = next((word for word in ordered_meanings(without_refusals(text)) if word in ACTIONS), None)
    if wanted in ON_EXISTING and tool.action not in (wanted, None):
        return score - 6.0  # "change my booking" asks for no new booking
    actions = (asked | hinted) & ACTIONS
    if tool.action and actions and tool.action not in actions:
        score -= 3.0
    if (tool.action in ON_EXISTING or tool.action == "transfer") and tool.action not in asked:
        score -= 2.5
    return score


def without_refusals(text: str) -> str:
    """`text` without what the caller does not want: "don't cancel it" asks for no cancellation."""
    return re.sub(r"\b(?:do not|don['’]t|never|not to|without)\s+(?:\w+\s+)?\w+", " ", text, flags=re.IGNORECASE)


def _parameter_words(tool: Tool) -> frozenset[str]:
    words: frozenset[str] = frozenset()
    for name, schema in tool.properties.items():
        words |= meanings(name) | meanings(str(schema.get("description", "")))
        for value in schema.get("enum", ()):
            words |= meanings(str(value))
    return words
