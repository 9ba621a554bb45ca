"""A caller who finds his words as the call goes: a model is asked for each turn, and a voice says it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from runs_app.realtime import faults
from runs_app.realtime.conditions import on_line_at
from runs_app.realtime.exchange import Exchange, replied
from runs_app.realtime.line import Line
from runs_app.realtime.persona.part import CallerFailed, Part
from runs_app.realtime.persona.told import CallerThought, EndedBy, PersonaTold
from runs_app.realtime.persona.words import INSTRUCTIONS, Moment, UnusableWords, Words, document, read_words
from runs_app.realtime.persona.words import Line as CallLine
from runs_app.realtime.record import COMPLETED, DONE, Ending
from runs_app.realtime.script import Impatience, PlannedTurn
from runs_app.realtime.structured import Reply
from runs_app.realtime.told_numbers import sum_told
from scenarios_app.spec.persona import AgendaStep

TRIES = 2  # an answer that no caller could say is asked for once more

ENDINGS: dict[EndedBy, str] = {
    "caller": "the caller hung up",
    "stop_when": "the caller hung up: what the scenario waits for is so",
    "max_turns": "the caller has said as many turns as the scenario allows",
    "patience": "the caller lost patience: the agent's replies brought nothing new",
}


@dataclass
class PersonaCaller:
    """`next` gives the turns one by one, and None when the caller has hung up; `ending` then tells why."""

    line: Line
    part: Part
    opening: PlannedTurn
    steps: list[str] = field(default_factory=list)
    ending: Ending = COMPLETED
    _planned: Sequence[str] = ()  # the steps of the turn that was given out last
    _given_out: int = 0  # how many turns were said when it was
    _last_words: bool = False
    _tried_over: int = -1  # the reply that the caller meant to talk over, and did not
    _told: PersonaTold = field(init=False)
    _impatience: Impatience = field(init=False)

    def __post_init__(self) -> None:
        persona = self.part.persona
        self._impatience = Impatience(self.part.seed, persona.seed, persona.behaviors.interrupt_probability)
        self._told = PersonaTold(self.part.model, str(self.part.seed))
        self.line.journal.persona = self._told

    async def next(self, exchanges: Sequence[Exchange]) -> PlannedTurn | None:
        """Raises BrokenOff, also when our own caller fails."""
        self._note_said(len(exchanges))
        if not exchanges:
            return self._given(self.opening, (), 0)
        if not self._may_go_on(exchanges):
            await self._hang_up_after(exchanges)
            return None
        if (after_ms := self._breaks_in(len(exchanges))) is not None:
            return await self._over(exchanges, after_ms)
        if await replied(self.line, exchanges[-1]):
            self._end("done_tool", "", DONE)
            return None
        if self._has_had_enough(exchanges):
            self._end("patience", "the replies brought nothing new")
            return None
        return await self._answer(exchanges)

    def _may_go_on(self, exchanges: Sequence[Exchange]) -> bool:
        return not self._last_words and len(exchanges) < self.part.most_turns

    async def _hang_up_after(self, exchanges: Sequence[Exchange]) -> None:
        """The last words are said; the reply to them is heard."""
        if await replied(self.line, exchanges[-1]):
            self._end("done_tool", "", DONE)
        elif not self._last_words:
            self._end("max_turns", f"{self.part.most_turns} turns")
        else:
            self.ending = _ending(self._told)

    def _breaks_in(self, turns: int) -> float | None:
        """After how much of the reply under way the caller talks over it: as his temper draws it, or his agenda."""
        plan = self.line.journal.plan
        if self._tried_over == turns or plan.mode != "audio" or not plan.real_time:
            return None
        self._tried_over = turns
        by_temper = self._impatience.draw()
        step = self.due()
        return self._impatience.after_ms() if step is not None and step.action == "interrupt" else by_temper

    def due(self) -> AgendaStep | None:
        """The first step that was not said and may come now."""
        open_steps = (step for step in self.part.persona.agenda if step.id not in self.steps)
        return next((step for step in open_steps if set(step.after) <= set(self.steps)), None)

    async def _over(self, exchanges: Sequence[Exchange], after_ms: float) -> PlannedTurn | None:
        """Asked for while the agent still thinks, so that the words are there at their moment."""
        words, thought = await self._find_words(exchanges, interrupting=True)
        if not words.say:
            return await self.next(exchanges)  # nothing that cannot wait
        turn = await self._spoken(words, thought, len(exchanges))
        # the agent was still to answer or to be heard: nobody waited for these words
        told = replace(turn.thought, silence_ms=0.0) if turn.thought else None
        turn = replace(turn, interrupt_after_ms=after_ms, only_over=True, thought=told)
        return self._given(turn, words.steps, len(exchanges))

    async def _answer(self, exchanges: Sequence[Exchange]) -> PlannedTurn | None:
        words, thought = await self._find_words(exchanges, interrupting=False)
        if words.stop:
            self._end("stop_when", words.why)
            return None
        if words.hang_up and not words.say:
            self._end("caller", words.why)
            return None
        turn = await self._spoken(words, thought, len(exchanges))
        if words.hang_up:
            self._last_words = True
            self._tell(ended_by="caller", why=words.why)
        return self._given(turn, words.steps, len(exchanges))

    async def _find_words(self, exchanges: Sequence[Exchange], *, interrupting: bool) -> tuple[Words, CallerThought]:
        moment = Moment(
            conversation=_conversation(self.line, exchanges),
            steps_said=tuple(self.steps),
            turn=len(exchanges) + 1,
            most_turns=self.part.most_turns,
            interrupting=interrupting,
        )
        part, clock = self.part, self.line.journal.clock
        asked = document(part.persona, moment, seed=part.seed, stop_when=part.stop_when, today=part.today)
        began_s, problem = clock.now_s(), ""
        for attempt in range(1, TRIES + 1):
            reply = await self.line.unless_broken(part.ask(INSTRUCTIONS, asked))
            self._count(reply)
            if reply.error:
                raise faults.caller_failed("caller", reply.error)
            try:
                words = read_words(reply.body)
            except UnusableWords as error:
                problem = str(error)
                continue
            words_ms = round((clock.now_s() - began_s) * 1000, 1)
            return words, CallerThought(words_ms, 0.0, 0.0, self._known(words.steps), attempt)
        raise faults.caller_failed("caller", f"the persona cannot be played: {problem}")

    async def _spoken(self, words: Words, thought: CallerThought, nth: int) -> PlannedTurn:
        """The words as they go over the caller's line, and how long the agent waited for them in silence."""
        clock, voice = self.line.journal.clock, self.part.voice
        began_s = clock.now_s()
        turn = PlannedTurn(words.say)
        if voice is not None:
            try:
                samples = await self.line.unless_broken(voice(words.say))
            except CallerFailed as failed:
                raise faults.caller_failed(failed.stage, str(failed)) from None
            clean = replace(turn, audio=samples)
            turn = await asyncio.to_thread(on_line_at, clean, self.part.condition, seed=self.part.seed, index=nth)
        now_s = clock.now_s()
        quiet_s = self.line.journal.timeline.played_out_s(began_s - thought.words_ms / 1000)
        told = replace(
            thought,
            speech_ms=round((now_s - began_s) * 1000, 1),
            silence_ms=round(max(0.0, now_s - quiet_s) * 1000, 1),
        )
        return replace(turn, thought=told)

    def _given(self, turn: PlannedTurn, steps: Sequence[str], turns: int) -> PlannedTurn:
        self._planned, self._given_out = self._known(steps), turns
        return turn

    def _note_said(self, turns: int) -> None:
        """Words that were to be said over a reply, and came too late for it, were not said."""
        if turns > self._given_out:
            self.steps += [step for step in self._planned if step not in self.steps]
            self._tell(steps=tuple(self.steps))
        self._planned = ()

    def _known(self, steps: Sequence[str]) -> tuple[str, ...]:
        ids = {step.id for step in self.part.persona.agenda}
        return tuple(dict.fromkeys(step for step in steps if step in ids))

    def _has_had_enough(self, exchanges: Sequence[Exchange]) -> bool:
        limit = self.part.persona.behaviors.patience_turns
        if limit is None or len(exchanges) < limit:
            return False
        said = [_plain(exchange.turn.agent_text) for exchange in exchanges]
        return all(not text or text in said[:place] for place, text in list(enumerate(said))[-limit:])

    def _count(self, reply: Reply) -> None:
        told = self._told
        self._tell(
            asked=told.asked + 1,
            input_tokens=sum_told(told.input_tokens, reply.input_tokens),
            output_tokens=sum_told(told.output_tokens, reply.output_tokens),
        )

    def _tell(self, **changes: object) -> None:
        self._told = replace(self._told, **changes)  # type: ignore[arg-type]
        self.line.journal.persona = self._told

    def _end(self, by: EndedBy, why: str, ending: Ending | None = None) -> None:
        self._tell(ended_by=by, why=why)
        self.ending = ending or _ending(self._told)


def _ending(told: PersonaTold) -> Ending:
    return Ending("completed", None, told.ended_by, ENDINGS[told.ended_by])


def _conversation(line: Line, exchanges: Sequence[Exchange]) -> list[CallLine]:
    """The call as the caller knows it, with what was said before it began."""
    who = {"user": "caller", "assistant": "agent"}
    known = [CallLine(who[role], text) for role, text in line.journal.plan.history]
    for exchange in exchanges:
        known.append(CallLine("caller", exchange.turn.caller_text))
        if exchange.reply.done() or exchange.turn.interrupted:
            text = exchange.turn.agent_text
            if not text and exchange.turn.sounds:
                line.journal.warn("persona_hears_nothing", "the agent's words came without a transcript")
            known.append(CallLine("agent", text, exchange.turn.interrupted))
    return known


def _plain(text: str) -> str:
    return " ".join("".join(sign for sign in text.casefold() if sign.isalnum() or sign.isspace()).split())
