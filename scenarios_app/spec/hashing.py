"""Content hashes: equal content, equal hash, whatever the order of keys."""

from __future__ import annotations

import hashlib

from scenarios_app.spec.jsontext import Json, canonical
from scenarios_app.spec.scenario import Scenario

NOT_RUN = frozenset({"title", "type", "tags", "owner", "notes", "source", "critical"})


def content_hash(value: Json) -> str:
    """sha256 (64 hex digits) of a JSON value's canonical form."""
    return hashlib.sha256(canonical(value)).hexdigest()


def run_hash(scenario: Scenario) -> str:
    """Hash of what a run depends on: everything but NOT_RUN. A field given with its default counts as left out."""
    return content_hash(scenario.model_dump(mode="json", exclude_defaults=True, exclude=set(NOT_RUN)))
