"""The contracts as JSON Schema (2020-12), for editors and CI. Rules that span fields are left to the parsers."""

from __future__ import annotations

from pydantic import BaseModel

from scenarios_app.spec.application import Application
from scenarios_app.spec.configuration import Configuration
from scenarios_app.spec.jsontext import Json
from scenarios_app.spec.scenario import VERSIONS, Scenario

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def scenario_file_schema() -> dict[str, Json]:
    """Of a file that `scenario.parse_file` reads."""
    scenario = _model_schema(Scenario)
    definitions = scenario.pop("$defs", {})
    return {
        "$schema": _DRAFT,
        "title": "Soundcheck scenarios",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema_version", "scenarios"],
        "properties": {
            "schema_version": {"enum": list(VERSIONS)},
            "scenarios": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Scenario"}},
        },
        "$defs": {**definitions, "Scenario": scenario},
    }


def application_schema() -> dict[str, Json]:
    """Of one application; a file is a list of them."""
    return {"$schema": _DRAFT, **_model_schema(Application)}


def configuration_schema() -> dict[str, Json]:
    """Of one configuration; a file is a list of them."""
    return {"$schema": _DRAFT, **_model_schema(Configuration)}


def _model_schema(model: type[BaseModel]) -> dict[str, Json]:
    return model.model_json_schema(mode="validation")
