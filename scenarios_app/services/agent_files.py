"""Configurations from files, ours or of other harnesses, with the applications that come with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from scenarios_app.services.applications import import_applications
from scenarios_app.services.configurations import import_configurations
from scenarios_app.services.reports import ImportReport
from scenarios_app.spec.agent_files import Agents, is_targets, read_targets
from scenarios_app.spec.configuration import parse_configuration, parse_configurations
from scenarios_app.spec.crawl_settings import read_crawl
from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.jsontext import Json, dumps
from scenarios_app.spec.lint import lint_configuration
from scenarios_app.spec.sources import format_of, json_source
from scenarios_app.spec.yamltext import yaml_source


@dataclass(frozen=True)
class AgentsReport:
    applications: ImportReport
    configurations: ImportReport

    @property
    def counts(self) -> str:
        beside = f"; applications: {self.applications.counts}" if self.applications.total else ""
        return f"{self.configurations.counts}{beside}"


def read_agents(*, files: Sequence[tuple[str, bytes]], name: str = "") -> Agents:
    """A JSON or YAML file (our list of configurations, or tamesu's targets), or CRAWL's config.toml, .env or both.
    `name` is that of CRAWL's configuration. Raises SpecError."""
    crawl: dict[str, bytes] = {}
    for file, data in files:
        kind = _crawl_kind(file)
        if kind and kind not in crawl:
            crawl[kind] = data
    if len(files) != max(len(crawl), 1):
        raise SpecError([Problem("", "choose one JSON or YAML file, or a config.toml with a .env")])
    if crawl:
        return read_crawl(toml=crawl.get("toml", b""), env=crawl.get("env", b""), name=name.strip() or "CRAWL")
    return _listed(*files[0])


def _crawl_kind(file: str) -> str:
    lowered = file.lower()
    if lowered.endswith(".toml"):
        return "toml"
    return "env" if lowered.endswith(".env") or lowered.startswith(".env") or lowered == "env" else ""


def _listed(file: str, data: bytes) -> Agents:
    kind = format_of(file, data)
    source = json_source(data) if kind == "json" else yaml_source(data)
    if is_targets(source.value):
        return read_targets(source)
    if not isinstance(source.value, list):
        said = "must be a list of configurations, or an object with targets"
        raise SpecError(source.placed([Problem("", said)]))
    parse_configurations(source)
    return Agents((), tuple((f"[{index}]", entry) for index, entry in enumerate(source.value)))


def import_agents(*, agents: Agents, user: User | None = None, dry_run: bool = False) -> AgentsReport:
    """All in one transaction, applications first. A dry run does the same and takes it back. Raises SpecError."""
    with transaction.atomic():
        applications = ImportReport()
        if agents.applications:
            applications = import_applications(data=_bytes(agents.applications), user=user)
        configurations = import_configurations(data=_bytes(agents.configurations), user=user)
        transaction.set_rollback(dry_run)
    warnings = (*agents.remarks, *_lint(agents), *configurations.warnings)
    return AgentsReport(applications, replace(configurations, warnings=warnings, dry_run=dry_run))


def _bytes(documents: Sequence[tuple[str, dict[str, Json]]]) -> bytes:
    return dumps([document for _, document in documents]).encode()


def _lint(agents: Agents) -> list[Problem]:
    remarks: list[Problem] = []
    for _, document in agents.configurations:
        found: Any = lint_configuration(parse_configuration(document))
        remarks += [Problem(path, f"{document['name']}: {message}") for path, message in found]
    return remarks


def agents_document(agents: Agents) -> dict[str, Json]:
    """What is kept between the two steps: never a file itself, as a .env holds keys."""
    return {
        "applications": [list(pair) for pair in agents.applications],
        "configurations": [list(pair) for pair in agents.configurations],
        "remarks": [[problem.path, problem.message, problem.line] for problem in agents.remarks],
    }


def agents_of(document: dict[str, Json]) -> Agents:
    """Inverse of agents_document."""
    return Agents(
        tuple((path, entry) for path, entry in document["applications"]),
        tuple((path, entry) for path, entry in document["configurations"]),
        tuple(Problem(*remark) for remark in document["remarks"]),
    )
