"""Choices, flags and free words in what a caller says."""

from __future__ import annotations

import re

from runs_app.simulator.tool_fit import split_words, stem
from runs_app.simulator.wire import Json

_NOT_BEFORE = re.compile(
    r"\b(?:not|no|never|don['’]t|do not|without|instead of|rather than)(?:\s+\w+){0,3}\s*$", re.IGNORECASE
)
_QUOTED = re.compile(r"[“\"‘']([^”\"’']{2,80})[”\"’'](?=[\s.,;!?]|$)")
_CAPITALISED = r"[A-Z][\w'’-]*(?:\s+(?:(?:of|the|and|in|a|an|to)\s+){0,2}[A-Z][\w'’-]*)*"
_TITLE = re.compile(rf"\b(?:called|titled|named|entitled|book|novel|film|song|copy of)\s+({_CAPITALISED})")
_WITH_ARTICLE = re.compile(rf"\b((?:The|A|An)\s+{_CAPITALISED})")
_REASON = re.compile(r"\b(?:because|since|the reason is(?: that)?)\s+([^.;!?]+)", re.IGNORECASE)
_ABOUT = re.compile(r"\b(?:about|regarding|concerning)\s+(?:the |your |my )?([^.,;!?]+)", re.IGNORECASE)
_ADDRESS = re.compile(r"\b(?:to|at|in|is)\s+(\d+\s+[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*(?:,\s*[A-Z][\w'’-]+)*)")
_PLACE = re.compile(r"\b(?:in|to|from|at|near)\s+((?:[A-Z][\w'’-]+)(?:\s+[A-Z][\w'’-]+)*)")

_TITLES = {"title", "book", "novel", "film", "movie", "song", "item", "product"}
_REASONS = {"reason", "cause", "why"}
_TOPICS = {
    "topic",
    "subject",
    "query",
    "question",
    "message",
    "request",
    "text",
    "search",
    "problem",
    "issue",
    "description",
}
_ADDRESSES = {"address", "destination", "street"}
_PLACES = {"city", "town", "place", "location", "branch", "country", "store", "origin"}
_PLAIN_ENOUGH = 12


def choice_in(text: str, choices: list[Json], *, last: bool) -> Json:
    """The choice whose words were said: the first one, or with `last` the last one."""
    said = [(match.start(), stem(match.group().lower())) for match in re.finditer(r"[\w'’]+", text)]
    found: list[tuple[int, Json]] = []
    for choice in choices:
        wanted = [stem(word) for word in split_words(str(choice))]
        for number in range(len(said) - len(wanted) + 1):
            start = said[number][0]
            if (
                wanted
                and [word for _, word in said[number : number + len(wanted)]] == wanted
                and not _negated(text, start)
            ):
                found.append((start, choice))
    found.sort(key=lambda one: one[0])
    return found[-1 if last else 0][1] if found else None


def flag_in(text: str, name: str) -> bool | None:
    """True when the words of the flag's name were said, False when they were said with a "no" or "not"."""
    wanted = {
        stem(word)
        for word in split_words(name)
        if word not in ("is", "has", "with", "include", "needs", "want", "wants")
    }
    for match in re.finditer(r"[\w'’]+", text):
        if stem(match.group().lower()) in wanted:
            return not _negated(text, match.start())
    return None


def text_in(text: str, name: str, *, whole: bool) -> str | None:
    """Free words for a parameter such as a title, a reason, a topic or an address.

    `whole`: when a required text is nowhere to be seen, a topic or a message is all that the caller said.
    """
    words = set(split_words(name))
    found = _named(text, name) or _by_words(text, words)
    if found is None and words & _TOPICS and whole:
        return text.strip()
    return found


def _by_words(text: str, words: set[str]) -> str | None:
    tests = (
        (_TITLES, (_QUOTED, _TITLE, _WITH_ARTICLE)),
        (_REASONS, (_REASON,)),
        (_TOPICS, (_QUOTED, _ABOUT)),
        (_ADDRESSES, (_ADDRESS, _PLACE)),
        (_PLACES, (_PLACE,)),
    )
    for known, patterns in tests:
        if words & known:
            return next((match.group(1).strip() for pattern in patterns if (match := pattern.search(text))), None)
    return None


def _named(text: str, name: str) -> str | None:
    """ "the colour is red", "colour: red"."""
    label = r"[\s_-]*".join(map(re.escape, split_words(name)))
    match = re.search(rf"\b{label}\b\s*(?:is|should be|would be|:|=)\s*([^.,;!?]+)", text, re.IGNORECASE)
    said = match.group(1).strip() if match else ""
    return said if said and len(said.split()) <= _PLAIN_ENOUGH else None


def _negated(text: str, start: int) -> bool:
    return bool(_NOT_BEFORE.search(text[:start]))
