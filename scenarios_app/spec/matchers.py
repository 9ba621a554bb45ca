"""Operator objects in expected values: which objects they are and whether they are well formed.

Matching itself is the grading room's. Inside `$exact` nothing is an operator: a key that begins with `$` is data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import phonenumbers
import regex

from scenarios_app.spec.contract import iso_date_problem
from scenarios_app.spec.errors import Problem, SpecError, join_path, path_of
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.wording import kind_of, suggestion

LONGEST_PATTERN = 1000  # characters of a $regex
_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?")
_NUMBER_TEXT = re.compile(r"[+-]?\d+(\.\d+)?")

Check = Callable[[Json, dict[str, Json]], Iterator[tuple[str, str]]]  # (key or "", what is wrong)


@dataclass(frozen=True)
class Operator:
    """`check` looks at operand and options; `nested` when the operand holds further expected values."""

    check: Check
    options: frozenset[str] = field(default_factory=frozenset)
    nested: bool = False


def operator_of(value: Json) -> tuple[str, Json, dict[str, Json]] | None:
    """(operator, operand, options) when `value` is an operator object, None when it is a plain value.
    Raises SpecError for an object that has a `$` key and is no well-formed operator."""
    if not is_operator(value):
        return None
    problems = list(_shape_problems(value))
    if problems:
        raise SpecError(problems)
    name = next(key for key in value if key.startswith("$"))
    return name, value[name], {key: option for key, option in value.items() if key != name}


def is_operator(value: Json) -> bool:
    return isinstance(value, dict) and any(key.startswith("$") for key in value)


def uses_operators(value: Json) -> bool:
    if isinstance(value, dict):
        return is_operator(value) or any(map(uses_operators, value.values()))
    return isinstance(value, list) and any(map(uses_operators, value))


def matcher_problems(value: Json, path: str = "") -> Iterator[Problem]:
    """Everything that is wrong with the operators of an expected value; `path` is where it stands."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from matcher_problems(item, f"{path}[{index}]")
    elif is_operator(value):
        yield from _operator_problems(value, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from matcher_problems(item, join_path(path, path_of([key])))


def _operator_problems(value: dict[str, Json], path: str) -> Iterator[Problem]:
    shape = [problem.under(path) for problem in _shape_problems(value)]
    yield from shape
    if shape:
        return
    name = next(key for key in value if key.startswith("$"))
    options = {key: option for key, option in value.items() if key != name}
    operator = OPERATORS[name]
    wrong = list(operator.check(value[name], options))
    for key, message in wrong:
        yield Problem(join_path(path, key or name), message)
    if operator.nested and not wrong:
        yield from matcher_problems(value[name], join_path(path, name))


def _shape_problems(value: dict[str, Json]) -> Iterator[Problem]:
    names = [key for key in value if key.startswith("$")]
    known = list(OPERATORS)
    for name in names:
        if name not in OPERATORS:
            hint = suggestion(name, known) or f"; known are {', '.join(known)}"
            yield Problem(
                path_of([name]), f'no such operator{hint} (write {{"$exact": ...}} around keys that are data)'
            )
    if len(names) > 1:
        yield Problem("", f"one operator per object, not {' and '.join(names)}")
    elif names[0] in OPERATORS:
        options = OPERATORS[names[0]].options
        for key in value:
            if key != names[0] and key not in options:
                allowed = f"only {', '.join(sorted(options))}" if options else "no other key"
                yield Problem(path_of([key]), f"{names[0]} takes {allowed} beside it")


def _any(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    yield from ()


def _choices(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    if not isinstance(operand, list):
        yield "", f"must be a list, not {kind_of(operand)}"
    elif not operand:
        yield "", "must not be empty: it could never match"


def _items(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    if not isinstance(operand, list):
        yield "", f"must be a list, not {kind_of(operand)}"


def _pattern(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    if not isinstance(operand, str):
        yield "", f"must be text, not {kind_of(operand)}"
    elif len(operand) > LONGEST_PATTERN:
        yield "", f"must have at most {LONGEST_PATTERN} characters"
    else:
        try:
            regex.compile(operand)
        except regex.error as error:
            yield "", f"is not a regular expression: {error}"
        except RecursionError:
            yield "", "is not a regular expression: it is nested too deep"


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _near(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    if not _is_number(operand):
        yield "", f"must be a number, not {kind_of(operand)}"
    if "tolerance" not in options:
        yield "tolerance", "is required: how far from the number is near enough"
    elif not _is_number(options["tolerance"]) or options["tolerance"] < 0:
        yield "tolerance", "must be a number, 0 or more"


def _numeric_text(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    if not _is_number(operand) and not (isinstance(operand, str) and _NUMBER_TEXT.fullmatch(operand)):
        yield "", "must be a number, or a text such as 3 or -2.5"


def _day(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    problem = iso_date_problem(operand) if isinstance(operand, str) else "must be a date such as 2027-05-15"
    if problem:
        yield "", problem


def _clock(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    if not isinstance(operand, str) or not _CLOCK.fullmatch(operand):
        yield "", "must be a time of day such as 19:00 or 19:00:30"


def _phone(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    region = options.get("region")
    if region is not None and (not isinstance(region, str) or region not in phonenumbers.SUPPORTED_REGIONS):
        yield "region", "must be a country in two capital letters, such as US"
    elif not isinstance(operand, str):
        yield "", f"must be text, not {kind_of(operand)}"
    else:
        try:
            phonenumbers.parse(operand, region)
        except phonenumbers.NumberParseException:
            yield "", "is not a phone number; without a region it begins with + and the country's code"


def _true(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    if operand is not True:
        yield "", "must be true; use $present or $absent for the opposite"


def _folded(operand: Json, options: dict[str, Json]) -> Iterator[tuple[str, str]]:
    if not isinstance(operand, str):
        yield "", f"must be text, not {kind_of(operand)}"
    if not isinstance(options.get("nfkc", False), bool):
        yield "nfkc", f"must be true or false, not {kind_of(options['nfkc'])}"


OPERATORS: dict[str, Operator] = {
    "$any_of": Operator(_choices, nested=True),
    "$regex": Operator(_pattern),
    "$exact": Operator(_any),
    "$approx": Operator(_near, frozenset({"tolerance"})),
    "$unordered": Operator(_items, nested=True),
    "$numeric_text": Operator(_numeric_text),
    "$date": Operator(_day),
    "$time": Operator(_clock),
    "$phone": Operator(_phone, frozenset({"region"})),
    "$present": Operator(_true),
    "$absent": Operator(_true),
    "$not": Operator(_any, nested=True),
    "$text": Operator(_folded, frozenset({"nfkc"})),
}
