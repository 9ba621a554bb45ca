"""Events, trials and counts of a live page in plain words. The wire's own type stays in the hover."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

from runs_app.models import Run

register = template.Library()

EVENTS = {
    # what the harness observed
    "session.opened": "connected",
    "session.ready": "session ready",
    "session.ended": "session ended",
    "turn.started": "caller begins",
    "caller.audio": "caller audio",
    "turn.sent": "caller has spoken",
    "turn.ended": "turn over",
    "caller.interrupts": "caller breaks in",
    "agent.turn": "agent has answered",
    "tool.called": "tool called",
    "tool.result": "tool answered",
    "tool.fault": "tool spoiled on purpose",
    "warning": "warning",
    # the wire: what we send
    "session.update": "session set up",
    "conversation.item.create": "message sent",
    "input_audio_buffer.commit": "audio handed over",
    "response.create": "answer asked for",
    "response.cancel": "answer called off",
    "conversation.item.truncate": "answer cut at what was heard",
    # the wire: what the agent's server sends
    "error": "error",
    "session.created": "session created",
    "session.updated": "session confirmed",
    "conversation.created": "conversation opened",
    "conversation.item.created": "message taken",
    "conversation.item.added": "message taken",
    "conversation.item.done": "message complete",
    "conversation.item.input_audio_transcription.delta": "caller heard, a piece",
    "conversation.item.input_audio_transcription.completed": "caller heard",
    "input_audio_buffer.committed": "audio taken",
    "input_audio_buffer.speech_started": "caller speech noticed",
    "input_audio_buffer.speech_stopped": "caller silence noticed",
    "response.created": "answer begun",
    "response.output_item.added": "part of answer begun",
    "response.output_item.done": "part of answer over",
    "response.content_part.added": "content begun",
    "response.content_part.done": "content over",
    "response.output_text.delta": "words",
    "response.output_text.done": "all words",
    "response.text.delta": "words",
    "response.text.done": "all words",
    "response.output_audio.delta": "audio",
    "response.output_audio.done": "all audio",
    "response.audio.delta": "audio",
    "response.audio.done": "all audio",
    "response.output_audio_transcript.delta": "spoken words",
    "response.output_audio_transcript.done": "all spoken words",
    "response.audio_transcript.delta": "spoken words",
    "response.audio_transcript.done": "all spoken words",
    "response.function_call_arguments.delta": "arguments, a piece",
    "response.function_call_arguments.done": "all arguments",
    "response.done": "answer over",
    "rate_limits.updated": "rate limits",
}

STATES = {
    "queued": "waits for its turn",
    "running": "under way",
    "grading": "waits for its verdict",
}


@register.filter
def event_words(type: str) -> str:
    """`response.created` -> `answer begun`; a type that nobody named stays as it is."""
    return EVENTS.get(type, type)


@register.filter
def state_words(state: str) -> str:
    return STATES.get(state, state)


@register.filter
def shape_of(state: str) -> str:
    """The symbol of runs_app/shapes.html: a trial that waits for its verdict is still under way."""
    return "running" if state == "grading" else state


@register.filter
def tab_title(run: Run, counts: Mapping[str, int]) -> str:
    """What is worth knowing in a tab that nobody looks at: `12/48, 3 failed`."""
    told = [f"{counts['done']}/{counts['total']}"]
    told += [f"{counts[name]} {name}" for name in ("failed", "invalid") if counts[name]]
    return f"{', '.join(told)} · {run} - Soundcheck"


@register.filter
def minutes_words(minutes: float | None) -> str:
    """0.4 -> under a minute; 12.3 -> about 12 min; 75 -> about 1 h 15 min"""
    if minutes is None:
        return ""
    if minutes < 0.95:
        return "under a minute"
    whole = round(minutes)
    return f"about {whole} min" if whole < 60 else f"about {whole // 60} h {whole % 60} min"
