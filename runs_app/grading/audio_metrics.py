"""What the stereo recording says: who spoke when, how soon the agent answered, and how long nobody spoke.

CRAWL's definitions (metrics version 2.0) on edges refined inside the 20 ms frame; its unrefined latency stands beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from runs_app.grading import intervals
from runs_app.grading.murmurs import murmured
from runs_app.grading.percentiles import mean, rounded
from runs_app.realtime.record import SAMPLES_PER_MS, Record, Span, Turn
from runs_app.realtime.speech_edges import FRAME_MS, voiced, voiced_frames

RESPONSE_DEADLINE_MS: Final = 5_000

# A turn that ended so was not waited for: no answer before the deadline says nothing about the agent.
_BROKEN_OFF: Final = frozenset({"closed", "error", "failed", "stopped", "cancelled"})

Verdict = Literal["answered", "missed", "late", "censored", "excluded"]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


@dataclass(frozen=True)
class Voices:
    """Voiced stretches of both channels, in samples of the recording.

    Edges are refined; `caller_frames` and `agent_frames` are the same stretches, one for one, on the 20 ms grid.
    """

    caller: tuple[Span, ...]
    agent: tuple[Span, ...]
    caller_frames: tuple[Span, ...]
    agent_frames: tuple[Span, ...]
    samples: int


@dataclass(frozen=True)
class Response:
    """One caller turn as a chance to answer. "late": an answer came, but after the deadline: it counts as missed.

    `latency_ms` is from the last voiced caller sample to the first voiced agent sample, also for late answers.
    """

    turn: int
    verdict: Verdict
    reason: str
    request: Span
    latency_ms: float | None = None
    unrefined_ms: float | None = None
    answer_start: int | None = None


def listen(audio: npt.NDArray[np.int16], turns: Sequence[Turn] = ()) -> Voices:
    """`audio`: int16 of shape (samples, 2) at 24 kHz, caller left, agent right. Of `turns` under a condition of the
    line the caller's stretches are those of the clean words: noise hides their edges in the recording."""
    if audio.ndim != 2 or audio.shape[1] != 2:
        raise ValueError(f"the recording must be stereo: shape (samples, 2), not {audio.shape}")
    caller, agent = (np.ascontiguousarray(audio[:, channel]) for channel in (0, 1))
    spoken = _caller_stretches(caller, turns)
    return Voices(
        caller=tuple(stretch for stretch, _ in spoken),
        agent=tuple(voiced(agent)),
        caller_frames=tuple(frames for _, frames in spoken),
        agent_frames=tuple(voiced_frames(agent)),
        samples=len(audio),
    )


def _caller_stretches(caller: npt.NDArray[np.int16], turns: Sequence[Turn]) -> list[tuple[Span, Span]]:
    """Each stretch with its frames, in order."""
    covered = [turn.caller for turn in turns if turn.line is not None and turn.caller is not None]
    heard = zip(voiced(caller), voiced_frames(caller), strict=True)
    clean = [pair for pair in heard if not any(intervals.clip((pair[0],), place) for place in covered)]
    known = [(span, _on_grid(span)) for turn in turns if turn.line is not None for span in turn.line.voice]
    return sorted([*clean, *known], key=lambda pair: pair[0].start)


