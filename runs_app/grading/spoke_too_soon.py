"""Where the agent says that something is done before the tool that does it has answered.

The words decide: a claim counts as early when its first word came before the last tool of its turn had ended, since the
agent then said what it could not know. Where it is *heard* is another matter, as words run ahead of their sound: the
bracket stands on the sound, from the claim's first sample to the tool's result.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from runs_app.grading.case import Case, span_ms
from runs_app.grading.check import Check, not_applicable, verdict
from runs_app.grading.percentiles import rounded
from runs_app.grading.speech_acts import Claim, claims
from runs_app.realtime.record import SAMPLES_PER_MS, Span, Turn

Json = Any


@dataclass(frozen=True)
class SpokenClaim:
    """A sentence that claims a finished action. `said_ms`: when its first word came; `sound`: where it is heard, None
    without sound; `stretch_ms`: the whole stretch of agent audio around it."""

    turn: int
    said_ms: float
    sentence: str
    stretch_ms: tuple[float, float]
    sound: Span | None = None


@dataclass(frozen=True)
class EarlyClaim:
    """A claim and the call whose result was not there yet; `early_ms` of the protocol's clock."""

    claim: SpokenClaim
    tool: str
    result_ms: float

    @property
    def early_ms(self) -> float:
        return self.result_ms - self.claim.said_ms

    @property
    def bracket(self) -> Span:
        """In samples of the recording: up to the result, or over the claim alone when it was heard after that."""
        result = round(self.result_ms * SAMPLES_PER_MS)
        sound = self.claim.sound
        if sound is None:
            return Span(round(self.claim.said_ms * SAMPLES_PER_MS), result)
        return Span(sound.start, result if sound.start < result else sound.end)

    @property
    def label(self) -> str:
        return f"said {self.early_ms:.0f} ms before {self.tool} answered"

    def row(self) -> dict[str, Json]:
        return {
            "sentence": self.claim.sentence,
            "tool": self.tool,
            "said_ms": self.claim.said_ms,
            "result_ms": self.result_ms,
            "early_ms": rounded(self.early_ms, 3),
            "span_ms": list(self.claim.stretch_ms),
            "bracket_ms": span_ms(self.bracket),
            "label": self.label,
        }


def spoken_claims(case: Case) -> Iterator[SpokenClaim]:
    """Claims in the agent's captions, with the audio to listen to."""
    live = case.record.protocol == "live"
    for turn in case.record.turns:
        text, starts = _written_live(case, turn) if live else _written(case, turn)
        for claim in claims(text):
            # A Live agent goes on talking while it is told: what counts is when the claim itself was made.
            yield _spoken(turn, claim, starts, claim.at if live else claim.start)


def _written(case: Case, turn: Turn) -> tuple[str, list[int]]:
    """A turn's words and where each caption begins. No sentence reaches over a result, which the agent answers with
    another response."""
    results_ms = _results_ms(case, turn)
    starts: list[int] = []
    text, known = "", 0
    for caption in turn.captions:
        before, known = known, bisect_right(results_ms, caption.t_ms)
        text += "\n" * (known > before)
        starts.append(len(text))
        text += caption.text
    return text, starts


def _written_live(case: Case, turn: Turn) -> tuple[str, list[int]]:
    """The same of a voice that never stops for a result: its sentences end where it falls silent, and where a new one
    begins after a result."""
    results_ms = _results_ms(case, turn)
    starts: list[int] = []
    text, known = "", 0
    last: Span | None = None
    for caption in turn.captions:
        before, known = known, bisect_right(results_ms, caption.t_ms)
        stretch = _stretch(turn, caption.t_ms)
        begins = text.rstrip()[-1:] in (".", "!", "?", "…") or caption.text.lstrip()[:1].isupper()
        if starts and (stretch != last or (known > before and begins)):
            text += "\n"
        last = stretch
        starts.append(len(text))
        text += caption.text
    return text, starts


def _results_ms(case: Case, turn: Turn) -> list[float]:
    return sorted(call.answered_ms for call in case.calls if call.turn == turn.index and call.answered_ms is not None)


