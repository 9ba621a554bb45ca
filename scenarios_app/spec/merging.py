"""Two changes of one document brought together: what only one side changed is taken from that side."""

from __future__ import annotations

from dataclasses import dataclass

from scenarios_app.spec.errors import Part, path_of
from scenarios_app.spec.jsontext import Json, canonical

_ABSENT: Json = object()


@dataclass(frozen=True)
class Merge:
    """`conflicts` are the paths that both sides changed, each in its own way: there the document holds `mine`."""

    document: Json
    conflicts: tuple[str, ...]


def merge_documents(base: Json, mine: Json, theirs: Json) -> Merge:
    """Objects are merged key by key, everything else whole."""
    conflicts: list[str] = []
    return Merge(_merged((), base, mine, theirs, conflicts), tuple(conflicts))


def _merged(place: tuple[Part, ...], base: Json, mine: Json, theirs: Json, conflicts: list[str]) -> Json:
    if _same(mine, theirs) or _same(base, theirs):
        return mine
    if _same(base, mine):
        return theirs
    if not (isinstance(mine, dict) and isinstance(theirs, dict)):
        conflicts.append(path_of(place))
        return mine
    old = base if isinstance(base, dict) else {}
    result = {}
    for key in [*mine, *(key for key in theirs if key not in mine)]:
        before, ours, other = (side.get(key, _ABSENT) for side in (old, mine, theirs))
        value = _merged((*place, key), before, ours, other, conflicts)
        if value is not _ABSENT:
            result[key] = value
    return result


def _same(one: Json, other: Json) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return canonical(one) == canonical(other)
