"""Two texts side by side: lines aligned, changed words marked, long equal stretches folded."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CONTEXT = 3  # equal lines kept on either side of a change
SHORTEST_FOLD = 4  # fewer lines than this are shown rather than counted
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_WORD_AND_BLANK = re.compile(r"\s+|(?:\w+|[^\w\s])\s*")
_LIKENESS = 0.35  # lines less alike than this are shown as one removed and one added
_MOST_APART = 1000  # words and blanks of both texts; beyond that, comparing every blank with every other takes seconds
_MOST_WORDS = 5000  # of both texts, with their blanks; beyond that, frequent words are not looked for
_MOST_COMPARED = 2500  # pairs of lines in one changed stretch; beyond that, words are not looked at


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


@dataclass(frozen=True)
class Words:
    """A text as it was and as it is in one: each piece is same, removed or added."""

    pieces: tuple[tuple[str, str], ...]  # (kind, text)
    added: int
    removed: int

    @property
    def is_same(self) -> bool:
        return all(kind == "same" for kind, _ in self.pieces)


def diff_words(old: str, new: str) -> Words:
    """`added` and `removed` count words; marks and blanks are shown and not counted."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    if len(before) + len(after) > _MOST_APART:
        before, after = _WORD_AND_BLANK.findall(old), _WORD_AND_BLANK.findall(new)
    pieces: list[tuple[str, str]] = []
    added = removed = 0
    exact = len(before) + len(after) <= _MOST_WORDS
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=not exact).get_opcodes():
        if tag == "equal":
            pieces.append(("same", "".join(before[i1:i2])))
            continue
        pieces += [("removed", "".join(before[i1:i2]))] * (i2 > i1) + [("added", "".join(after[j1:j2]))] * (j2 > j1)
        removed += sum(word[0].isalnum() for word in before[i1:i2])
        added += sum(word[0].isalnum() for word in after[j1:j2])
    return Words(tuple(pieces), added, removed)


def count_lines(old: str, new: str) -> tuple[int, int]:
    """Lines added and removed, as diff_texts counts them, without a look at their words."""
    blocks = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False).get_opcodes()
    changed = [block for block in blocks if block[0] != "equal"]
    return sum(j2 - j1 for *_, j1, j2 in changed), sum(i2 - i1 for _, i1, i2, *_ in changed)


def _same(text: str, old_index: int, new_index: int) -> Row:
    piece = (Piece(text),)
    return Row("same", old_index + 1, new_index + 1, piece, piece)


def _folded(rows: Sequence[Row], head: int, tail: int) -> list[Row]:
    hidden = len(rows) - head - tail
    if hidden < SHORTEST_FOLD:
        return list(rows)
    return [*rows[:head], Row("folded", count=hidden), *rows[len(rows) - tail :]]


def _replaced(old: Sequence[str], new: Sequence[str], old_from: int, new_from: int) -> Iterator[Row]:
    """Lines that were rewritten stand beside each other; the others were removed or added."""
    for i, j in _pairs(old, new):
        if i is not None and j is not None:
            yield _changed(old[i], new[j], old_from + i + 1, new_from + j + 1)
        elif i is not None:
            yield Row("removed", old_number=old_from + i + 1, old=(Piece(old[i], True),))
        elif j is not None:
            yield Row("added", new_number=new_from + j + 1, new=(Piece(new[j], True),))


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Indexes of both sides in order, alike lines together, so that the likeness of all pairs is largest."""
    if len(old) * len(new) > _MOST_COMPARED:
        return [(i, None) for i in range(len(old))] + [(None, j) for j in range(len(new))]
    likeness = [[_likeness(before, after) for after in new] for before in old]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            paired = likeness[i][j] + best[i + 1][j + 1] if likeness[i][j] >= _LIKENESS else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    pairs: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if likeness[i][j] >= _LIKENESS and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            pairs.append((i, None))
            i += 1
        else:
            pairs.append((None, j))
            j += 1
    rest_old: list[tuple[int | None, int | None]] = [(n, None) for n in range(i, len(old))]
    return pairs + rest_old + [(None, n) for n in range(j, len(new))]


def _changed(old: str, new: str, old_number: int, new_number: int) -> Row:
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    left: list[Piece] = []
    right: list[Piece] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        left += _piece(before[i1:i2], tag != "equal")
        right += _piece(after[j1:j2], tag != "equal")
    return Row("changed", old_number, new_number, tuple(left), tuple(right))


def _likeness(old: str, new: str) -> float:
    """0 to 1, by words: two lines are not alike because both have spaces."""
    return difflib.SequenceMatcher(None, old.split(), new.split(), autojunk=False).ratio()


def _piece(words: Sequence[str], changed: bool) -> list[Piece]:
    return [Piece("".join(words), changed)] if words else []
