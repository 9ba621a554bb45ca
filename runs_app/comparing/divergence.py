"""Where two conversations of one scenario first part. Turns are aligned by number, tool calls are the anchors.

What an agent does weighs more than what it says: a call that differs anywhere comes before other words, which differ
nearly always.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from runs_app.realtime.record import SAMPLES_PER_MS, Record, ToolCall, Turn
from runs_app.trial_page.state import StateRow, rows_between

Kind = Literal["ended", "heard", "tool", "answer", "said", "wording"]
CallPair = tuple[ToolCall | None, ToolCall | None]

LONGEST: Final = 40  # characters of a value
LEAD_MS: Final = 2_000.0  # heard before the moment itself
_NUMBER: Final = re.compile(r"\d+(?:[.:,/-]\d+)*")
_NO_ANSWER: Final = ("timeout", "failed", "error", "closed", "stopped")


@dataclass(frozen=True)
class Divergence:
    """`turn` counts from 0; `at_a_ms` and `at_b_ms` are moments of each side's own recording."""

    kind: Kind
    turn: int
    text: str
    at_a_ms: float
    at_b_ms: float

    @property
    def from_a_ms(self) -> float:
        return max(0.0, self.at_a_ms - LEAD_MS)


def first_divergence(a: Record, b: Record, letters: tuple[str, str] = ("A", "B")) -> Divergence | None:
    """None when both sides did and said the same."""
    found = (_parted(a, b, index, letters) for index in range(max(len(a.turns), len(b.turns))))
    return next((one for one in found if one), None) or _other_words(a, b, letters)


def _parted(a: Record, b: Record, index: int, letters: tuple[str, str]) -> Divergence | None:
    """What differs in this turn but for the words of the reply."""
    if index >= len(a.turns) or index >= len(b.turns):
        return _ended(a, b, index, letters)
    turns = a.turns[index], b.turns[index]
    text = _heard(turns, letters)
    if text:
        return Divergence("heard", index, text, _asked_ms(turns[0]), _asked_ms(turns[1]))
    for pair in paired_calls(calls_of(a, index), calls_of(b, index)):
        text = call_difference(pair, letters)
        if text:
            return Divergence("tool", index, text, _called_ms(pair[0], turns[0]), _called_ms(pair[1], turns[1]))
    text = _answered_otherwise(turns, letters)
    return Divergence("answer", index, text, _asked_ms(turns[0]), _asked_ms(turns[1])) if text else None


def _ended(a: Record, b: Record, index: int, letters: tuple[str, str]) -> Divergence:
    short, letter = (a, letters[0]) if len(a.turns) <= index else (b, letters[1])
    why = short.ending.stage or short.ending.kind
    text = f"{letter} ended before this turn ({why.replace('_', ' ')})"
    return Divergence("ended", index, text, _turn_ms(a, index), _turn_ms(b, index))


def _turn_ms(record: Record, index: int) -> float:
    """Where the turn begins; the end of the recording when it was never reached."""
    if index < len(record.turns):
        return turn_start_ms(record.turns[index])
    return record.audio_samples / SAMPLES_PER_MS


def turn_start_ms(turn: Turn) -> float:
    return turn.caller.start / SAMPLES_PER_MS if turn.caller else turn.sent_ms


def _asked_ms(turn: Turn) -> float:
    """The end of the caller's words: what follows is the agent's."""
    return turn.caller.end / SAMPLES_PER_MS if turn.caller else turn.sent_ms


def _called_ms(call: ToolCall | None, turn: Turn) -> float:
    return _asked_ms(turn) if call is None else call.called_ms


def _heard(turns: tuple[Turn, Turn], letters: tuple[str, str]) -> str:
    heard = [turn.heard_text for turn in turns]
    if heard[0] is None or heard[1] is None:
        return ""
    return _numbers_differ(heard[0], heard[1], letters, "heard")


def _numbers_differ(a: str, b: str, letters: tuple[str, str], verb: str) -> str:
    of_a, of_b = _NUMBER.findall(a), _NUMBER.findall(b)
    only_a, only_b = _without(of_a, of_b), _without(of_b, of_a)
    if not (only_a or only_b):
        return ""
    sides = zip(letters, (only_a, only_b), strict=True)
    return ", ".join(f"{letter} {verb} {' '.join(numbers) or 'no such number'}" for letter, numbers in sides)


