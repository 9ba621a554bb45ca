"""Whether the agent's arguments fit the JSON Schema that it was given, in words that a model can act on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import regex
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from runs_app.realtime.record import Json
from scenarios_app.spec.errors import path_of

MAX_BYTES = 65_536
MATCH_TIMEOUT_S = 0.2
_SHOWN = 5
_PART_CHARS = 160
_TYPES = {"integer": "a whole number", "string": "text", "object": "an object", "array": "a list", "null": "null"}


class SchemaFault(Exception):
    """The schema is at fault and not the agent: a pattern that takes too long, a reference that leads nowhere."""


class ArgumentSchema:
    """The `parameters` of one tool. `format` is an annotation, as JSON Schema has it; `pattern` is limited in time."""

    def __init__(self, parameters: Mapping[str, Json]) -> None:
        # An empty registry: a reference to elsewhere is refused and never fetched.
        self._validator = _limited(_draft(parameters))(parameters, registry=Registry())

    @staticmethod
    def check(parameters: Mapping[str, Json]) -> None:
        """Raises jsonschema.SchemaError for what is no JSON Schema."""
        _draft(parameters).check_schema(parameters)

    def problems(self, arguments: dict[str, Json]) -> list[str]:
        """Empty when they fit; each names its argument. Raises SchemaFault."""
        if len(json.dumps(arguments)) > MAX_BYTES:
            return [f"they are larger than {MAX_BYTES} bytes"]
        try:
            errors = sorted(self._validator.iter_errors(arguments), key=lambda error: list(map(str, error.path)))
        except RecursionError:
            return ["they are nested too deeply"]
        except Unresolvable as error:
            raise SchemaFault(f"the schema refers to {error.ref!r}, which leads nowhere") from error
        sentences = list(dict.fromkeys(sentence for error in errors for sentence in _sentences(error)))
        rest = len(sentences) - _SHOWN
        return sentences[:_SHOWN] + ([f"and {rest} more"] if rest > 0 else [])


def _draft(parameters: Mapping[str, Json]) -> Any:
    return validator_for(parameters, default=Draft202012Validator)


@cache
def _limited(draft: Any) -> Any:
    make: Any = extend  # has no types
    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
    }
    return make(draft, own)


def _sentences(error: ValidationError) -> Iterator[str]:
    path = path_of(error.absolute_path)
    match error.validator, error.validator_value, error.instance:
        case "required", list() as names, dict() as given:
            yield from (f"{_below(path, name)} is missing" for name in names if name not in given)
        case "type", wanted, given:
            yield f"{path or 'all of it'} must be {_kinds(wanted)}, not {_shown(given)}"
        case "enum", list() as choices, given:
            yield f"{path} must be one of {', '.join(map(_shown, choices))[:_PART_CHARS]}, not {_shown(given)}"
        case "additionalProperties", _, _ if error.validator_value is False:
            yield f"{_below(path, error.message)} is not an argument of this tool"
        case _:
            yield f"{path or 'all of it'}: {error.message[:_PART_CHARS]}"


def _below(path: str, name: Any) -> str:
    inner = path_of([str(name)])
    return f"{path}{'' if inner.startswith('[') else '.'}{inner}" if path else inner


def _kinds(wanted: Json) -> str:
    kinds = wanted if isinstance(wanted, list) else [wanted]
    return " or ".join(_TYPES.get(str(kind), f"a {kind}") for kind in kinds)


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _PART_CHARS else f"{text[:_PART_CHARS]}..."


def _found(pattern: str, text: str) -> bool:
    try:
        return regex.search(pattern, text, timeout=MATCH_TIMEOUT_S) is not None
    except TimeoutError:
        raise SchemaFault(f"the pattern {pattern[:_PART_CHARS]!r} takes more than {MATCH_TIMEOUT_S:g} s") from None
    except regex.error as error:
        raise SchemaFault(f"the pattern {pattern[:_PART_CHARS]!r} cannot be read: {error}") from None


def _pattern(validator: Any, pattern: str, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{_shown(instance)} does not match {pattern}")


def _pattern_properties(validator: Any, patterns: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for key, value in instance.items():
            if _found(pattern, key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, rule: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    patterns = schema.get("patternProperties", {})
    for key, value in instance.items():
        if key in schema.get("properties", {}) or any(_found(pattern, key) for pattern in patterns):
            continue
        if rule is False:
            yield ValidationError(key)
        else:
            yield from validator.descend(value, rule, path=key)
