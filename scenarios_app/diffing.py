"""Two texts side by side: lines aligned, changed words marked, long equal stretches folded."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CONTEXT = 3  # equal lines kept on either side of a change
SHORTEST_FOLD = 4  # fewer lines than this are shown rather than counted
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LIKENESS = 0.35  # lines less alike than this are shown as one removed and one added


@dataclass(frozen=True)
class Piece:
    text: str
    changed: bool = False


@dataclass(frozen=True)
class Row:
    """`kind` is same, changed, removed, added or folded; a folded row stands for `count` equal lines."""

    kind: str
    old_number: int | None = None
    new_number: int | None = None
    old: tuple[Piece, ...] = ()
    new: tuple[Piece, ...] = ()
    count: int = 0


@dataclass(frozen=True)
class Diff:
    rows: tuple[Row, ...]
    added: int
    removed: int

    @property
    def is_same(self) -> bool:
        return not (self.added or self.removed)


def diff_texts(old: str, new: str, context: int = CONTEXT) -> Diff:
    """`added` and `removed` count lines; a changed line counts as one of each."""
    before, after = old.splitlines(), new.splitlines()
    rows: list[Row] = []
    added = removed = 0
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for at, (tag, i1, i2, j1, j2) in enumerate(blocks):
        if tag == "equal":
            same = [_same(before[i1 + n], i1 + n, j1 + n) for n in range(i2 - i1)]
            rows += _folded(same, 0 if at == 0 else context, 0 if at == len(blocks) - 1 else context)
        else:
            removed, added = removed + i2 - i1, added + j2 - j1
            rows += _replaced(before[i1:i2], after[j1:j2], i1, j1)
    return Diff(tuple(rows), added, removed)


def _same(text: str, old_index: int, new_index: int) -> Row:
    piece = (Piece(text),)
    return Row("same", old_index + 1, new_index + 1, piece, piece)


def _folded(rows: Sequence[Row], head: int, tail: int) -> list[Row]:
    hidden = len(rows) - head - tail
    if hidden < SHORTEST_FOLD:
        return list(rows)
    return [*rows[:head], Row("folded", count=hidden), *rows[len(rows) - tail :]]


def _replaced(old: Sequence[str], new: Sequence[str], old_from: int, new_from: int) -> Iterator[Row]:
    """Lines are paired in order while they are alike; what is left over was removed or added."""
    pairs = min(len(old), len(new))
    for n in range(pairs):
        yield from _pair(old[n], new[n], old_from + n + 1, new_from + n + 1)
    for n in range(pairs, len(old)):
        yield Row("removed", old_number=old_from + n + 1, old=(Piece(old[n], True),))
    for n in range(pairs, len(new)):
        yield Row("added", new_number=new_from + n + 1, new=(Piece(new[n], True),))


def _pair(old: str, new: str, old_number: int, new_number: int) -> Iterator[Row]:
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _LIKENESS:
        yield Row("removed", old_number=old_number, old=(Piece(old, True),))
        yield Row("added", new_number=new_number, new=(Piece(new, True),))
        return
    left: list[Piece] = []
    right: list[Piece] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        left += _piece(before[i1:i2], tag != "equal")
        right += _piece(after[j1:j2], tag != "equal")
    yield Row("changed", old_number, new_number, tuple(left), tuple(right))


def _piece(words: Sequence[str], changed: bool) -> list[Piece]:
    return [Piece("".join(words), changed)] if words else []