def _without(numbers: Sequence[str], others: Sequence[str]) -> list[str]:
    left, found = list(others), []
    for number in numbers:
        if number in left:
            left.remove(number)
        else:
            found.append(number)
    return found


def calls_of(record: Record, turn: int) -> list[ToolCall]:
    return [call for call in record.tool_calls if call.turn == turn]


def paired_calls(a: Sequence[ToolCall], b: Sequence[ToolCall]) -> list[CallPair]:
    """Calls of both sides in order: the most of the same name side by side, and of those the most with equal
    arguments."""
    best = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            paired = best[i + 1][j + 1] + _likeness(a[i], b[j]) if a[i].name == b[j].name else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    return list(_walk(a, b, best))


def _walk(a: Sequence[ToolCall], b: Sequence[ToolCall], best: Sequence[Sequence[float]]) -> Iterator[CallPair]:
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i].name == b[j].name and best[i][j] == best[i + 1][j + 1] + _likeness(a[i], b[j]):
            yield a[i], b[j]
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            yield a[i], None
            i += 1
        else:
            yield None, b[j]
            j += 1
    yield from ((call, None) for call in a[i:])
    yield from ((None, call) for call in b[j:])


def _likeness(one: ToolCall, other: ToolCall) -> float:
    return 1.25 if _given(one) == _given(other) else 1.0


def _given(call: ToolCall) -> Any:
    return call.arguments_raw if call.arguments is None else call.arguments


def call_difference(pair: CallPair, letters: tuple[str, str] = ("A", "B")) -> str:
    """In words; empty when both sides made the same call and it came to the same."""
    a, b = pair
    if a is None or b is None:
        caller, other = letters if b is None else letters[::-1]
        call = a or b
        return f"{caller} called {call.name}, {other} did not" if call else ""
    changed = [row for row in argument_rows(a, b) if row.changed]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return f"{_argument(changed[0], letters)}{more}"
    if a.arguments is None and b.arguments is None and a.arguments_raw != b.arguments_raw:
        return f"{a.name}: arguments that nobody can read differ"
    if a.status != b.status:
        return f"{a.name}: {letters[0]} {a.status}, {letters[1]} {b.status}"
    return ""


def argument_rows(a: ToolCall | None, b: ToolCall | None) -> list[StateRow]:
    """One per argument, as JSON text; None where a side did not send it."""
    return rows_between((a and a.arguments) or {}, (b and b.arguments) or {})


def _argument(row: StateRow, letters: tuple[str, str]) -> str:
    if row.after is None:
        return f"{letters[1]} left out {row.path}, {letters[0]} sent {_short(row.before)}"
    if row.before is None:
        return f"{letters[1]} sent {row.path} {_short(row.after)}, {letters[0]} did not"
    return f"{letters[1]} sent {row.path} {_short(row.after)}, {letters[0]} {_short(row.before)}"


def _short(text: str | None) -> str:
    plain = (text or "").strip('"')
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


def _answered_otherwise(turns: tuple[Turn, Turn], letters: tuple[str, str]) -> str:
    a, b = turns
    if a.status == b.status:
        return ""
    for turn, letter in zip(turns, letters, strict=True):
        if turn.status in _NO_ANSWER:
            return f"{letter} gave no whole answer ({turn.status_reason or turn.status})"
    return f"{letters[0]} {a.status}, {letters[1]} {b.status}"


def _other_words(a: Record, b: Record, letters: tuple[str, str]) -> Divergence | None:
    """Other numbers in the replies before merely other words."""
    turns = list(zip(a.turns, b.turns, strict=False))
    for index, (one, other) in enumerate(turns):
        text = _numbers_differ(one.agent_text, other.agent_text, letters, "says")
        if text:
            return Divergence("said", index, text, _asked_ms(one), _asked_ms(other))
    for index, (one, other) in enumerate(turns):
        if _plain(one.agent_text) != _plain(other.agent_text):
            return Divergence("wording", index, "wording only", _asked_ms(one), _asked_ms(other))
    return None


def _plain(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
