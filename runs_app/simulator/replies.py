"""The clerk's words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from runs_app.simulator.kinds import kind_of, label, phrase, say_value
from runs_app.simulator.tool_fit import Tool
from runs_app.simulator.wire import Json

NOT_CAUGHT = "Sorry, I did not catch that. Could you say it again?"
STILL_THERE = "Are you still there?"
GREETING = "Hello, how can I help you?"
WELCOME = "You are welcome. Is there anything else?"
GOODBYE = "Thank you for calling. Goodbye."
UNKNOWN_FACT = "I am sorry, I do not have that information."
NOT_UNDERSTOOD = "I am sorry, I cannot help with that here. What else can I do for you?"
LEFT_ALONE = "All right, I leave everything as it is. Is there anything else?"
ONE_MOMENT = "Of course, one moment."
TOO_EARLY = "All right, that is done for you."
TO_A_PERSON = "I am putting you through to a colleague."

_DONE = {
    "book": "It is booked",
    "cancel": "It is cancelled",
    "change": "It is changed",
    "renew": "It is renewed",
    "borrow": "It is lent to you",
    "refund": "The refund is made",
    "order": "It is ordered",
    "check": "I have checked",
    "track": "Here is what I see",
    "transfer": TO_A_PERSON.rstrip("."),
}
_SHALL = {
    "book": "book it",
    "cancel": "cancel it",
    "change": "change it",
    "renew": "renew it",
    "borrow": "lend it to you",
    "refund": "refund it",
    "order": "order it",
}
UNKNOWN = "unknown"  # what the clerk fills in for a required parameter that it did not hear
_FLAGS = {"ok", "success", "available", "status_code"}
_OTHERS = ("alternatives", "alternative", "other_times", "other_dates", "next_free", "next_available")


@dataclass(frozen=True)
class Style:
    """How a success is told. `read_back`: with every detail that was used; `brief`: with its number alone;
    `only_told`: what a tool did not confirm is not said to be done."""

    read_back: bool = False
    brief: bool = False
    only_told: bool = False


class Result:
    """A tool's output, read: `error` in words if it failed, `details` by name, or plain `text`."""

    def __init__(self, output: str) -> None:
        self.error: str | None = None
        self.text: str | None = None
        self.details: dict[str, Json] = {}
        try:
            value = json.loads(output)
        except ValueError:
            looks_broken = output.lstrip()[:1] in ("{", "[")
            self.error = "the system's answer could not be read" if looks_broken else None
            self.text = None if looks_broken else output.strip()
            return
        if isinstance(value, dict):
            self._read(value)
        else:
            self.text = say_value(value)

    @property
    def available(self) -> bool | None:
        """What a check found; None when the output does not say."""
        found = self.details.get("available")
        return found if isinstance(found, bool) else None

    def _read(self, value: dict[str, Json]) -> None:
        error = value.get("error")
        refused = value.get("ok") is False or value.get("success") is False
        if error or refused:
            reason = error.get("message", error) if isinstance(error, dict) else error
            reason = reason if isinstance(reason, str) else value.get("message") or value.get("reason")
            self.error = str(reason).rstrip(".") if reason else "the system refused it and gave no reason"
        self.details = value


def ask_for(names: list[str]) -> str:
    """The question for what the caller has not said."""
    return f"May I have the {_listed([label(name) for name in names])}, please?"


def refuse(what: str | None) -> str:
    thing = f" with {what}" if what else ""
    return f"I am sorry, I cannot help{thing}: only the verified owner may ask for that."


def relay_error(error: str) -> str:
    return f"I am sorry, that did not work: {error}."


def shall_i(tool: Tool, values: dict[str, Json]) -> str:
    """The question before something is done."""
    what = _SHALL.get(tool.action or "", "do it")
    return f"Shall I {what}: {_phrases(values)}?" if values else f"Shall I {what}?"


def not_available(arguments: dict[str, Json], details: dict[str, Json], *, brief: bool = False) -> str:
    reason = details.get("reason") or details.get("message")
    more = f" {str(reason).rstrip('.')}." if reason else ""
    if brief:
        return f"I am sorry, that is not available.{more}"
    return f"I am sorry, there is nothing available {_phrases(arguments)}.{more} I have not booked anything."


def alternatives(details: dict[str, Json]) -> str:
    """An offer of what the tool named in place of the wish, or the question what else would do."""
    others = next((details[name] for name in _OTHERS if details.get(name)), None)
    if others is None:
        return "Would another day or time suit you?"
    said = [say_value(one) for one in others] if isinstance(others, list) else [say_value(others)]
    return f"I can offer {_listed(said, 'or')} instead. Would that suit you?"


def available(arguments: dict[str, Json], details: dict[str, Json]) -> str:
    told = {name: value for name, value in details.items() if name not in _FLAGS and name not in arguments}
    more = f" {_sentence(_phrases(told))}." if told else ""
    return f"Yes, that is available {_phrases(arguments)}.{more}"


def success(tool: Tool | None, arguments: dict[str, Json], result: Result, style: Style) -> str:
    """What came of a call, with its details. What nothing confirmed is believed unless the style forbids it."""
    head = _DONE.get(tool.action or "", "Done") if tool else "Done"
    heard = {name: value for name, value in arguments.items() if value != UNKNOWN}
    known = heard if style.read_back else {}
    if result.text is not None:
        told = f"{head}: {result.text.rstrip('.')}." if result.text else f"{head}."
    elif not result.details:
        if style.only_told:
            return "The system gave nothing back, so I cannot confirm that it is done."
        return f"{head}: {_phrases(heard)}." if heard else f"{head}."
    else:
        # What is read back is not said twice.
        details = {name: value for name, value in result.details.items() if not _is_flag(name, value)}
        news = _phrases(_short(details) if style.brief else _new(details, known))
        told = f"{head}: {news}." if news else f"{head}."
    return f"{told} I read it back: {_phrases(known)}." if known else told


def _new(details: dict[str, Json], known: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in details.items() if known.get(name) != value}


def _short(details: dict[str, Json]) -> dict[str, Json]:
    """The number that the system gave, or the first detail where there is none."""
    numbers = {name: value for name, value in details.items() if kind_of(name, {}) == "id"}
    return dict([*(numbers or details).items()][:1])


def state_fact(name: str, value: Json) -> str:
    """A fact as a sentence: its own if it is one, else "The closing time is 10 p.m."."""
    said = say_value(value)
    if isinstance(value, str) and len(said.split()) > 4:
        return f"{_sentence(said.rstrip('.'))}."
    return f"The {label(name)} is {said.rstrip('.')}."


def _is_flag(name: str, value: Json) -> bool:
    return name in _FLAGS or value is True or value is None


def _phrases(values: dict[str, Json]) -> str:
    return ", ".join(phrase(name, value) for name, value in values.items() if value is not None)


def _listed(words: Iterable[str], last: str = "and") -> str:
    words = list(words)
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
