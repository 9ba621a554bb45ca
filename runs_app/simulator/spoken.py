"""How written words are read aloud: clock times, phone numbers, ids and addresses, before the voice sees them.

hibari reads dates, money, ordinals and a.m. or p.m. well by itself; what is here are the forms it stumbles over.
"""

from __future__ import annotations

import re

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_ISO_MOMENT = re.compile(r"\b(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?\b")
_CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?![\d:])(\s*[ap]\.?\s?m\b)?", re.IGNORECASE)
_EMAIL = re.compile(r"\b([\w.+-]+)@([\w-]+(?:\.[\w-]+)+)\b")
_PHONE = re.compile(
    r"(?<![\w-])(?:\+\d|\(\d{3}\)\s?\d)[\d ().-]{5,}\d(?![\w-])|(?<![\w-])\d{3}[ -]\d{3}[ -]\d{4}(?![\w-])"
)
_ID = re.compile(r"(?<![\w-])([A-Z]{1,4})[-#](\d{1,10})(?![\w-])")
_CODE = re.compile(r"(?<![\w-])(?=[A-Z0-9-]*[A-Z])(?=[A-Z0-9-]*\d)[A-Z0-9]{4,12}(?:-[A-Z0-9]{1,12})*(?![\w-])")
_SPACE = re.compile(r"\s+")


def spoken(text: str) -> str:
    """`text` as a person would say it: "R-100" becomes "R 100", "19:00" "7 p.m.", phone numbers go digit by digit."""
    text = _ISO_MOMENT.sub(r"\1 at \2", text)
    text = _EMAIL.sub(_say_email, text)
    text = _PHONE.sub(lambda found: _say_phone(found.group()), text)
    text = _CLOCK.sub(_say_clock, text)
    text = _ID.sub(lambda found: f"{_say_letters(found.group(1))} {_say_number(found.group(2))}", text)
    text = _CODE.sub(lambda found: _say_code(found.group()), text)
    return _SPACE.sub(" ", text).strip()


def _say_clock(found: re.Match[str]) -> str:
    hour, minute, half = int(found.group(1)), found.group(2), found.group(3)
    if half:
        return f"{hour}{'' if minute == '00' else ':' + minute}{half}"
    if minute == "00" and hour in (0, 24):
        return "midnight"
    if minute == "00" and hour == 12:
        return "noon"
    half = " p.m." if 12 <= hour < 24 else " a.m."
    hour = hour % 12 or 12
    return f"{hour}{'' if minute == '00' else ':' + minute}{half}"


def _say_phone(number: str) -> str:
    groups = re.findall(r"\d+", number)
    said = ", ".join(" ".join(DIGITS[int(digit)] for digit in group) for group in groups)
    return f"plus {said}" if number.lstrip("(").startswith("+") else said


def _say_email(found: re.Match[str]) -> str:
    user = (
        found.group(1).replace(".", " dot ").replace("_", " underscore ").replace("+", " plus ").replace("-", " dash ")
    )
    return f"{user} at {found.group(2).replace('.', ' dot ')}"


def _say_letters(letters: str) -> str:
    # A lone capital A would be read as the article.
    return " ".join("Ay" if letter == "A" else letter for letter in letters)


def _say_number(digits: str) -> str:
    """Round hundreds and short numbers as numbers, longer ones digit by digit, as people read out an id."""
    short = len(digits) <= 2 or (len(digits) == 3 and digits.endswith("00"))
    if short and not digits.startswith("0"):
        return digits
    return " ".join(DIGITS[int(digit)] for digit in digits)


def _say_code(code: str) -> str:
    if re.fullmatch(r"\d+(?:ST|ND|RD|TH|AM|PM)", code):
        return code
    return " ".join(DIGITS[int(c)] if c.isdigit() else _say_letters(c) for c in code.replace("-", ""))
