"""The agent of a Live session: it hears, decides, says the simple things itself and delegates the rest.

All waiting is on the session's clock, so a silent line (nothing appended) has no time at all.
"""

from __future__ import annotations

import asyncio

from runs_app.simulator import replies
from runs_app.simulator.clerk import Call, Decision, Say, decide
from runs_app.simulator.ear import Ear
from runs_app.simulator.formats import Format, Samples
from runs_app.simulator.front import errands, needs_help
from runs_app.simulator.lines import Answered, Called, Line, Said
from runs_app.simulator.live_backend import Backend, Emit, Work
from runs_app.simulator.live_caller import Caller, Stretch
from runs_app.simulator.live_clock import LiveClock
from runs_app.simulator.live_mouth import GAP_MS, Mouth
from runs_app.simulator.options import Options
from runs_app.simulator.outlet import Outlet
from runs_app.simulator.voices import AGENT, Voices, known_voice
from runs_app.simulator.wire import Json, Refusal, new_id

ACKNOWLEDGEMENT_DELAY_MS = 400
RETURN_MS, COMMENTARY_MS = 300, 850  # from content to speech
UNFINISHED_MS = 1_500
_TOLERANCE_MS = 200  # what comes with one append: the clock has no finer steps
_WORDS_PER_CAPTION = 3