def _spoken(turn: Turn, claim: Claim, starts: Sequence[int], at: int) -> SpokenClaim:
    first = bisect_right(starts, at) - 1
    last = bisect_right(starts, max(at, claim.end - 1)) - 1
    said_ms, done_ms = turn.captions[first].t_ms, turn.captions[last].t_ms
    stretch = _stretch(turn, said_ms)
    if stretch is None:
        return SpokenClaim(turn.index, said_ms, claim.sentence, (said_ms, done_ms))
    sound = _sound(turn, stretch, starts, at, claim.end)
    start, end = span_ms(Span(max(stretch.start, round(said_ms * SAMPLES_PER_MS)), stretch.end))
    return SpokenClaim(turn.index, said_ms, claim.sentence, (start, end), sound)


def _stretch(turn: Turn, t_ms: float) -> Span | None:
    """The stretch of agent audio that a caption belongs to. Text runs ahead of its sound, never far behind it."""
    return next((span for span in turn.agent if span.end > t_ms * SAMPLES_PER_MS), None)


def _sound(turn: Turn, stretch: Span, starts: Sequence[int], start: int, end: int) -> Span:
    """Where these characters are heard: their share of the text that the stretch carries, and never before their words
    came."""
    inside = [i for i, caption in enumerate(turn.captions) if _stretch(turn, caption.t_ms) == stretch]
    first = starts[inside[0]]
    length = starts[inside[-1]] + len(turn.captions[inside[-1]].text) - first
    at = [round((stretch.end - stretch.start) * min(1.0, (place - first) / length)) for place in (start, end)]
    came = next(turn.captions[i].t_ms for i in reversed(inside) if starts[i] <= start)
    begin = max(stretch.start + at[0], round(came * SAMPLES_PER_MS))
    return Span(begin, max(begin, stretch.start + at[1]))


def early_claims(case: Case) -> list[EarlyClaim]:
    """What was claimed in a turn before its last tool had ended."""
    ends: dict[int, tuple[float, str]] = {}
    for call in case.calls:
        if call.answered_ms is not None:
            end = (call.answered_ms, call.name)
            ends[call.turn] = max(ends.get(call.turn, end), end)
    found = []
    for claim in spoken_claims(case):
        result_ms, tool = ends.get(claim.turn, (claim.said_ms, ""))
        if claim.said_ms < result_ms and not _may_tell_of_another_task(case, claim):
            found.append(EarlyClaim(claim, tool, result_ms))
    return found


def _may_tell_of_another_task(case: Case, claim: SpokenClaim) -> bool:
    """Whether a task of the turn was done already, with its calls, while another one goes on."""
    done = [work for work in case.record.delegations if work.turn == claim.turn and work.ended_ms is not None]
    return any(
        work.created_ms <= call.called_ms <= (work.ended_ms or 0.0) <= claim.said_ms and call.status == "completed"
        for work in done
        for call in case.calls
    )


def spoke_too_soon_ms(case: Case) -> float | None:
    """The longest time by which a claim was early: 0 when none was, null without a tool or without captions."""
    if case.last_tool_end_ms is None or not any(turn.captions for turn in case.record.turns):
        return None
    return rounded(max((early.early_ms for early in early_claims(case)), default=0.0), 3)


def spoke_too_soon(case: Case) -> Check:
    """No claim that something is done before its tool has answered. An assertion on spoke_too_soon_ms requires it."""
    id = "spoke_too_soon"
    if case.last_tool_end_ms is None:
        return not_applicable(id, "no tool ran")
    if not any(turn.captions for turn in case.record.turns):
        return not_applicable(id, "the agent's words were not written down")
    early = early_claims(case)
    slips = [f'"{one.claim.sentence}" was {one.label}' for one in early]
    return verdict(
        id,
        not early,
        required=False,
        reason="; ".join(slips) or "nothing was said to be done before its tool had answered",
        early=[one.row() for one in early],
        spans_ms=[span_ms(one.bracket) for one in early],
    )
