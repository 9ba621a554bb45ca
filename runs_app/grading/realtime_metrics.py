"""Metrics of the protocol's own clock: when frames were sent and received, and what the agent says it used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from runs_app.grading.percentiles import mean, nearest_rank, rounded
from runs_app.realtime.record import Record, Turn

Numbers = dict[str, float | None]

PERCENTILES: Final = {"p50": 50, "p95": 95, "max": 100}


def realtime_metrics(record: Record) -> Numbers:
    """The Realtime target's metrics. In text mode there is no audio to wait for: those are null."""
    audio = record.mode == "audio"
    first_audio = [since_sent_ms(turn, turn.first_audio_ms) for turn in record.turns] if audio else []
    return {
        **spread("turn_latency_ms", [since_sent_ms(turn, turn.done_ms) for turn in record.turns]),
        **spread("time_to_first_token_ms", [first_token_ms(turn) for turn in record.turns]),
        **spread("time_to_first_audio_ms", first_audio),
        "event_latency_ms": rounded(mean(_known(first_audio)), 3),
        "turns": len(record.turns),
        "session_seconds": record.session_seconds,
        "ws_messages_received": record.ws_messages_received,
        **_pacing(record),
        **_usage(record),
    }


def since_sent_ms(turn: Turn, moment_ms: float | None) -> float | None:
    """From the turn sent (audio: the commit, or the caller's last voiced sample) to a moment of its answer."""
    return None if moment_ms is None else rounded(moment_ms - turn.sent_ms, 3)


def first_token_ms(turn: Turn) -> float | None:
    """The first delta of any kind: text, transcript or audio."""
    moments = _known((turn.first_token_ms, turn.first_audio_ms))
    return since_sent_ms(turn, min(moments)) if moments else None


def spread(name: str, values: Sequence[float | None]) -> Numbers:
    """Mean under the bare name; p50, p95 (nearest rank) and max beside it."""
    known = _known(values)
    ranks = {f"{name}_{label}": rounded(nearest_rank(known, p), 3) for label, p in PERCENTILES.items()}
    return {name: rounded(mean(known), 3), **ranks}


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _pacing(record: Record) -> Numbers:
    pacing = record.pacing if record.real_time else None
    return {
        "pacing_lag_p99_ms": rounded(pacing.lag_p99_ms, 3) if pacing else None,
        "pacing_lag_max_ms": rounded(pacing.lag_max_ms, 3) if pacing else None,
    }


def _usage(record: Record) -> Numbers:
    usage = record.usage
    return {
        "agent_input_tokens": usage.input_tokens,
        "agent_output_tokens": usage.output_tokens,
        "agent_total_tokens": usage.total_tokens,
        "agent_input_text_tokens": usage.input_text_tokens,
        "agent_input_audio_tokens": usage.input_audio_tokens,
        "agent_input_cached_tokens": usage.input_cached_tokens,
        "agent_output_text_tokens": usage.output_text_tokens,
        "agent_output_audio_tokens": usage.output_audio_tokens,
        "backend_input_tokens": record.backend_usage.input_tokens,
        "backend_output_tokens": record.backend_usage.output_tokens,
    }
