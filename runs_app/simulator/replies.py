"""The clerk's words."""

from __future__ import annotations

import json
from collections.abc import Iterable

from runs_app.simulator.kinds import label, phrase, say_value
from runs_app.simulator.tool_fit import Tool
from runs_app.simulator.wire import Json

NOT_CAUGHT = "Sorry, I did not catch that. Could you say it again?"
GREETING = "Hello, how can I help you?"
WELCOME = "You are welcome. Is there anything else?"
GOODBYE = "Thank you for calling. Goodbye."
UNKNOWN_FACT = "I am sorry, I do not have that information."
NOT_UNDERSTOOD = "I am sorry, I cannot help with that here. What else can I do for you?"

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
}
UNKNOWN = "unknown"  # what the clerk fills in for a required parameter that it did not hear
_FLAGS = {"ok", "success", "available", "status_code"}


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


def not_available(arguments: dict[str, Json], details: dict[str, Json]) -> str:
    reason = details.get("reason") or details.get("message")
    more = f" {str(reason).rstrip('.')}." if reason else ""
    return f"I am sorry, there is nothing available {_phrases(arguments)}.{more} I have not booked anything."


def available(arguments: dict[str, Json], details: dict[str, Json]) -> str:
    told = {name: value for name, value in details.items() if name not in _FLAGS and name not in arguments}
    more = f" {_sentence(_phrases(told))}." if told else ""
    return f"Yes, that is available {_phrases(arguments)}.{more}"


def success(tool: Tool | None, arguments: dict[str, Json], result: Result, *, read_back: bool) -> str:
    """What came of a call, with its details; with `read_back` every detail that was used is said as used."""
    head = _DONE.get(tool.action or "", "Done") if tool else "Done"
    known = {name: value for name, value in arguments.items() if value != UNKNOWN} if read_back else {}
    if result.text is not None:
        told = f"{head}: {result.text.rstrip('.')}." if result.text else f"{head}."
    elif not result.details:
        return "The system gave nothing back, so I cannot confirm that it is done."
    else:
        # What is read back is not said twice.
        details = {name: value for name, value in result.details.items() if not _is_flag(name, value)}
        news = _phrases({name: value for name, value in details.items() if known.get(name) != value})
        told = f"{head}: {news}." if news else f"{head}."
    return f"{told} I read it back: {_phrases(known)}." if known else told


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


def _listed(words: Iterable[str]) -> str:
    words = list(words)
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
