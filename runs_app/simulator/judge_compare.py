"""Comparing what was named: when two mentions are the same thing, and what a sentence asks of a reply."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from runs_app.simulator.calendar_words import MONTHS, WEEKDAYS
from runs_app.simulator.entities import Mention, entities
from runs_app.simulator.judge_evidence import Execution, Json
from runs_app.simulator.polarity import asks, claimed_actions, denies

_AGENT_MUST_NOT = re.compile(
    r"\b(?:must not|mustn[’']t|should not|shouldn[’']t|does not|doesn[’']t|do not|never|is not to|may not|avoids?|"
    r"without)\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(r"[^.?!]*\b(?:anything else|else I can|help you|may I help|how can I)\b[^.?!]*\?", re.IGNORECASE)
_CONFIRMS = re.compile(r"\bconfirm(?:s|ed|ation|ing)?\b", re.IGNORECASE)
_ACT = re.compile(r"\b(?:book|reserv|cancel|chang|mov|creat|claim|confirm|call|act)\w*", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\d])")
_WORD = re.compile(r"[a-z]{3,}")
_PLAIN = """the and for with that this from you your our are was has have had its can will would should could say says
said tell tells caller agent assistant guest reply answer answers about them they not but him her his she any all gives
give mentions explains states informs inform there here who what when which does must may one into than then only also
just please thank thanks sorry"""
_PLAIN_WORDS = frozenset(_PLAIN.split())
NUMERIC = ("count", "quantity", "number")


@dataclass(frozen=True)
class Demand:
    """What one sentence asks of the reply. `wanted` holds alternatives: each group is met by any of its members."""

    sentence: str
    wanted: tuple[tuple[Mention, ...], ...] = ()
    forbidden: tuple[Mention, ...] = ()
    asks: bool = False
    denies: bool = False
    confirms: bool = False
    must_not_ask: bool = False
    must_not_act: bool = False

    @property
    def empty(self) -> bool:
        return self == Demand(self.sentence)


def demands(expected: str, criteria: Iterable[str], reference_date: date | None) -> tuple[Demand, ...]:
    """The expected answer as one demand, then one for each sentence of the criteria."""
    found = [_demand(expected, reference_date)] if expected.strip() else []
    for criterion in criteria:
        for sentence in _SENTENCE.split(criterion.strip()):
            limit = _AGENT_MUST_NOT.search(sentence)
            if limit and not denies(sentence[: limit.start()]):
                found.append(_limit(sentence, limit, reference_date))
            elif sentence:
                found.append(_demand(sentence, reference_date))
    return tuple(found)


def _demand(text: str, reference_date: date | None) -> Demand:
    named = entities(text, reference_date=reference_date)
    wanted = [each for each in named if not each.negated]
    without_courtesy = _COURTESY.sub("", text)
    says_no = denies(text)
    return Demand(
        sentence=text,
        wanted=_alternatives(text, wanted),
        forbidden=tuple(each for each in named if each.negated),
        asks=asks(without_courtesy),
        denies=says_no,
        confirms=not says_no and not asks(without_courtesy) and confirms(text),
    )


def _limit(text: str, limit: re.Match[str], reference_date: date | None) -> Demand:
    """A sentence such as "Does not book August 7": what stands before the limit is wanted, the rest forbidden."""
    named = entities(text, reference_date=reference_date)
    rest = text[limit.end() :]
    return Demand(
        sentence=text,
        wanted=_alternatives(text, [each for each in named if each.end <= limit.start()]),
        forbidden=tuple(each for each in named if each.start >= limit.start()),
        must_not_ask=bool(re.match(r"\s*ask", rest)) and not re.search(r"\bask(?:ing)?\b", text[: limit.start()]),
        # "Does not confirm August 7" forbids the day, "does not claim a booking" the claim.
        must_not_act=bool(_ACT.search(rest)) and not any(each.start >= limit.start() for each in named),
    )


def _alternatives(text: str, wanted: list[Mention]) -> tuple[tuple[Mention, ...], ...]:
    groups: list[list[Mention]] = []
    for each in wanted:
        last = groups[-1][-1] if groups else None
        if last and last.kind == each.kind and re.search(r"\bor\b", text[last.end : each.start]):
            groups[-1].append(each)
        else:
            groups.append([each])
    return tuple(tuple(group) for group in groups)


def confirms(text: str) -> bool:
    """Whether the words say that something was done."""
    return bool(claimed_actions(text)) or (bool(_CONFIRMS.search(text)) and not asks(text) and not denies(text))


def same(a: Mention, b: Mention) -> bool:
    """Whether two mentions name the same thing; a part that one of them leaves open is no difference."""
    if a.kind in NUMERIC and b.kind in NUMERIC:
        return a.value == b.value
    if a.kind != b.kind:
        return False
    return _SAME[a.kind](a, b) if a.kind in _SAME else a.value == b.value


def _same_date(a: Mention, b: Mention) -> bool:
    first, second = str(a.value), str(b.value)
    for day, other in ((first, second), (second, first)):
        if day in WEEKDAYS and re.fullmatch(r"\d{4}-\d{2}-\d{2}", other):
            return WEEKDAYS[date.fromisoformat(other).weekday()] == day
    if not (first[-2:].isdecimal() and second[-2:].isdecimal()):
        return first == second
    length = min(len(first.lstrip("-")), len(second.lstrip("-")))
    return first[-length:] == second[-length:]


def _same_time(a: Mention, b: Mention) -> bool:
    if a.value == b.value:
        return True
    (hour, minute), (other, other_minute) = (str(each.value).split(":") for each in (a, b))
    return (a.guessed or b.guessed) and minute == other_minute and (int(hour) - int(other)) % 12 == 0


def _same_name(a: Mention, b: Mention) -> bool:
    first, second = (set(re.findall(r"\w+", str(each.value).casefold())) for each in (a, b))
    return first <= second or second <= first


def _same_id(a: Mention, b: Mention) -> bool:
    first, second = (re.sub(r"\W", "", str(each.value)).upper() for each in (a, b))
    return first == second or (
        (first.isdecimal() or second.isdecimal())
        and first[-3:] == second[-3:]
        and (first.endswith(second) or second.endswith(first))
    )


def _same_phone(a: Mention, b: Mention) -> bool:
    first, second = (str(each.value).lstrip("+") for each in (a, b))
    return first.endswith(second) or second.endswith(first)


_SAME = {"date": _same_date, "time": _same_time, "name": _same_name, "id": _same_id, "phone": _same_phone}


def mentions_of(call: Execution, reference_date: date | None) -> tuple[Mention, ...]:
    """What the arguments of a tool call name, by their text and by their keys."""
    found: list[Mention] = []
    _collect(call.arguments, "", reference_date, found)
    return tuple(found)


def _collect(value: Json, key: str, reference_date: date | None, found: list[Mention]) -> None:
    if isinstance(value, dict):
        for name, each in value.items():
            _collect(each, str(name), reference_date, found)
    elif isinstance(value, list):
        for each in value:
            _collect(each, key, reference_date, found)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        kind = "count" if re.search(r"party|people|guest|person|size|seats|adults", key) else "number"
        found.append(Mention(kind, value, f"{key} {value}", 0, 0))  # type: ignore[arg-type]
    elif isinstance(value, str) and value.casefold() != "unknown":
        named = entities(value, reference_date=reference_date)
        if not named and "name" in key:
            named = (Mention("name", value, value, 0, len(value)),)
        found.extend(named)


def in_words(mention: Mention) -> str:
    """A mention for a person to read: "August 6", "7 p.m.", "4 people", "R-100"."""
    value = str(mention.value)
    if mention.kind == "date" and (found := re.fullmatch(r"(?:(\d{4})|-)-(\d\d)-(\d\d)", value)):
        year = f", {found[1]}" if found[1] else ""
        return f"{MONTHS[int(found[2]) - 1].title()} {int(found[3])}{year}"
    if mention.kind == "time":
        hour, minute = int(value[:2]), value[3:]
        return f"{hour % 12 or 12}{'' if minute == '00' else ':' + minute} {'p.m.' if hour >= 12 else 'a.m.'}"
    if mention.kind == "count":
        return f"{value} {'person' if mention.value == 1 else 'people'}"
    return f"{value} {mention.unit}".strip() if mention.kind in ("quantity", "money") else value


def shared_words(expected: str, said: str) -> float:
    """The share of the telling words of `expected` that `said` has too, 0 to 1; 1 when there are none to compare."""
    wanted = _stems(expected)
    return len(wanted & _stems(said)) / len(wanted) if wanted else 1.0


def _stems(text: str) -> set[str]:
    words = (word for word in _WORD.findall(text.lower()) if word not in _PLAIN_WORDS)
    return {re.sub(r"(?:ing|ed|es|s|ation|ions?)$", "", word) or word for word in words}
