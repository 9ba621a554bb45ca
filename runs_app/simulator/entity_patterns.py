"""Patterns for what is neither a date nor a time: ids, phone numbers, money, people, names, quantities, numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from runs_app.simulator.calendar_words import MONTHS, WEEKDAYS
from runs_app.simulator.number_words import DIGIT, NUMBER, TENS, UNITS, digits_of, number_of


@dataclass(frozen=True)
class Found:
    """One finding before it is known whether it overlaps a better one."""

    kind: str
    value: str | int | float
    start: int
    end: int
    unit: str = ""
    guessed: bool = False

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


_ID_CUE = (
    r"(?:reservation|booking|order|reference|confirmation|ticket|parcel|package|tracking|account|customer|"
    r"member(?:ship)?|case|invoice|code|id|card|shipment|loan|flight|policy|claim)"
)
_digits = rf"{DIGIT}(?:[\s,-]{{1,2}}{DIGIT})+"
_name_word = r"[^\W\d_a-z][^\W\d_]*(?:[’'-][^\W\d_]+)*"
_name = rf"{_name_word}(?: {_name_word}){{0,2}}"
_PEOPLE = r"(?:people|persons?|guests?|adults|of us|seats|diners|covers|pax)"
_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "dollar": "USD", "euro": "EUR", "pound": "GBP"}

_LETTER_ID = (
    rf"(?P<cue>\b{_ID_CUE}(?: (?:number|id|code))?(?: is)? )?(?<![\w'’-])(?P<letters>(?-i:[A-Z]))(?: dash| hyphen)?"
    rf"[ -](?P<number>{_digits}|{NUMBER})(?!\s*(?:people|persons?|of us|[ap]\.?m\b))"
)
_NUMBERED = (
    rf"\b{_ID_CUE}(?: (?:number|id|code|no\.?))?(?: is|:)?,? #?(?P<number>{_digits}|\d{{2,}}\b)"
    r"(?!\s*(?:people|[ap]\.?m))"
)

# Capitalised words that are no names.
_NO_NAMES = {
    *MONTHS, *WEEKDAYS, "i", "the", "a", "an", "it", "is", "this", "that", "today", "tomorrow", "tonight", "yes", "no",
    "not", "sorry", "please", "thanks", "thank", "hello", "hi", "what", "which", "when", "how", "my", "your", "our",
    "we", "you", "dinner", "lunch", "breakfast", "noon", "midnight", "here", "there", "and", "or", "on", "at", "for",
    "under", "actually", "instead", "could", "can", "do", "does", "if", "in", "but", "reservation", "table", "me",
    "id", "ok", "okay", "everyone", "all", "any", "two", "three", "four", "one", "calling", "looking", "afraid", "just",
}  # fmt: skip
# Words after a number that are not what it counts.
_NO_NOUNS = {
    *_NO_NAMES,
    *UNITS,
    *TENS,
    "of",
    "to",
    "past",
    "am",
    "pm",
    "with",
    "from",
    "by",
    "percent",
    "hundred",
}
_EXPLICIT_NAME = (
    r"(?:(?:my |the |her |his |guest |caller |customer )?name(?: is|['’]s|:)|(?:under|in|by) the name(?: of)?|"
    r"names? of|call me)"
)
_NAME_CUE = (
    r"(?:for|under|this is|i am|i['’]m|with|called|named|guest|it['’]s|to|mrs?\.?|ms\.?|dr\.?|dear|thank you,|"
    r"hello,?|hi,?|of|by)"
)
_AFTER_COUNT = (
    r"(?=\s*(?:[.,;!?]|$|\b(?:on|at|in|under|this|tomorrow|tonight|today|for|please|not|with|by|next|and|near|"
    r"sorry|actually|no|or|instead|but|is|people)\b|[-–—]\s))(?!\s+in the (?:morning|evening|afternoon))"
)


def claims_in(text: str, which: Literal["first", "rest"]) -> Iterator[Found]:
    """Findings in order of trust: "first" are those that dates and times must not eat, "rest" the others."""
    for pattern, read in _FIRST if which == "first" else _REST:
        for found in pattern.finditer(text):
            finding = read(found)
            if finding is not None:
                yield finding


def bare_name(text: str, start: int) -> Found | None:
    """A capitalised name that stands at `start`."""
    found = re.compile(rf"(?P<name>{_name})").match(text, start)
    return _read_name(found) if found else None


def _email(found: re.Match[str]) -> Found:
    return Found("email", found.group().lower(), *found.span())


def _phone(found: re.Match[str]) -> Found | None:
    digits = re.sub(r"\D", "", found.group())
    plus = "+" if found.group().lstrip("(").startswith("+") else ""
    return Found("phone", plus + digits, *found.span()) if 7 <= len(digits) <= 15 else None


def _spoken_phone(found: re.Match[str]) -> Found | None:
    digits = digits_of(found["digits"])
    plus = "+" if found["plus"] else ""
    return Found("phone", plus + digits, *found.span()) if 7 <= len(digits) <= 15 else None


def _id(found: re.Match[str]) -> Found:
    return Found("id", f"{found[1].upper()}-{found[2]}", *found.span(0))


def _code(found: re.Match[str]) -> Found | None:
    if re.fullmatch(r"\d+(?:ST|ND|RD|TH|AM|PM|S)|\d{4}-\d{2}-\d{2}T\d+", found.group()):
        return None
    return Found("id", found.group(), *found.span())


def _spoken_id(found: re.Match[str]) -> Found | None:
    letters = found["letters"].upper()
    if letters in ("A", "I") and not found["cue"]:
        return None
    return Found("id", f"{letters}-{digits_of(found['number'])}", found.start("letters"), found.end("number"))


def _numbered(found: re.Match[str]) -> Found:
    return Found("id", digits_of(found["number"]), *found.span("number"))


def _money(found: re.Match[str]) -> Found:
    amount = found["amount"].replace(",", "")
    word = (found.groupdict().get("sign") or found.groupdict().get("word") or "").lower().rstrip("s")
    value = float(amount) if "." in amount else number_of(amount)
    return Found("money", value, *found.span(), unit=_CURRENCIES[word])


def _count(found: re.Match[str]) -> Found | None:
    value = 1 if found.groupdict().get("number") is None else number_of(found["number"])
    return Found("count", value, *found.span(), unit="people") if 0 < value < 1000 else None


def _read_name(found: re.Match[str]) -> Found | None:
    words = found["name"].split()
    kept = next((n for n, word in enumerate(words) if _is_no_name(word)), len(words))
    if not kept:
        return None
    name = " ".join(words[:kept])
    start = found.start("name")
    return Found("name", name if name[0].isupper() else name.title(), start, start + len(name))


def _is_no_name(word: str) -> bool:
    """Sentence starters, months and the like; also their contractions ("I'd", "It's")."""
    return re.split(r"[’']", word.lower())[0] in _NO_NAMES and not re.match(r"[A-Z][’'][A-Z]", word)


def _quantity(found: re.Match[str]) -> Found | None:
    noun = found["noun"].lower()
    if noun in _NO_NOUNS:
        return None
    return Found("quantity", number_of(found["number"]), *found.span(), unit=_singular(noun))


def _singular(noun: str) -> str:
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us")) else noun


def _number(found: re.Match[str]) -> Found:
    text = found.group()
    value = float(text) if "." in text else int(text) if text.lstrip("-").isdecimal() else number_of(text)
    return Found("number", value, *found.span())


def _compile(pattern: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(pattern, flags)


_Read = Callable[[re.Match[str]], Found | None]

_FIRST: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (_compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"), _email),
    (_compile(r"(?<![\w-])\+\d[\d ().-]{5,}\d(?![\w-])"), _phone),
    (_compile(r"(?<![\w-])(?:\(\d{3}\) ?|\d{3}[ -])?\d{3}-\d{4}(?![\w-])"), _phone),
    (_compile(rf"(?P<plus>\bplus )?\b(?P<digits>(?:{DIGIT}[\s,-]{{1,2}}){{6,14}}{DIGIT})"), _spoken_phone),
    (_compile(r"(?<![\w-])([A-Z]{1,5})[-#](\d{1,10})(?![\w-])", 0), _id),
    (_compile(r"(?<![\w-])([A-Z]{1,4})(\d{2,10})(?![\w-])", 0), _id),
    (_compile(r"(?<![\w-])(?=[A-Z0-9-]*[A-Z])(?=[A-Z0-9-]*\d)[A-Z0-9]{4,14}(?:-[A-Z0-9]{1,12})*(?![\w-])", 0), _code),
    (_compile(_LETTER_ID), _spoken_id),
    (_compile(_NUMBERED), _numbered),
    (_compile(rf"\bnumber (?P<number>{_digits}|\d{{3,}}\b)"), _numbered),
    (_compile(r"#(?P<number>\d+)\b"), _numbered),
    (_compile(r"(?P<sign>[$€£])\s?(?P<amount>\d[\d,]*(?:\.\d+)?)"), _money),
    (_compile(rf"\b(?P<amount>\d[\d,]*\.\d+|{NUMBER})\s(?P<word>dollars?|euros?|pounds?)\b"), _money),
    (_compile(rf"\b(?P<number>{NUMBER})[ -](?:\w+ )?{_PEOPLE}\b"), _count),
    (_compile(rf"\b(?:for|of|are|we[’']re|be) (?P<number>{NUMBER}){_AFTER_COUNT}"), _count),
    (_compile(rf"\b(?:party|table|group|family) (?:of|for) (?P<number>{NUMBER})"), _count),
    (_compile(r"\b(?:just|only) (?:me|myself)\b"), _count),
)  # fmt: skip

_REST: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (_compile(rf"\b{_EXPLICIT_NAME} (?P<name>(?-i:{_name})|[^\W\d_]+(?=[\s.,;!?]|$))"), _read_name),
    (_compile(rf"\b{_NAME_CUE} (?P<name>(?-i:{_name}))"), _read_name),
    (_compile(rf"\b(?P<name>(?-i:{_name})) (?:speaking|here)\b"), _read_name),
    (_compile(rf"\b(?P<number>{NUMBER})[ -](?P<noun>[a-z]{{2,}})\b"), _quantity),
    (_compile(rf"(?<![\w.:-])-?\d+\.\d+\b|\b{NUMBER}"), _number),
)
