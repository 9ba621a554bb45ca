"""What differs between two configuration versions, and whether the same scenarios stand behind their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs_app.comparing.loading import Column
from runs_app.stats.pair import PairComparison
from scenarios_app.diffing import Diff, diff_texts
from scenarios_app.presentation import inline_json

# what a person calls a part of the configuration; the rest go by their own name
NAMES = {"instructions": "prompt", "application": "tools"}
IDENTITY = ("name",)
LONGEST = 60


@dataclass(frozen=True)
class Change:
    name: str
    before: str
    after: str


@dataclass(frozen=True)
class SetupDiff:
    """`prompt`: line diff of the instructions; `changes`: the other parts that differ; `same`: those that do not, with
    the value that both have."""

    prompt: Diff
    changes: tuple[Change, ...]
    same: tuple[tuple[str, str], ...]


def setup_diff(a: Column, b: Column) -> SetupDiff:
    before, after = _parts(a), _parts(b)
    names = [name for name in dict.fromkeys([*before, *after]) if name not in IDENTITY]
    differing = [name for name in names if before.get(name) != after.get(name)]
    return SetupDiff(
        prompt=diff_texts(_prompt(a), _prompt(b)),
        changes=tuple(
            Change(NAMES.get(name, name), _short(before.get(name)), _short(after.get(name)))
            for name in differing
            if name != "instructions"
        ),
        same=tuple(
            (NAMES.get(name, name), "the same text" if name == "instructions" else _short(before.get(name)))
            for name in names
            if name not in differing
        ),
    )


def _parts(column: Column) -> Mapping[str, Any]:
    """The content with every default filled in, so that leaving a default out is no difference; tools as run."""
    parts: dict[str, Any] = column.spec.model_dump(mode="json")
    parts["application"] = ", ".join(column.applications) or None
    return parts


def _prompt(column: Column) -> str:
    return column.spec.instructions


def _short(value: Any) -> str:
    if value is None:
        return "not set"
    text = value if isinstance(value, str) else inline_json(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


@dataclass(frozen=True)
class Pairing:
    """Which scenarios of a pair stand behind its numbers: the others are named."""

    paired: int
    of: int
    changed: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def pairing(pair: PairComparison) -> Pairing:
    outside = (*pair.changed, *pair.only_a, *pair.only_b)
    return Pairing(len(pair.paired), len(pair.paired) + len(outside), pair.changed, pair.only_a, pair.only_b)
