"""conversation.transcript.txt: what both sides said and did, one line each, with times in ms of the recording."""

from __future__ import annotations

from runs_app.realtime.record import Record, Span, ToolCall, Turn
from runs_app.trial_page.transcript import Line, span_ms, transcript
from scenarios_app.spec.jsontext import dumps

MOST_JSON = 240  # characters of a tool's arguments or result


def transcript_text(record: Record) -> str:
    lines, delegated = [], set[object]()
    for line in transcript(record):
        if line.call is None:
            lines.append(_said(record.turns[line.turn], line, record))
            continue
        response = line.call.response_id or (line.call.turn, line.call.round)
        if response not in delegated:
            delegated.add(response)
            lines.append(f"DELEGATION {line.at_ms:.0f}ms: target=direct")
        lines.append(_tool(line.call))
    return "".join(f"{line}\n" for line in lines)


def _said(turn: Turn, line: Line, record: Record) -> str:
    text = " ".join(line.text.split())
    if line.who == "caller":
        start, end = span_ms(turn.caller) if turn.caller else (line.at_ms, line.at_ms)
        return f"USER {start:.0f}..{end:.0f}ms{_overlap(turn.caller, record)}: {text}"
    ends = [span_ms(span)[1] for span in turn.agent if span_ms(span)[1] > line.at_ms]
    end = min(ends, default=max(line.at_ms, turn.done_ms or line.at_ms))
    return f"ASSISTANT {line.at_ms:.0f}..{end:.0f}ms: {text}"


def _overlap(caller: Span | None, record: Record) -> str:
    """Said where the caller and any of the agent's audio lie over each other."""
    if caller is None:
        return ""
    spans = (span for turn in record.turns for span in turn.agent)
    return " [OVERLAP]" if any(s.start < caller.end and caller.start < s.end for s in spans) else ""


def _tool(call: ToolCall) -> str:
    given = call.arguments if call.arguments is not None else call.arguments_raw
    result = call.output if call.error is None else {"error": call.error}
    shown = f"name={call.name} status={call.status} arguments={_short(given)} result={_short(result)}"
    return f"TOOL {call.called_ms:.0f}ms: {shown}"


def _short(value: object) -> str:
    text = dumps(value)
    return text if len(text) <= MOST_JSON else f"{text[: MOST_JSON - 1]}…"
