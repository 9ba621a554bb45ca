"""What an application's JSON Schema tells about the arguments of its tools, for the cards of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scenarios_app.presentation import plain
from scenarios_app.spec.jsontext import Json

TEXT_ALONE = "text"  # the kind of a value that is text, whatever it looks like
_WORDS = {"string": "text", "integer": "whole number", "array": "list", "boolean": "true or false", "null": "null"}
Schemas = Mapping[str, Mapping[str, Json]]  # parameters by tool


@dataclass(frozen=True)
class Hint:
    """`kind` is TEXT_ALONE or "", `choices` what the schema lists, `note` what it says in words."""

    name: str
    kind: str = ""
    choices: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Offers:
    """The tools that can be called: `tools_of` takes NAME or NAME@VERSION of an application, or "" for any."""

    tools_of: Callable[[str], Schemas] = lambda label: {}

    def arguments(self, label: str, tool: str) -> list[Hint]:
        schema = self.tools_of(label).get(tool.strip(), {})
        properties = schema.get("properties") or {}
        required = schema.get("required") or []
        return [hint_of(name, part, name in required) for name, part in properties.items()]


def hint_of(name: str, schema: Any, required: bool) -> Hint:
    if not isinstance(schema, Mapping):  # true is a schema too: anything
        return Hint(name, note="required" if required else "")
    kinds = schema.get("type", "")
    kind = TEXT_ALONE if kinds == "string" else ""
    if kinds == "boolean":
        choices: tuple[str, ...] = ("true", "false")
    else:
        choices = tuple(plain(value) for value in schema.get("enum") or ())
    listed = kinds if isinstance(kinds, list) else [kinds]
    said = [" or ".join(_WORDS.get(kind, str(kind)) for kind in listed), str(schema.get("format", ""))]
    said += ["required"] if required else []
    said += [f"one of {', '.join(choices)}"] if "enum" in schema else []
    said += [str(schema["description"])] if schema.get("description") else []
    return Hint(name, kind, choices, " · ".join(filter(None, said)))
