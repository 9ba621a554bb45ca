"""The trial's side of one delegated task: its calls are executed and kept as those of any other agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from runs_app.realtime import toolround
from runs_app.realtime.answering import words
from runs_app.realtime.calls import CallBook
from runs_app.realtime.delegation.assistant import Answered, Executed
from runs_app.realtime.delegation.elsewhere import ToolsElsewhere
from runs_app.realtime.dialects.base import CallSeen, ResponseEnded
from runs_app.realtime.line import Line
from runs_app.realtime.live.state import Work
from runs_app.realtime.record import Json, ToolCall
from runs_app.realtime.toolround import Round
from runs_app.realtime.turns import TurnDraft

WHOLE = ResponseEnded(None, "completed", None, None, "", None)


@dataclass
class TrialDesk:
    """`said`: of the task, so far. `publish`: who tells the voice at once; None where it waits for all of it. `round`:
    what ended the task before its answer, as the done tool does."""

    line: Line
    turn: TurnDraft
    work: Work
    publish: Callable[[str], Awaitable[None]] | None = None
    said: list[str] = field(default_factory=list)
    round: Round | None = None
    book: CallBook = field(default_factory=CallBook)
    called_ms: dict[str, float] = field(default_factory=dict)  # of a remote assistant's calls
    response_id: str | None = None

    async def run(self, calls: Sequence[CallSeen]) -> dict[str, str]:
        outputs: dict[str, str] = {}

        async def keep(call_id: str, output: str) -> None:
            outputs[call_id] = output

        now_ms = self.line.journal.now_ms()
        for call in calls:
            if not self.book.see(call, now_ms):
                self.line.journal.warn("repeated_call_id", call.call_id or "")
        round = await toolround.answer_calls(self.line, self.turn, WHOLE, book=self.book, give=keep)
        if round.done or round.over:
            self.round = round
            return {}
        self.turn.rounds += round.answered
        self.work.rounds += round.answered
        return outputs

    async def say(self, text: str) -> None:
        if self.round is None:
            self.said.append(text)
            if self.publish is not None:
                await self.publish(text)

    def note(self, answered: Answered) -> None:
        self.response_id = answered.response_id
        self.line.journal.add_backend_usage(answered.usage)
        if answered.text:
            self.work.texts.append(answered.text)
        self._tell(
            "delegation.response",
            delegation_id=self.work.id,
            response_id=answered.response_id,
            status=answered.status,
            text=answered.text,
            calls=[call.name for call in answered.calls],
            latency_ms=answered.latency_ms,
            usage=asdict(answered.usage) if answered.usage else None,
        )

    def note_called(self, call_id: str, name: str, arguments: dict[str, Json]) -> None:
        self.called_ms[call_id] = self.line.journal.now_ms()
        round = self.turn.rounds
        self._tell("tool.called", source="tool", round=round, call_id=call_id, name=name, arguments=arguments)

    def note_executed(self, executed: Executed) -> None:
        """What happened elsewhere is kept as it is told."""
        journal, output = self.line.journal, executed.output
        status: Literal["completed", "failed"] = executed.status
        error = None if status == "completed" else words(output)
        journal.tool_calls.append(self._call(executed, error))
        if executed.state is not None and isinstance(journal.plan.executor, ToolsElsewhere):
            journal.plan.executor.report(executed.state)
        self.work.rounds += 1
        told = {"call_id": executed.call_id, "name": executed.name, "status": status, "output": output}
        self._tell("tool.result", source="tool", **told, error=error, delay_ms=0.0)

    def _call(self, executed: Executed, error: str | None) -> ToolCall:
        now_ms = self.line.journal.now_ms()
        return ToolCall(
            call_id=executed.call_id,
            name=executed.name,
            arguments_raw=words(executed.arguments),
            arguments=executed.arguments,
            parse_error=None,
            turn=self.turn.index,
            round=self.turn.rounds,
            response_id=self.response_id,
            output_index=0,
            called_ms=self.called_ms.get(executed.call_id, now_ms),
            status=executed.status,
            answered_ms=now_ms,
            output=executed.output,
            error=error,
        )

    def _tell(self, type: str, *, source: Literal["agent", "tool"] = "agent", **payload: Json) -> None:
        journal = self.line.journal
        journal.log.note(journal.clock.now_s(), type, source=source, turn=self.turn.index, **payload)
