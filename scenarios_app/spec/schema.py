"""Files of the contracts as JSON Schema (2020-12), for editors and CI. Rules that span fields are the parsers'."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pydantic import BaseModel

from scenarios_app.spec.application import Application
from scenarios_app.spec.configuration import Configuration
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.scenario import VERSIONS, Scenario

Schema = dict[str, Json]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def scenario_file_schema() -> Schema:
    """Of a file that `scenario.parse_file` reads."""
    return _file_schema(
        "Soundcheck scenarios",
        Scenario,
        lambda entries: {
            "type": "object",
            "additionalProperties": False,
            "required": ["schema_version", "scenarios"],
            "properties": {"schema_version": {"enum": list(VERSIONS)}, "scenarios": {**entries, "minItems": 1}},
        },
    )


def application_file_schema() -> Schema:
    """Of a list of applications."""
    return _file_schema("Soundcheck applications", Application, lambda entries: entries)


def configuration_file_schema() -> Schema:
    """Of a list of configurations."""
    return _file_schema("Soundcheck configurations", Configuration, lambda entries: entries)


SCHEMAS: Final[Mapping[str, Callable[[], Schema]]] = {
    "scenarios": scenario_file_schema,
    "applications": application_file_schema,
    "configurations": configuration_file_schema,
}


def _file_schema(title: str, model: type[BaseModel], around: Callable[[Schema], Schema]) -> Schema:
    """`around` puts the list of entries where the file has it."""
    entry = model.model_json_schema(mode="validation")
    definitions = entry.pop("$defs", {})
    entries: Schema = {"type": "array", "items": {"$ref": f"#/$defs/{model.__name__}"}}
    return {"$schema": _DRAFT, "title": title, **around(entries), "$defs": {**definitions, model.__name__: entry}}
