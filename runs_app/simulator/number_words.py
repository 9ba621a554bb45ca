"""English numbers in words and digits: "twenty-seven", "one hundred and five", "the sixth", "four four seven one"."""

from __future__ import annotations

import re

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""

UNITS = {word: value for value, word in enumerate(_UNITS.split())}
TENS = {word: 10 * value for value, word in enumerate(_TENS.split(), start=2)}
ORDINALS = {word: value for value, word in enumerate(_ORDINALS.split(), start=1)} | {"thirtieth": 30}
_DIGIT_WORDS = {word: str(value) for word, value in UNITS.items() if value < 10} | {"oh": "0", "o": "0"}

_unit = "|".join(sorted(UNITS, key=len, reverse=True))
_small = "|".join(word for word, value in UNITS.items() if 0 < value < 10)
_ten = "|".join(TENS)
_below_100 = rf"(?:(?:{_ten})(?:[ -](?:{_small}))?|{_unit})"
_below_1000 = rf"(?:{_below_100}(?: hundred(?:(?: and)? {_below_100})?)?)"
_ordinal = "|".join(sorted(ORDINALS, key=len, reverse=True))

# Pieces of patterns, to be used with re.IGNORECASE; none of them has a group.
WORDS = rf"(?:{_below_1000}(?: thousand(?:(?: and)? {_below_1000})?)?)\b"
NUMBER = rf"(?:\d+\b|{WORDS})"
ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)\b|(?:(?:twenty|thirty)[ -])?(?:{_ordinal})\b)"
DIGIT = rf"(?:\d\b|(?:{'|'.join(_DIGIT_WORDS)})\b)"

_NUMBER = re.compile(NUMBER, re.IGNORECASE)


def number_of(text: str) -> int:
    """The value of digits or number words ("105", "one hundred and five"). ValueError when it is neither."""
    text = text.strip().lower()
    if text.isdecimal():
        return int(text)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"not a number: {text!r}")
    total = part = 0
    for word in re.split(r"[ -]", text):
        if word == "hundred":
            part *= 100
        elif word == "thousand":
            total, part = total + part * 1000, 0
        elif word != "and":
            part += UNITS.get(word, TENS.get(word, 0))
    return total + part


def ordinal_of(text: str) -> int:
    """The value of "6th", "sixth" or "twenty-first". ValueError when it is none of these."""
    text = text.strip().lower()
    if found := re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)", text):
        return int(found.group(1))
    head, _, tail = text.replace("-", " ").rpartition(" ")
    if tail not in ORDINALS:
        raise ValueError(f"not an ordinal number: {text!r}")
    return TENS.get(head, 0) + ORDINALS[tail]


def digits_of(text: str) -> str:
    """Digits read out one by one, or a number: "four four seven one" is "4471", "one hundred" is "100"."""
    words = [word for word in re.split(r"[\s,.-]+", text.strip().lower()) if word]
    if len(words) > 1 and all(word in _DIGIT_WORDS or word.isdecimal() for word in words):
        return "".join(_DIGIT_WORDS.get(word, word) for word in words)
    return text.strip() if text.strip().isdecimal() else str(number_of(text))
