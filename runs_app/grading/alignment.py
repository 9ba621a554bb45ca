"""Expected calls against the calls that were made: one pairing, so that one slip is told once.

First calls of the same name are paired in the order of both sides: among all such pairings the one with most pairs
wins, then the one with the fewest differences. Calls of an expected name that are left because they came at another
place are paired next, and named out of order. A call of another name that stands where an expected one is missing is
a wrong tool, not one missing and one extra.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from runs_app.grading.matching import match
from runs_app.grading.plain_values import Mismatch, identical
from runs_app.realtime.record import ToolCall

Json = Any

PairKind = Literal["in_order", "out_of_order", "wrong_tool"]


@dataclass(frozen=True)
class Wanted:
    """One call that a scenario expects. status "any": it may have failed."""

    name: str
    arguments: dict[str, Json]
    status: Literal["any", "completed"] = "completed"


@dataclass(frozen=True)
class Pair:
    """Expected call number `wanted` and actual call number `actual`, both from 0."""

    wanted: int
    actual: int
    kind: PairKind
    mismatches: tuple[Mismatch, ...]

    @property
    def same_tool(self) -> bool:
        return self.kind != "wrong_tool"


@dataclass(frozen=True)
class Alignment:
    """`missing` are expected calls without a partner; `extra` and `duplicates` actual ones, in order.

    A duplicate repeats an earlier call, name and arguments; it is an extra call that is called by its name.
    """

    pairs: tuple[Pair, ...]
    missing: tuple[int, ...]
    extra: tuple[int, ...]
    duplicates: tuple[int, ...]

    @property
    def clean(self) -> bool:
        """The expected calls, all of them, no others, in order. Arguments are another matter."""
        in_order = all(pair.kind == "in_order" for pair in self.pairs)
        return in_order and not (self.missing or self.extra or self.duplicates)


# How good a pairing is: calls of the right name, then minus the differences. Compared from the left.
Score = tuple[int, int]
Differences = list[list[tuple[Mismatch, ...]]]
Spots = list[tuple[int, int]]


def align(wanted: Sequence[Wanted], actual: Sequence[ToolCall]) -> Alignment:
    """The best pairing of two sequences; O(len(wanted) * len(actual)) comparisons of arguments."""
    differences = [[_differences(want, call) for call in actual] for want in wanted]
    in_order = _best_in_order(wanted, actual, differences)
    moved = _moved(in_order, wanted, actual, differences)
    wrong = _wrong_tools(in_order, moved, len(wanted), actual)
    pairs = _pairs(in_order, "in_order", differences) + _pairs(moved, "out_of_order", differences)
    pairs += _pairs(wrong, "wrong_tool", differences)
    left = [a for a in range(len(actual)) if a not in {pair.actual for pair in pairs}]
    repeated = tuple(a for a in left if _repeats_earlier(actual, a))
    return Alignment(
        pairs=tuple(sorted(pairs, key=lambda pair: pair.wanted)),
        missing=tuple(w for w in range(len(wanted)) if w not in {pair.wanted for pair in pairs}),
        extra=tuple(a for a in left if a not in repeated),
        duplicates=repeated,
    )


def _pairs(spots: Spots, kind: PairKind, differences: Differences) -> list[Pair]:
    return [Pair(w, a, kind, differences[w][a]) for w, a in spots]


def _differences(want: Wanted, call: ToolCall) -> tuple[Mismatch, ...]:
    if want.name != call.name:
        return ()
    if call.arguments is None:
        reason = f"the arguments cannot be read: {call.parse_error or 'not a JSON object'}"
        return (Mismatch("", want.arguments, call.arguments_raw, reason),)
    return match(want.arguments, call.arguments)


def _gain(want: Wanted, call: ToolCall, differences: tuple[Mismatch, ...]) -> Score | None:
    if want.name != call.name:
        return None
    # A call that failed is the worse partner of two that say the same.
    return (1, -len(differences) - (want.status == "completed" and call.status != "completed"))


def _best_in_order(wanted: Sequence[Wanted], actual: Sequence[ToolCall], differences: Differences) -> Spots:
    """Dynamic programming over both sequences from their ends; the earliest calls win a tie."""
    best: list[list[Score]] = [[(0, 0)] * (len(actual) + 1) for _ in range(len(wanted) + 1)]

    def together(w: int, a: int) -> Score | None:
        gain = _gain(wanted[w], actual[a], differences[w][a])
        rest = best[w + 1][a + 1]
        return None if gain is None else (gain[0] + rest[0], gain[1] + rest[1])

    for w in reversed(range(len(wanted))):
        for a in reversed(range(len(actual))):
            apart = max(best[w + 1][a], best[w][a + 1])
            best[w][a] = max(apart, together(w, a) or apart)
    spots: Spots = []
    w = a = 0
    while w < len(wanted) and a < len(actual):
        if together(w, a) == best[w][a]:
            spots.append((w, a))
            w, a = w + 1, a + 1
        elif best[w][a] == best[w + 1][a]:
            w += 1
        else:
            a += 1
    return spots


def _moved(in_order: Spots, wanted: Sequence[Wanted], actual: Sequence[ToolCall], differences: Differences) -> Spots:
    """Left-over calls of the same name, the most alike first."""
    used_wanted, used_actual = {w for w, _ in in_order}, {a for _, a in in_order}
    candidates = sorted(
        (len(differences[w][a]), w, a)
        for w, want in enumerate(wanted)
        for a, call in enumerate(actual)
        if want.name == call.name and w not in used_wanted and a not in used_actual
    )
    spots: Spots = []
    for _, w, a in candidates:
        if w not in used_wanted and a not in used_actual:
            used_wanted.add(w)
            used_actual.add(a)
            spots.append((w, a))
    return spots


def _wrong_tools(in_order: Spots, moved: Spots, wanted_count: int, actual: Sequence[ToolCall]) -> Spots:
    """Calls that stand exactly where one of another name is missing; a mere repetition is not one."""
    taken = in_order + moved
    frame = list(in_order)
    spots: Spots = []
    used = {a for _, a in taken}
    open_actual = [a for a in range(len(actual)) if a not in used and not _repeats_earlier(actual, a)]
    for w in range(wanted_count):
        if any(w == other for other, _ in taken):
            continue
        fitting = [a for a in open_actual if all((w < ow) == (a < oa) for ow, oa in frame)]
        if fitting:
            spots.append((w, fitting[0]))
            frame.append((w, fitting[0]))
            open_actual.remove(fitting[0])
    return spots


def _repeats_earlier(actual: Sequence[ToolCall], index: int) -> bool:
    call = actual[index]
    return any(earlier.name == call.name and identical(earlier.arguments, call.arguments) for earlier in actual[:index])
