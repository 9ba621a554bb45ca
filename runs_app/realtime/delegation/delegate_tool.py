"""The Realtime protocol has no delegation: the voice hands its tasks on by calling one function."""

from __future__ import annotations

from dataclasses import dataclass

from runs_app.realtime.calls import Arguments, CallDraft
from runs_app.realtime.delegation import task
from runs_app.realtime.delegation.assistant import Assistant
from runs_app.realtime.delegation.desk import TrialDesk
from runs_app.realtime.delegation.front import REQUEST
from runs_app.realtime.line import Line
from runs_app.realtime.live.events import Transcript
from runs_app.realtime.live.hearing import end_work
from runs_app.realtime.live.state import Work
from runs_app.realtime.toolround import Round
from runs_app.realtime.turns import TurnDraft

NOTHING_TO_SAY = "Done. There is nothing to tell the caller."


@dataclass(frozen=True)
class DelegateTool:
    """What the backend learns of the call is the request alone, and what it answered before."""

    line: Line
    assistant: Assistant

    async def answer(self, turn: TurnDraft, draft: CallDraft, arguments: Arguments) -> Round:
        """Raises BrokenOff. `answered`: an output went back; `done` and `over`: of the calls that the task made."""
        journal = self.line.journal
        work = Work(draft.id, "client", turn.index, journal.now_ms(), draft.response_id)
        request = (arguments.value or {}).get(REQUEST)
        journal.live.works.append(work)
        self._note_started(work, request if isinstance(request, str) else draft.raw)
        if not isinstance(request, str) or not request.strip():
            why = arguments.error or f"{REQUEST} is missing or empty"
            return await self._give_back(work, f"The task was not understood: {why}.", "failed")
        self.assistant.hear(Transcript("caller", request, None, None), last=True)
        desk = TrialDesk(self.line, turn, work)
        await task.answer(self.assistant, desk)
        if desk.round is not None:
            end_work(journal, work, "completed", journal.clock.now_s())
            return desk.round
        return await self._give_back(work, " ".join(desk.said) or NOTHING_TO_SAY, "completed")

    async def _give_back(self, work: Work, text: str, status: str) -> Round:
        journal = self.line.journal
        end_work(journal, work, status, journal.clock.now_s())
        await self.line.send(journal.plan.dialect.tool_output(work.id or "", text))
        return Round(answered=True)

    def _note_started(self, work: Work, request: str) -> None:
        told = {"delegation_id": work.id, "target": work.target, "request": request}
        journal = self.line.journal
        journal.log.note(journal.clock.now_s(), "delegation.started", source="agent", turn=work.turn, **told)
