"""The calls of one response: executed one after the other, each answered, then one new response asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Literal

from runs_app.realtime import faults
from runs_app.realtime.calls import Arguments, CallBook, CallDraft, read_arguments, tool_call
from runs_app.realtime.delegation.assistant import DELEGATE_TOOL
from runs_app.realtime.dialects.base import ResponseEnded
from runs_app.realtime.line import Line
from runs_app.realtime.record import Json
from runs_app.realtime.tools import FaultNote, ToolOutcome, ToolSandboxError
from runs_app.realtime.turns import TurnDraft
from scenarios_app.spec.jsontext import clean, finite


@dataclass(frozen=True)
class Round:
    """`answered`: an output went back, so the agent has something to say. `done`: it called the done tool.
    `over`: it called tools again after the last round allowed."""

    answered: bool = False
    done: bool = False
    over: bool = False


# Where the output of a call goes: its id, and the text.
Give = Callable[[str, str], Awaitable[None]]


async def answer_calls(
    line: Line, turn: TurnDraft, ended: ResponseEnded, *, book: CallBook | None = None, give: Give | None = None
) -> Round:
    """Handle every call of the response that just ended. `book`, `give`: of a backend that is not the agent's server.
    Raises BrokenOff."""
    plan = line.journal.plan
    hand_over = line.journal.hand_over if book is None else None  # a backend hands nothing on to itself
    drafts = (book or line.journal.calls).take()
    give = give or _to_the_agent(line)
    over = turn.rounds >= plan.tool_rounds
    answered = done = refused = False
    for draft in drafts:
        arguments = read_arguments(draft.raw, required=plan.required_arguments.get(draft.name or "", ()))
        # Cut off by the caller, it may not have been meant to be the whole of it.
        done = done or (draft.name == plan.done_tool and draft.name is not None and ended.status != "cancelled")
        if hand_over is not None and _hands_over(draft, ended) and not over:
            task = await hand_over(turn, draft, arguments)
            answered, done, refused = answered or task.answered, done or task.done, refused or task.over
            continue
        why_not = _why_not_answered(line, draft, ended)
        if why_not is None and over:
            why_not, refused = f"more than {plan.tool_rounds} tool rounds in one turn", True
        _note_called(line, turn, draft, arguments)
        if why_not is not None:
            _keep(line, turn, draft, arguments, ToolOutcome("recorded", error=why_not or None))
            continue
        answered = await _answer(line, turn, draft, arguments, give) or answered
    return Round(answered=answered and not done, done=done, over=refused)


def _hands_over(draft: CallDraft, ended: ResponseEnded) -> bool:
    return draft.name == DELEGATE_TOOL and ended.status == "completed" and draft.item_status != "incomplete"


def _why_not_answered(line: Line, draft: CallDraft, ended: ResponseEnded) -> str | None:
    """None for a call to be answered; an empty text where nothing is wrong, only nobody answers."""
    if ended.status != "completed" or draft.item_status == "incomplete":
        return f"the response ended {ended.status} before the call was complete"
    if draft.name == line.journal.plan.done_tool:
        return ""
    if not draft.name:
        return "the call has no name"
    return None if line.journal.plan.executor.declares(draft.name) else ""


def _to_the_agent(line: Line) -> Give:
    async def send(call_id: str, output: str) -> None:
        await line.send(line.journal.plan.dialect.tool_output(call_id, output))

    return send


async def _answer(line: Line, turn: TurnDraft, draft: CallDraft, arguments: Arguments, give: Give) -> bool:
    """True when an output went back."""
    if arguments.value is None:
        outcome = ToolOutcome("failed", output={"error": arguments.error}, error=arguments.error)
    else:
        outcome = await _execute(line, turn, draft, arguments)
    if outcome.status == "recorded":
        _keep(line, turn, draft, arguments, outcome)
        return False
    answered_ms = line.journal.now_ms()
    # Kept before it is sent: if the line breaks here, the call was still executed.
    _keep(line, turn, draft, arguments, outcome, answered_ms)
    await give(draft.id, output_text(outcome))
    return True


async def _execute(line: Line, turn: TurnDraft, draft: CallDraft, arguments: Arguments) -> ToolOutcome:
    plan, clock = line.journal.plan, line.journal.clock
    name, limit_s = draft.name or "", plan.timeouts.turn_s
    try:
        async with asyncio.timeout(limit_s):
            outcome = await plan.executor.execute(name, arguments.value or {})
    except (ToolSandboxError, TimeoutError) as exc:
        reason = str(exc) or f"no result within {limit_s:g} s"
        _keep(line, turn, draft, arguments, ToolOutcome("failed", error=reason))
        raise faults.sandbox_broke(name, reason) from exc
    if outcome.fault is not None:
        _note_fault(line, turn, draft, outcome.fault)
    if outcome.delay_ms <= 0:
        return outcome
    await line.wait_until(clock.now_s() + min(outcome.delay_ms / 1000, limit_s))
    if outcome.delay_ms / 1000 > limit_s:
        late = ToolOutcome("failed", error=f"no answer within {limit_s:g} s", fault=outcome.fault)
        _keep(line, turn, draft, arguments, late)
        raise faults.no_answer(limit_s, f"answer of the tool {name}")
    return outcome


def output_text(outcome: ToolOutcome) -> str:
    """What goes back to the agent: declared text as it is, everything else as JSON."""
    if outcome.output_text is not None:
        return outcome.output_text
    if isinstance(outcome.output, str):
        return outcome.output
    if outcome.output is None and outcome.error is not None:
        return json.dumps({"error": outcome.error}, ensure_ascii=False)
    return json.dumps(finite(outcome.output), ensure_ascii=False)


def _note_called(line: Line, turn: TurnDraft, draft: CallDraft, arguments: Arguments) -> None:
    payload: dict[str, Json] = {"call_id": draft.id, "name": draft.name, "arguments": arguments.value}
    if arguments.error is not None:
        payload |= {"arguments_raw": draft.raw, "parse_error": arguments.error}
    now_s = line.journal.clock.now_s()
    line.journal.log.note(now_s, "tool.called", source="tool", turn=turn.index, round=turn.rounds, **payload)


def _note_fault(line: Line, turn: TurnDraft, draft: CallDraft, fault: FaultNote) -> None:
    payload = {"call_id": draft.id, "name": draft.name, **asdict(fault)}
    line.journal.log.note(line.journal.clock.now_s(), "tool.fault", source="tool", turn=turn.index, **payload)


def _keep(
    line: Line,
    turn: TurnDraft,
    draft: CallDraft,
    arguments: Arguments,
    outcome: ToolOutcome,
    answered_ms: float | None = None,
) -> None:
    status: Literal["completed", "failed", "recorded"] = outcome.status
    output = clean(finite(outcome.output if outcome.output_text is None else outcome.output_text))
    call = tool_call(
        draft,
        arguments,
        turn=turn.index,
        round=turn.rounds,
        status=status,
        answered_ms=answered_ms,
        output=output,
        error=outcome.error,
        fault=outcome.fault.mode if outcome.fault else None,
    )
    line.journal.tool_calls.append(call)
    line.journal.log.note(
        line.journal.clock.now_s(),
        "tool.result",
        source="tool",
        turn=turn.index,
        call_id=call.call_id,
        name=call.name,
        status=status,
        output=output,
        error=outcome.error,
        delay_ms=outcome.delay_ms,
    )
