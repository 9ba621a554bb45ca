"""What an import came to, and what a save came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from scenarios_app.models import Version
from scenarios_app.spec.errors import Problem

V = TypeVar("V", bound=Version)


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """What an import did or, as a dry run, would do. The lists hold ids or NAME@VERSION, in file order."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    dry_run: bool = False

    @property
    def counts(self) -> str:
        return f"{len(self.new)} new, {len(self.changed)} changed, {len(self.unchanged)} unchanged"

    @property
    def total(self) -> int:
        return len(self.new) + len(self.changed) + len(self.unchanged)


@dataclass(frozen=True)
class Saved(Generic[V]):
    """The version that holds the content now; `created` is False when the newest one held it already."""

    version: V
    created: bool


class ChangedMeanwhile(Exception):
    """Someone saved a newer version after this editor was opened."""

    def __init__(self, newest: Version) -> None:
        by = newest.created_by.get_username() if newest.created_by else "an import"
        super().__init__(
            f"{newest} was saved by {by} while you were editing. Your text is kept below: "
            "compare it with that version, then save again to put yours on top."
        )
        self.newest = newest


class NotStored(LookupError):
    """Nothing on this site has that name or version. The message says what there is."""
