"""Scenario files in the formats that people have: read into a source, and written from stored scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scenarios_app.models import Scenario
from scenarios_app.presentation import pretty_json
from scenarios_app.spec.csvtext import dump_table, read_table
from scenarios_app.spec.scenario import dump_file, parse_scenario
from scenarios_app.spec.scenario_columns import guess_columns, scenario_rows, table_source
from scenarios_app.spec.sources import Source, json_source
from scenarios_app.spec.yamltext import dump_yaml, yaml_source

CONTENT_TYPES = {"json": "application/json", "yaml": "application/yaml", "csv": "text/csv; charset=utf-8"}


def read_scenarios(
    *, data: bytes | str, kind: str, mapping: Mapping[str, int] | None = None, separator: str = ""
) -> Source:
    """`kind` is one of sources.FORMATS. A table's columns are taken by their names unless a mapping tells their places.
    Raises SpecError."""
    if kind == "json":
        return json_source(data)
    if kind == "yaml":
        return yaml_source(data)
    table = read_table(data, separator)
    return table_source(table, guess_columns(table.header) if mapping is None else mapping)


def scenarios_document(scenarios: Iterable[Scenario]) -> dict[str, Any]:
    """Their newest versions as one file. `latest` must be loaded."""
    return dump_file([parse_scenario(scenario.latest.content) for scenario in scenarios if scenario.latest])


def write_scenarios(*, document: Mapping[str, Any], kind: str) -> str:
    """The text of a scenario file, which `read_scenarios` reads back without a change."""
    if kind == "yaml":
        return dump_yaml(dict(document))
    if kind == "csv":
        return dump_table(*scenario_rows(document["scenarios"]))
    return pretty_json(document) + "\n"
