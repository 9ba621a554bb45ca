"""The catalogue of metrics: every number that grading gives for a trial, with its unit and its definition.

Docs and page hovers read it; a test holds it against what grading really gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Better = Literal["higher", "lower"] | None
Group = Literal["task", "audio", "latency", "consumption"]

# Latency in the recording against latency by events: beyond this it is worth a look. Voices begin with up to 150 ms
# that nobody hears (117 to 141 ms in the simulator's), so a limit of 100 ms would mark every trial.
CLOCKS_DIFFER_MS: Final = 200.0


@dataclass(frozen=True)
class MetricInfo:
    """`better` None: neither direction is better in itself. Groups follow CRAWL, latency is the protocol's clock."""

    unit: str
    definition: str
    better: Better
    group: Group


def _spread(name: str, definition: str, *, of: str = "turns", group: Group = "latency") -> dict[str, MetricInfo]:
    ends = {
        "": f"mean over the {of}",
        "_p50": "median by nearest rank",
        "_p95": f"95th percentile by nearest rank (one in twenty {of} is slower; under 59 {of} it says little)",
        "_max": f"longest of the {of}",
    }
    return {f"{name}{end}": MetricInfo("ms", f"{definition}; {how}", "lower", group) for end, how in ends.items()}


_TASK: Final = {
    "task_completed": MetricInfo(
        "yes/no", "No required check failed. Null when the trial is not graded.", "higher", "task"
    ),
    "semantic_quality": MetricInfo(
        "score", "Mean of the judge's scores over the dimensions that apply and were assessed.", "higher", "task"
    ),
    "tool_accuracy": MetricInfo(
        "share",
        "Expected calls that were made in order, with the right arguments, and ran, divided by the longer of the two "
        "lists. 0 after a prohibited call. Null when the scenario says nothing about tools.",
        "higher",
        "task",
    ),
    "tool_calls": MetricInfo("calls", "Calls that the agent made, once per call id.", None, "task"),
    "tool_calls_expected": MetricInfo("calls", "Calls that the scenario requires.", None, "task"),
    "delegation_accuracy": MetricInfo(
        "share", "1 when the agent delegated if and only if it should; null when it was free to.", "higher", "task"
    ),
    "delegations": MetricInfo(
        "responses",
        "Responses that called at least one function; where a backend stands behind the voice, the tasks handed on.",
        None,
        "task",
    ),
    "delegations_expected": MetricInfo("responses", "1 if delegation is required, 0 if forbidden.", None, "task"),
    "turns": MetricInfo("turns", "Turns of the agent: caller turns that it was asked to answer.", None, "task"),
    "conversation_turns": MetricInfo("turns", "Caller turns plus replies, as CRAWL counts turns.", None, "task"),
    "conversation_turns_expected": MetricInfo("turns", "Two for each caller turn.", None, "task"),
}

