"""What a text names that can be right or wrong: numbers in digits and in English words, months, ids and addresses.

Coarse on purpose: it is asked whether something was ever known, and a value that is known in any form counts as known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

Json = Any

_ONES: Final = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_ORDINALS: Final = """zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
    thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"""
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENTHS: Final = "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"
_YEAR: Final = "january february march april may june july august september october november december"
MONTHS: Final = tuple(_YEAR.split())

_VALUES: Final = {
    **{word: value for value, word in enumerate(_ONES.split())},
    **{word: value for value, word in enumerate(_ORDINALS.split())},
    **{word: (place + 2) * 10 for place, word in enumerate(_TENS.split())},
    **{word: (place + 2) * 10 for place, word in enumerate(_TENTHS.split())},
}
_TOKEN: Final = re.compile(r"\d+|[^\W\d_]+")
_UNIT: Final = (
    r"people|persons?|guests?|adults?|children|kids|nights?|rooms?|seats?|tickets?|items?|pieces?|o'clock"
    r"|p\.?m\b|a\.?m\b|euros?|dollars?|pounds?"
)
_WORD: Final = "|".join(_VALUES)
_COUNTED: Final = re.compile(rf"\b(\d+|(?:{_WORD})(?:[- ](?:{_WORD}))?)\s+(?:{_UNIT})", re.IGNORECASE)
_HOUR: Final = re.compile(r":|o'clock|[ap]\.?m\b", re.IGNORECASE)
_WRITTEN: Final = re.compile(r"(?<![\w-])\d{2,}(?![\w-])|\b\d{1,2}:\d{2}\b")
_ID: Final = re.compile(r"\b[A-Za-z]{1,5}-?\d{2,}\b")
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
_DAY: Final = re.compile(
    rf"\b(?:({'|'.join(MONTHS)})\s+(?:the\s+)?(\w+)|(?:the\s+)?(\w+)\s+(?:of\s+)?({'|'.join(MONTHS)}))\b", re.IGNORECASE
)
_NAME: Final = re.compile(r"\b(?i:my name is|the name is|i am called|this is)\s+([A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)?)")


def numbers(text: str) -> set[int]:
    """Every number in it, a compound one ("twenty-one") as a whole too, and of a time or a date each part."""
    found: set[int] = set()
    tens = 0
    for token in _TOKEN.findall(text.casefold()):
        value = int(token) if token.isdecimal() and len(token) < 16 else _VALUES.get(token)
        if value is None:
            tens = 0
            continue
        found |= {value, value + tens} if tens and value < 10 else {value}
        tens = value if value in range(20, 100, 10) and not token.isdecimal() else 0
    return found | {int(digits) for digits in _runs(text)}


def _runs(text: str) -> Iterator[str]:
    """Digits in groups, such as a telephone number, as one; and its end, as it is said without the country."""
    for run in re.findall(r"\d[\d\s().-]{5,}\d", text):
        digits = re.sub(r"\D", "", run)
        yield from (digits[-length:] for length in (7, 10, len(digits)) if length <= len(digits) < 16)


def hours(values: set[int]) -> set[int]:
    """The same with each hour in both ways to say it, and the full hour's minutes."""
    early = {value + 12 for value in values if value < 12}
    return {0} | values | early | {value - 12 for value in values if 12 < value < 24}


def is_time(claim: str) -> bool:
    return bool(_HOUR.search(claim))


def months(text: str) -> set[int]:
    """By name, and in ISO dates."""
    named = {MONTHS.index(word) + 1 for word in _TOKEN.findall(text.casefold()) if word in MONTHS}
    return named | {int(month) for month in re.findall(r"\b\d{4}-(\d{2})-\d{2}\b", text)}


def claimed_numbers(text: str) -> Iterator[tuple[str, set[int]]]:
    """Numbers that stand for something, in digits, before a unit, as a day of a month: the words, and all they name."""
    for match in _WRITTEN.finditer(text):
        yield match[0], numbers(match[0])
    for match in _COUNTED.finditer(text):
        if values := numbers(match[1]):
            yield match[0], {max(values)}
    for match in _DAY.finditer(text):
        if values := numbers(match[2] or match[3]):
            yield match[0], {max(values)}


def claimed_codes(text: str) -> Iterator[str]:
    """Ids and mail addresses."""
    for pattern in (_ID, _ADDRESS):
        yield from (match[0] for match in pattern.finditer(text))


def claimed_names(text: str) -> Iterator[str]:
    """Names that somebody gives as such."""
    yield from (match[1] for match in _NAME.finditer(text))


def words(text: str) -> set[str]:
    return set(_TOKEN.findall(text.casefold()))


def plain(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def leaves(value: Json) -> Iterator[str]:
    """Keys and values of any JSON, as texts."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield str(key)
            yield from leaves(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from leaves(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def joined(parts: Iterable[str | None]) -> str:
    return "\n".join(part for part in parts if part)
