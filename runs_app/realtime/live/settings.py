"""session.start of a Live session from a configuration: the voice in front, and the backend that thinks for it."""

from __future__ import annotations

from collections.abc import Sequence

from runs_app.realtime.context import with_context
from runs_app.realtime.dialects.base import Body
from runs_app.realtime.formats import format_of
from runs_app.realtime.live.dialect import live_format
from runs_app.realtime.merging import merge
from scenarios_app.spec.configuration import Backend, Configuration


def live_session(
    configuration: Configuration,
    *,
    model: str,
    tools: Sequence[Body],
    context: str,
    history: Sequence[tuple[str, str]],
) -> Body:
    """`tools`: all of them, those of session_update too. What the agent may know goes to both prompts: the voice may
    answer by itself, and the backend hears nothing of what the voice was told."""
    session: Body = {
        "model": model,
        "instructions": with_context(configuration.instructions, context),
        "audio": {
            "format": live_format(format_of(configuration.audio.input)),
            "output": {"voice": configuration.voice} if configuration.voice else None,
        },
        "delegation": _delegation(configuration, tools, context),
        "input": [_message(role, text) for role, text in history],
    }
    session["audio"] = _given(session["audio"])
    over = {key: value for key, value in configuration.session_update.items() if key != "tools"}
    return merge(_given(session), over)


def _delegation(configuration: Configuration, tools: Sequence[Body], context: str) -> Body:
    backend = configuration.backend or Backend()
    if backend.mode == "client":
        return {"type": "client"}
    responses: Body = {
        "model": backend.model,
        "instructions": with_context(backend.instructions or configuration.instructions, context),
        "tools": [_given(tool) for tool in tools],
        "tool_choice": "auto" if tools else None,
        "parallel_tool_calls": True if tools else None,
        "reasoning": {"effort": backend.reasoning} if backend.reasoning else None,
        "text": {"verbosity": backend.verbosity} if backend.verbosity else None,
        "max_output_tokens": backend.max_output_tokens,
    }
    return {"type": "responses", "responses": _given(responses)}


def _message(role: str, text: str) -> Body:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _given(told: Body) -> Body:
    return {key: value for key, value in told.items() if value not in (None, "", [], {})}