def _on_grid(span: Span) -> Span:
    size = FRAME_MS * SAMPLES_PER_MS
    return Span(span.start // size * size, -(-span.end // size) * size)


def responses(record: Record, voices: Voices) -> tuple[Response, ...]:
    """Every caller turn in which somebody speaks, with what came of it."""
    requests = [(turn, request) for turn in record.turns if (request := _request(turn, voices)) is not None]
    listening = murmured(record.turns)
    found = []
    for index, (turn, request) in enumerate(requests):
        following = requests[index + 1][1].start if index + 1 < len(requests) else None
        if turn.index in listening:
            found.append(Response(turn.index, "excluded", "a murmur over the agent asks for no answer", request))
        else:
            found.append(_response(turn, request, following, voices))
    return tuple(found)


def _request(turn: Turn, voices: Voices) -> Span | None:
    if turn.caller is None:
        return None
    spoken = intervals.clip(voices.caller, turn.caller)
    return Span(spoken[0].start, spoken[-1].end) if spoken else None


def _response(turn: Turn, request: Span, following: int | None, voices: Voices) -> Response:
    if any(span.start < request.end <= span.end for span in voices.agent):
        return Response(turn.index, "excluded", "the agent was speaking when the caller ended", request)
    place = next((index for index, span in enumerate(voices.agent) if span.start >= request.end), None)
    if place is None or (following is not None and voices.agent[place].start >= following):
        return _unanswered(turn, request, following, voices)
    answer_start = voices.agent[place].start
    latency_ms = (answer_start - request.end) / SAMPLES_PER_MS
    in_time = latency_ms <= RESPONSE_DEADLINE_MS
    return Response(
        turn=turn.index,
        verdict="answered" if in_time else "late",
        reason="" if in_time else f"the first sound came after {RESPONSE_DEADLINE_MS} ms",
        request=request,
        latency_ms=rounded(latency_ms, 3),
        unrefined_ms=rounded(_unrefined_ms(request, place, voices), 3),
        answer_start=answer_start,
    )


def _unrefined_ms(request: Span, answer: int, voices: Voices) -> float:
    """The same distance on the bare grid of 20 ms frames, as CRAWL measures it."""
    last = max(index for index, span in enumerate(voices.caller) if span.start < request.end)
    return (voices.agent_frames[answer].start - voices.caller_frames[last].end) / SAMPLES_PER_MS


def _unanswered(turn: Turn, request: Span, following: int | None, voices: Voices) -> Response:
    observed_ms = (voices.samples - request.end) / SAMPLES_PER_MS
    watched = following is not None or observed_ms >= RESPONSE_DEADLINE_MS
    if turn.status in _BROKEN_OFF and not watched:
        return Response(turn.index, "censored", "the conversation ended before the deadline", request)
    return Response(turn.index, "missed", "no sound from the agent", request)


def response_counts(record: Record, found: Sequence[Response]) -> dict[str, int]:
    """The denominators, named as CRAWL's report names them."""
    by_verdict = {verdict: sum(r.verdict == verdict for r in found) for verdict in VERDICTS}
    missed = by_verdict["missed"] + by_verdict["late"]
    return {
        "caller_turn_count": len(record.turns),
        "response_eligible_count": len(found) - by_verdict["excluded"],
        "response_censored_count": by_verdict["censored"],
        "response_excluded_count": len(record.turns) - len(found) + by_verdict["excluded"],
        "response_late_count": by_verdict["late"],
        "response_total": by_verdict["answered"] + missed,
        "response_count": by_verdict["answered"],
        "no_response_count": missed,
    }


def audio_metrics(record: Record, voices: Voices, found: Sequence[Response]) -> dict[str, float | None]:
    """Metrics of the recording; null where the conversation gave nothing to measure."""
    answered = [r for r in found if r.verdict == "answered"]
    chances = sum(r.verdict in ("answered", "missed", "late") for r in found)
    talk_overs = _talk_overs(record, voices, found)
    holds = intervals.subtract(_tool_waits(record, voices.samples), (*voices.caller, *voices.agent))
    real_time = record.real_time
    return {
        "response_rate": rounded(len(answered) / chances, 4) if chances else None,
        "response_latency_ms": rounded(mean([r.latency_ms for r in answered if r.latency_ms is not None]), 3),
        "response_latency_unrefined_ms": rounded(
            mean([r.unrefined_ms for r in answered if r.unrefined_ms is not None]), 3
        ),
        "response_late_count": sum(r.verdict == "late" for r in found),
        "interruption_rate": rounded(talk_overs / chances, 4) if chances and real_time else None,
        "agent_interruptions": talk_overs if real_time else None,
        "speaking_duration_ms": _ms(intervals.total(voices.agent)),
        "speaking_duration_max_ms": _ms(_longest_turn(record, voices)),
        "floor_hold_silence_ms": _ms(intervals.total(holds)),
        "floor_hold_silence_max_ms": _ms(intervals.longest(holds)),
        "agent_speech_ms": _ms(sum(intervals.total(intervals.union(t.agent)) for t in record.turns)),
        "user_speech_ms": _ms(sum(intervals.total((t.caller,)) for t in record.turns if t.caller)),
    }


def _ms(samples: int) -> float | None:
    return rounded(samples / SAMPLES_PER_MS, 3)


def _talk_overs(record: Record, voices: Voices, found: Sequence[Response]) -> int:
    """Agent stretches that begin while the caller speaks; not those of a reply that the caller himself talked over."""
    eligible = [s for r in found for s in intervals.clip(voices.caller, r.request)]
    interrupted = [part for turn in record.turns if turn.interrupted for part in turn.agent]
    return sum(
        any(s.start <= agent.start < s.end for s in eligible)
        and not any(part.start < agent.start < part.end for part in interrupted)
        for agent in voices.agent
    )


def _longest_turn(record: Record, voices: Voices) -> int:
    windows = [Span(min(s.start for s in t.agent), max(s.end for s in t.agent)) for t in record.turns if t.agent]
    inside = [intervals.total(intervals.clip(voices.agent, window)) for window in windows]
    return max(inside, default=intervals.longest(voices.agent))


def _tool_waits(record: Record, samples: int) -> tuple[Span, ...]:
    """While a task is under way behind the voice; where the voice itself calls the tools, from the first function call
    of a turn to the end of the reply that follows its results. Inside the recording."""
    if record.protocol == "live" or record.delegations:
        return intervals.union(_clipped(work.created_ms, work.ended_ms, samples) for work in record.delegations)
    waits = []
    for turn in record.turns:
        calls = [call.called_ms for call in record.tool_calls if call.turn == turn.index]
        if calls:
            waits.append(_clipped(min(calls), turn.done_ms, samples))
    return intervals.union(waits)


def _clipped(start_ms: float, end_ms: float | None, samples: int) -> Span:
    """Of the recording; one that never ended lasts to its end."""
    end = samples if end_ms is None else min(samples, _sample(end_ms))
    return Span(max(0, _sample(start_ms)), end)


def _sample(t_ms: float) -> int:
    return round(t_ms * SAMPLES_PER_MS)


def turn_numbers(found: Sequence[Response]) -> dict[int, dict[str, Any]]:
    """What one row per turn shows, by turn index; times in ms of the timeline."""
    return {
        r.turn: {
            "response": r.verdict,
            "response_reason": r.reason,
            "caller_speech_start_ms": _ms(r.request.start),
            "caller_speech_end_ms": _ms(r.request.end),
            "agent_speech_start_ms": None if r.answer_start is None else _ms(r.answer_start),
            "response_latency_ms": r.latency_ms,
            "response_latency_unrefined_ms": r.unrefined_ms,
        }
        for r in found
    }
