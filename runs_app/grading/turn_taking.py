"""Who gives way, and how soon: the end of the caller's words as the server takes it, and the caller's voice over the
agent's: interruptions that want the floor, and murmurs that do not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from runs_app.grading import intervals
from runs_app.grading.audio_metrics import Voices
from runs_app.grading.murmurs import murmured
from runs_app.grading.percentiles import mean, rounded
from runs_app.grading.realtime_metrics import Numbers, spread
from runs_app.realtime.dialects.realtime_session import turn_detection_of
from runs_app.realtime.record import SAMPLES_PER_MS, Record, Span, Turn

# From the caller's first voiced sample, as in CRAWL's sibling RUN.
YIELD_WITHIN_MS = 2_000.0
SPOKE_ON_MS = 1_000
PAUSE_SAMPLES = 500 * SAMPLES_PER_MS  # of an agent that speaks on


def turn_taking_metrics(record: Record, voices: Voices | None) -> Numbers:
    """All null in text mode. Not in real time nobody talks over anybody, and detection still takes its time."""
    turns = record.turns if record.mode == "audio" else ()
    over = turns if record.real_time else ()
    detected = [turn for turn in turns if turn.endpoint_ms is not None or turn.splits]
    listening = murmured(over)
    stops_ms = [stop_ms for index, stop_ms in agent_stops_ms(over, voices).items() if index + 1 not in listening]
    yields = mean([stop_ms <= YIELD_WITHIN_MS for stop_ms in stops_ms])
    speaks_on = mean(spoken_on(over, voices)) if _choice_is_the_agents(record) else None
    return {
        **spread("endpointing_delay_ms", [endpointing_delay_ms(turn) for turn in turns]),
        **spread("interruption_stop_ms", [turn.interruption_stop_ms for turn in over]),
        **spread("agent_stop_ms", stops_ms),
        "yield_rate": rounded(yields, 4),
        "backchannel_rate": rounded(speaks_on, 4),
        "selectivity": None if yields is None or speaks_on is None else rounded((yields + speaks_on) / 2, 4),
        "interruptions": sum(turn.interrupted for turn in turns) if record.real_time and turns else None,
        "split_turns": sum(turn.splits > 0 for turn in turns) if detected else None,
    }


def endpointing_delay_ms(turn: Turn) -> float | None:
    """From the caller's last voiced sample until the server took the words as ended."""
    return None if turn.endpoint_ms is None else rounded(turn.endpoint_ms - turn.sent_ms, 3)


def agent_stops_ms(turns: Sequence[Turn], voices: Voices | None) -> dict[int, float]:
    """By the index of an interrupted turn: from the caller's first voiced sample over it to the agent's last."""
    if voices is None:
        return {}
    found = {}
    for turn, following in pairwise(turns):
        if turn.interrupted and following.caller is not None:
            onset = intervals.clip(voices.caller, following.caller)
            heard = [span for part in turn.agent for span in intervals.clip(voices.agent, part)]
            if onset and heard:
                last = max(span.end for span in heard)
                found[turn.index] = round(max(0, last - onset[0].start) / SAMPLES_PER_MS, 3)
    return found


def _choice_is_the_agents(record: Record) -> bool:
    """Without turn detection by the server it is we who stop the agent."""
    return record.protocol == "live" or turn_detection_of(record.session) is not None


def spoken_on(turns: Sequence[Turn], voices: Voices | None) -> list[bool]:
    """For each murmur over a speaking agent: whether it spoke on."""
    if voices is None:
        return []
    listening = murmured(turns)
    found = [_spoke_on(turn, voices) for turn in turns if turn.index in listening]
    return [each for each in found if each is not None]


def _spoke_on(murmur: Turn, voices: Voices) -> bool | None:
    """None where the agent was not speaking when the murmur began. What goes on after a pause is looked for in the
    whole channel: it may be taken for the answer to the murmur."""
    onset = intervals.clip(voices.caller, murmur.caller) if murmur.caller else ()
    if not onset:
        return None
    at = onset[0].start
    flowing = intervals.union(Span(span.start, span.end + PAUSE_SAMPLES) for span in voices.agent)
    ends = [span.end - PAUSE_SAMPLES for span in flowing if span.start < at < span.end - PAUSE_SAMPLES]
    return ends[0] - at >= SPOKE_ON_MS * SAMPLES_PER_MS if ends else None


def turn_taking_rows(record: Record, voices: Voices | None) -> dict[int, dict[str, Any]]:
    """What one row per turn shows, by turn index."""
    stops = agent_stops_ms(record.turns, voices) if record.real_time else {}
    return {
        turn.index: {
            "interrupted": turn.interrupted,
            "interrupted_ms": turn.interrupted_ms,
            "interruption_stop_ms": turn.interruption_stop_ms,
            "agent_stop_ms": stops.get(turn.index),
            "endpointing_delay_ms": endpointing_delay_ms(turn),
            "splits": turn.splits,
        }
        for turn in record.turns
    }