class LiveAgent:
    """`session` is the resolved session; its delegation may change, nothing else does."""

    def __init__(
        self,
        *,
        options: Options,
        session: dict[str, Json],
        form: Format,
        ear: Ear,
        voices: Voices,
        outlet: Outlet,
        emit: Emit,
    ) -> None:
        self.clock = LiveClock()
        self._options, self._session, self._form = options, session, form
        self._voices, self._outlet, self._emit = voices, outlet, emit
        self._caller = Caller(form, ear)
        zeros = "zero_silence" in options.faults
        self._mouth = Mouth(clock=self.clock, form=form, emit=emit, said=self._note_speech, zeros=zeros)
        self._lines: list[Line] = [Said(item["role"], item["content"][0]["text"]) for item in session["input"]]
        self._thinking: asyncio.Task[None] | None = None
        self._client_work: dict[str, Work] = {}
        self._work: Work | None = None
        self._round_under_way = False
        self._answers = 0

    async def hear(self, samples: Samples) -> None:
        """So much of the caller's side, and of the agent's what it says meanwhile."""
        self.clock.advance(len(samples) * 1000 / self._form.rate_hz)
        for stretch in self._caller.feed(samples):
            if stretch is None:
                self._give_way()
            else:
                self._outlet.start(self._caption(stretch))
                self._thinking = self._outlet.start(self._answer(stretch.end_ms))
        await self._mouth.go_on()

    def knows(self, delegation_id: str) -> bool:
        return delegation_id in self._client_work

    def comment(self, kind: str, content: str, delegation_id: str | None) -> None:
        """Content of the client: commentary is said, thinking and instructions are not."""
        if kind == "commentary":
            if delegation_id is not None:
                self._client_work[delegation_id].over = True
            self._outlet.start(self._return(content, COMMENTARY_MS))
        elif kind == "instructions":
            self._lines.append(Said("system", content))

    def note(self, role: str, text: str) -> None:
        """A message for the backend alone."""
        self._lines.append(Said(role, text))

    def answer_call(self, call_id: str, output: str) -> None:
        if self._work is None or call_id not in self._work.open_calls:
            message = f"Tool call ID '{call_id}' is not waiting for an output."
            raise Refusal("invalid_tool_call_id", message, param="item.call_id")
        self._work.open_calls.discard(call_id)
        self._lines.append(Answered(call_id, output))

    def continue_work(self) -> None:
        """response.create: the next round of the delegated work, when every call has its output."""
        if self._round_under_way:
            message = "The backend already has a response in progress."
            raise Refusal("conversation_already_has_active_response", message)
        if self._work is not None and self._work.open_calls:
            waiting = ", ".join(sorted(self._work.open_calls))
            raise Refusal("function_call_outputs_missing", f"These calls still wait for their outputs: {waiting}.")
        self._round_under_way = True
        if self._work is None or self._work.over:
            self._outlet.start(self._delegate())
        else:
            self._outlet.start(self._round(self._work, new_id("resp")))

    # From what was heard to what is done.

    def _give_way(self) -> None:
        """The caller speaks. Speech stops, and a thought that had not led to anything; delegated work goes on."""
        self._mouth.interrupt()
        if self._thinking is not None:
            self._thinking.cancel()

    async def _answer(self, end_ms: float) -> None:
        understood = await self._caller.understand()
        if "never_answer" in self._options.faults:
            return
        said = Said("user", understood.text)
        decision = await self._decide(self._session["instructions"], [*self._lines, said])
        words = " ".join(one.text for one in decision.outputs if isinstance(one, Say))
        await self._speech(words)  # made while it thinks
        thinking_ms = self._options.thinking_ms(self._answers) + decision.extra_ms
        act_ms = end_ms + thinking_ms + UNFINISHED_MS * understood.unfinished
        await self.clock.reach(act_ms)
        self._thinking = None  # from here on it is no thought but a deed
        self._answers += 1
        self._caller.answered()
        self._lines.append(said)
        if self._needs_help(understood.text, decision):
            await self._delegate()
        else:
            await self._say(words, act_ms)

    def _needs_help(self, text: str | None, decision: Decision) -> bool:
        if self._backend is not None:
            return any(isinstance(one, Call) for one in decision.outputs)
        return needs_help(text, decision, knows_errands=bool(errands(self._session["instructions"])))

    async def _delegate(self) -> None:
        work, response_id = Work(), new_id("resp")
        target = "client" if self._backend is None else "responses"
        told: dict[str, Json] = {"id": work.id, "type": "delegation", "target": target}
        told |= {"response_id": response_id} if target == "responses" else {}
        offset_ms = int(self.clock.now_ms)
        await self._emit({"type": "session.delegation.created", "offset_ms": offset_ms, "delegation": told})
        self._outlet.start(self._acknowledge(work))
        if target == "client":
            self._client_work[work.id] = work
        else:
            self._work = work
            await self._round(work, response_id)

    async def _acknowledge(self, work: Work) -> None:
        delay_ms = self._session["delegation"].get("acknowledgement_delay_ms")
        due_ms = self.clock.now_ms + (ACKNOWLEDGEMENT_DELAY_MS if delay_ms is None else delay_ms)
        await self.clock.reach(due_ms)
        if not work.over:
            await self._say(replies.ONE_MOMENT, due_ms)
            if "early_answer" in self._options.faults:
                await self._say(replies.TOO_EARLY, due_ms)

    async def _round(self, work: Work, response_id: str) -> None:
        self._round_under_way = True
        settings = self._backend or {}
        decision = await self._decide(settings.get("instructions") or self._session["instructions"], self._lines)
        backend = Backend(emit=self._emit, settings=settings, faults=self._options.faults)
        words, calls = await backend.run(work, response_id, decision)
        self._lines += [Called(call["call_id"], call["name"], call["arguments"]) for call in calls]
        self._round_under_way = False
        if words and not calls and not {"acknowledgement_only", "early_answer"} & self._options.faults.active:
            await self._return(words, RETURN_MS)

    async def _return(self, words: str, delay_ms: float) -> None:
        """Say what came back of delegated work: a turn of its own, after whatever is being said."""
        blended = "blended_answer" in self._options.faults
        due_ms = self.clock.now_ms + (0 if blended else delay_ms)
        await self._say(words, due_ms, gap_ms=100 if blended else GAP_MS)

    async def _decide(self, instructions: str, lines: list[Line]) -> Decision:
        backend = self._backend or {}
        return await asyncio.to_thread(
            decide,
            instructions=instructions,
            tools=errands(instructions) if self._backend is None else backend.get("tools") or [],
            tool_choice=backend.get("tool_choice") or "auto",
            lines=list(lines),
            forgetful=self._options.slips(),
            all_at_once="parallel_calls" in self._options.faults,
        )

    async def _say(self, text: str, due_ms: float, *, gap_ms: float = GAP_MS) -> None:
        samples = await self._speech(text)
        if samples is None:
            return
        late = self.clock.now_ms > due_ms + _TOLERANCE_MS
        await self.clock.reach(due_ms)
        self._mouth.say(text, samples, earliest_ms=self.clock.now_ms if late else due_ms, gap_ms=gap_ms)
        if code := self._options.faults.close_code():
            self._outlet.start(self._hang_up_midway(len(samples) / 48, code))

    async def _speech(self, text: str) -> Samples | None:
        """`text` aloud; None for signs alone, which nobody can say."""
        try:
            return await self._voices.speak(text, known_voice(self._session["audio"]["output"]["voice"], AGENT))
        except ValueError:
            return None

    async def _hang_up_midway(self, after_ms: float, code: int) -> None:
        await self.clock.reach(self.clock.now_ms + after_ms)
        await self._outlet.hang_up(code, "the simulator closes on request")

    async def _caption(self, stretch: Stretch) -> None:
        words = (await stretch.words() or "").split()
        if not words:
            return
        step_ms = (stretch.end_ms - stretch.start_ms) / len(words)
        for first in range(0, len(words), _WORDS_PER_CAPTION):
            piece = words[first : first + _WORDS_PER_CAPTION]
            begin = stretch.start_ms + first * step_ms
            times = {"start_ms": int(begin), "end_ms": int(begin + len(piece) * step_ms)}
            delta = " " * bool(first) + " ".join(piece)
            await self._emit({"type": "session.input_transcript.delta", "delta": delta, **times})

    def _note_speech(self, text: str) -> None:
        if text:
            self._lines.append(Said("assistant", text.strip()))

    @property
    def _backend(self) -> dict[str, Json] | None:
        settings: dict[str, Json] | None = self._session["delegation"].get("responses")
        return settings
