"""What all contracts share: the base model, field types with their rules, and the way from an object to a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    Strict,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from scenarios_app.spec.errors import Problem, SpecError, refuse_if
from scenarios_app.spec.jsontext import Json, clean, problems_in
from scenarios_app.spec.sources import Source, json_source
from scenarios_app.spec.wording import kind_of, problems_of

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s)")
LONGEST_WAIT_S = 3600.0


class Contract(BaseModel):
    """A part of a document. Frozen; unknown fields are refused; `to_json` gives back what was given."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    def to_json(self) -> dict[str, Json]:
        """The given object as a fresh copy: what was left out stays out."""
        return self.model_dump(mode="json", exclude_unset=True)

    def __hash__(self) -> int:
        # Fields may hold lists and objects. Equal models have equal names, which is all that a hash needs.
        return hash((type(self), getattr(self, "name", None), getattr(self, "id", None)))


C = TypeVar("C", bound=Contract)


def parse(model: type[C], value: Json, rules: Callable[[C], Iterable[Problem]], path: str = "") -> C:
    """The model of a JSON value. Raises SpecError with every problem; `path` is where the value stands."""
    refuse_if([problem.under(path) for problem in problems_in(value)])
    try:
        parsed = model.model_validate(clean(value))
    except ValidationError as error:
        raise SpecError([problem.under(path) for problem in problems_of(error, model)]) from None
    refuse_if([problem.under(path) for problem in rules(parsed)])
    return parsed


def parse_entries(model: type[C], data: bytes | str | Source, rules: Callable[[C], Iterable[Problem]]) -> tuple[C, ...]:
    """The models of a list. All or nothing: raises SpecError with the problems of all entries and their lines."""
    source = data if isinstance(data, Source) else json_source(data)
    value = source.value
    if not isinstance(value, list):
        raise SpecError([Problem("", f"must be a list of {model.__name__.lower()}s, not {kind_of(value)}", 1)])
    parsed: list[C] = []
    problems: list[Problem] = []
    for index, entry in enumerate(value):
        try:
            parsed.append(parse(model, entry, rules, f"[{index}]"))
        except SpecError as error:
            problems += error.problems
    refuse_if(source.placed(problems))
    return tuple(parsed)


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def name_problem(name: str) -> str | None:
    """Why a text cannot name a suite, an application or a configuration; None when it can."""
    if not name.strip():
        return "must not be empty"
    if len(name) > 100:
        return f"must have at most 100 characters, this has {len(name)}"
    if name != name.strip():
        return "must not begin or end with a space"
    if any(sign in name for sign in ",@"):
        return "must not contain a comma or an @: they separate names and versions"
    return None if name.isprintable() else "must not contain line breaks or control characters"


def _name(value: str) -> str:
    if problem := name_problem(value):
        raise ValueError(problem)
    return value


def _tool_name(value: str) -> str:
    if not _TOOL_NAME.fullmatch(value):
        raise ValueError("must have 1 to 64 letters, digits, _ or -")
    return value


def iso_date_problem(text: str) -> str | None:
    try:
        if _ISO_DATE.fullmatch(text) and date.fromisoformat(text):
            return None
    except ValueError:
        pass
    return "must be a date such as 2027-05-15"


def _iso_date(value: str) -> str:
    if problem := iso_date_problem(value):
        raise ValueError(problem)
    return value


def _number(value: Any) -> Any:
    # an int stays an int, so that an export writes what was given
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"must be a number, not {kind_of(value)}")
    return value


def _as_given(value: Any) -> Any:
    return value


class Seconds(float):
    """A duration in seconds that remembers how it was written (`60`, `"60s"`, `"500ms"`).
    Raises ValueError unless it is more than 0 and at most LONGEST_WAIT_S."""

    given: Json

    def __new__(cls, given: Json) -> Seconds:
        seconds = super().__new__(cls, _seconds(given))
        if not 0 < seconds <= LONGEST_WAIT_S:
            raise ValueError(f"must be more than 0 and at most {LONGEST_WAIT_S:.0f} seconds")
        seconds.given = given
        return seconds

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(lambda seconds: seconds.given)
        return core_schema.no_info_plain_validator_function(cls, serialization=written)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        number = {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_WAIT_S}
        return {"anyOf": [number, {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)? ?(ms|s)\s*$"}]}


def _seconds(given: Json) -> float:
    if isinstance(given, str) and (match := _DURATION.fullmatch(given.strip())):
        return float(match[1]) / (1000 if match[2] == "ms" else 1)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise ValueError("must be a number of seconds, or a text such as 60s or 500ms")
    # an integer may be too large for a float; it is too long in any case
    return float(min(given, LONGEST_WAIT_S + 1))


Text = Annotated[str, AfterValidator(_text), WithJsonSchema({"type": "string", "pattern": r"\S"})]
Name = Annotated[
    str,
    AfterValidator(_name),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[^,@]*$"}),
]
ToolName = Annotated[
    str, AfterValidator(_tool_name), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"})
]
IsoDate = Annotated[str, AfterValidator(_iso_date), WithJsonSchema({"type": "string", "format": "date"})]
Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Number = Annotated[
    float, PlainValidator(_number), PlainSerializer(_as_given, return_type=Any), WithJsonSchema({"type": "number"})
]
NotNegative = Annotated[Number, Field(ge=0), WithJsonSchema({"type": "number", "minimum": 0})]