_AUDIO: Final = {
    "response_rate": MetricInfo(
        "share",
        "Caller turns answered by sound within 5,000 ms of the caller's last voiced sample, of those answered or "
        "missed.",
        "higher",
        "audio",
    ),
    "response_latency_ms": MetricInfo(
        "ms",
        "From the caller's last voiced sample to the agent's first, mean over the answered turns, measured in the "
        "recording with edges to 1 ms.",
        "lower",
        "audio",
    ),
    "response_latency_unrefined_ms": MetricInfo(
        "ms", "The same on CRAWL's bare grid of 20 ms frames, up to 38 ms off.", "lower", "audio"
    ),
    "response_late_count": MetricInfo("turns", "First sound after 5,000 ms: counted as missed.", "lower", "audio"),
    "latency_difference_ms": MetricInfo(
        "ms",
        "Latency in the recording minus latency by protocol events, mean over turns that have both: silence at the "
        "start of the agent's audio and the end of the caller's.",
        None,
        "audio",
    ),
    "interruption_rate": MetricInfo(
        "share",
        "Agent stretches that begin while the caller speaks, divided by the turns answered or missed. Real time only.",
        "lower",
        "audio",
    ),
    "agent_interruptions": MetricInfo(
        "times", "Agent stretches that begin while the caller speaks. Real time only.", "lower", "audio"
    ),
    "interruptions": MetricInfo(
        "times",
        "Turns in which the caller talked over the agent, as the script or the persona wants it.",
        None,
        "audio",
    ),
    **_spread(
        "agent_stop_ms",
        "From the caller's first voiced sample over the agent to the agent's last, in the recording",
        of="interruptions",
        group="audio",
    ),
    "yield_rate": MetricInfo(
        "share",
        "Interruptions of the caller after which the agent was silent within 2,000 ms, of those in which it was heard. "
        "Murmurs are none.",
        "higher",
        "audio",
    ),
    "backchannel_rate": MetricInfo(
        "share",
        "Murmurs of the caller over the agent (nothing but mhm, yes, okay and the like; English wording) after which "
        "it was still speaking 1,000 ms later, of those in which it was heard. Null where we stop the agent ourselves.",
        "higher",
        "audio",
    ),
    "selectivity": MetricInfo(
        "share",
        "Mean of yield_rate and backchannel_rate: 0.5 for an agent that always falls silent, or never. Null without "
        "both an interruption and a murmur.",
        "higher",
        "audio",
    ),
    "split_turns": MetricInfo(
        "turns",
        "Turns in which the server took a pause of the caller for their end. Null without turn detection.",
        "lower",
        "audio",
    ),
    "speaking_duration_ms": MetricInfo("ms", "Voiced time of the agent.", None, "audio"),
    "speaking_duration_max_ms": MetricInfo("ms", "The most voiced time in one agent turn.", None, "audio"),
    "floor_hold_silence_ms": MetricInfo(
        "ms",
        "Time in which a task is under way behind the voice and nobody speaks, summed; where the voice itself calls "
        "the tools, from the first call of a turn to the end of its reply.",
        "lower",
        "audio",
    ),
    "floor_hold_silence_max_ms": MetricInfo("ms", "The longest single stretch of that silence.", "lower", "audio"),
    "spoke_too_soon_ms": MetricInfo(
        "ms",
        "How long before the end of its turn's last tool the agent claimed success (English wording; GPT Live: its "
        "claiming words), the longest of all turns; 0 when it never did, null when no tool ran.",
        "lower",
        "audio",
    ),
    "agent_speech_ms": MetricInfo("ms", "Length of the agent's audio, silence in it included.", None, "audio"),
    "user_speech_ms": MetricInfo("ms", "Length of the caller's audio, silence in it included.", None, "audio"),
    "heard_word_error_rate": MetricInfo(
        "share", "Words of the script that the agent's side heard wrongly, of the words said.", "lower", "audio"
    ),
    "heard_digits_differ": MetricInfo("turns", "Turns whose digits were heard differently.", "lower", "audio"),
}

_LATENCY: Final = {
    **_spread("turn_latency_ms", "From the turn sent to response.done (GPT Live: to the end of the agent's last word)"),
    **_spread("time_to_first_token_ms", "From the turn sent to the first text, transcript or audio delta"),
    **_spread(
        "time_to_first_audio_ms",
        "From the turn sent (the commit, or the caller's last voiced sample) to the first audio delta",
    ),
    **_spread(
        "endpointing_delay_ms",
        "From the caller's last voiced sample until the server's turn detection took the words as ended",
    ),
    **_spread(
        "interruption_stop_ms",
        "From our response.cancel to the response.done that confirms it",
        of="interruptions",
    ),
    "event_latency_ms": MetricInfo(
        "ms",
        "The second clock: turn sent to first audio delta by protocol events, mean over the turns.",
        "lower",
        "latency",
    ),
    "pacing_lag_p99_ms": MetricInfo(
        "ms", "How late the caller's chunks were sent; 99 of 100 were earlier.", "lower", "latency"
    ),
    "pacing_lag_max_ms": MetricInfo("ms", "The latest chunk of the caller's audio.", "lower", "latency"),
}


def _tokens(definition: str) -> MetricInfo:
    return MetricInfo("tokens", definition, "lower", "consumption")


_CONSUMPTION: Final = {
    "agent_input_tokens": _tokens("Input tokens that the agent reports, summed over its responses."),
    "agent_output_tokens": _tokens("Output tokens that the agent reports."),
    "agent_total_tokens": _tokens("All tokens that the agent reports."),
    "agent_input_text_tokens": _tokens("Input tokens of text."),
    "agent_input_audio_tokens": _tokens("Input tokens of audio."),
    "agent_input_cached_tokens": _tokens("Input tokens read from the provider's cache; part of the input tokens."),
    "agent_output_text_tokens": _tokens("Output tokens of text."),
    "agent_output_audio_tokens": _tokens("Output tokens of audio."),
    "backend_input_tokens": _tokens("Input tokens of our own backend behind the voice; null where it has none."),
    "backend_output_tokens": _tokens("Output tokens of our own backend behind the voice."),
    "judge_input_tokens": _tokens("Input tokens of the judge, kept apart from the agent's."),
    "judge_output_tokens": _tokens("Output tokens of the judge."),
    "session_seconds": MetricInfo(
        "s",
        "Length of a GPT Live session as the provider bills it; null on the Realtime protocol.",
        "lower",
        "consumption",
    ),
    "ws_messages_received": MetricInfo("messages", "Events that the server sent.", None, "consumption"),
}

METRICS: Final[dict[str, MetricInfo]] = {**_TASK, **_AUDIO, **_LATENCY, **_CONSUMPTION}
