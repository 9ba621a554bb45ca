"""The responses of one session: ordered, under way, cancelled."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np

from runs_app.simulator.clerk import Decision
from runs_app.simulator.desk import Desk
from runs_app.simulator.formats import Samples
from runs_app.simulator.front import decide
from runs_app.simulator.hearing import Hearing
from runs_app.simulator.items import read_item
from runs_app.simulator.lines import lines_of
from runs_app.simulator.order import Order, read_order
from runs_app.simulator.response import Response, TurnTruth
from runs_app.simulator.shapes import ResponseParams
from runs_app.simulator.usage import Tokens, item_tokens, prompt_tokens
from runs_app.simulator.voices import AGENT, Voices, known_voice
from runs_app.simulator.wire import Json, Refusal

# How long the clerk waits for the rest of a sentence that turn detection cut off.
UNFINISHED_MS = 1_500.0


class Answering:
    """Starts responses and is their stage (response.Stage): it decides, speaks and weighs for them."""

    def __init__(self, desk: Desk, hearing: Hearing, voices: Voices) -> None:
        self.options, self.conversation = desk.options, desk.conversation
        self.emit, self.emit_raw, self.hang_up = desk.emit, desk.emit_raw, desk.hang_up
        self._desk, self._hearing, self._voices = desk, hearing, voices
        self._running: dict[str, Response] = {}
        self._owed: TurnTruth | None = None
        self._count = 0
        self._read_before = Tokens()

    async def create(self, params: ResponseParams, turn: TurnTruth | None = None) -> None:
        """Begin a response. Refusal while another one writes to the conversation."""
        items = None if params.input is None else self._input_items(params.input)
        order = read_order(params, self._desk.config, items)
        active = self._active()
        if active and order.in_conversation:
            message = (
                f"Conversation already has an active response in progress: {active.id}. "
                "Wait until the response is finished before creating a new one."
            )
            raise Refusal("conversation_already_has_active_response", message)
        response = Response(stage=self, order=order, number=self._count, turn=turn)
        self._count += 1
        self._running[response.id] = response
        self._desk.silent_since_ms = None
        self._hearing.quiet.clear()
        await response.begin()
        self._desk.start(self._run(response))

    async def answer_turn(self, turn: TurnTruth) -> None:
        """Answer a turn that was detected: at once, or when the response that is still under way has ended."""
        if self._active():
            self._owed = turn
        else:
            await self.create(ResponseParams(), turn)

    def interrupt(self) -> None:
        """The caller speaks: what the agent is saying or about to say stops."""
        self._owed = None
        if active := self._active():
            active.cancel("turn_detected")

    def cancel(self, response_id: str | None) -> None:
        """Cancel the response, or whichever is under way. Refusal when there is none."""
        found = [one for one in self._running.values() if response_id in (one.id, None)]
        if not found:
            raise Refusal("response_cancel_not_active", "Cancellation failed: no active response found")
        found[0].cancel("client_cancelled")

    async def decide(self, order: Order) -> Decision:
        items = self.conversation.items if order.items is None else order.items
        heard = await self._hearing.understand(list(items))
        # In a thread: reading takes milliseconds, and other sessions are speaking meanwhile.
        decision = await asyncio.to_thread(
            decide,
            instructions=order.instructions,
            tools=order.tools,
            tool_choice=order.tool_choice,
            lines=lines_of([item for item in items if item["id"] not in heard.merged], heard.texts),
            forgetful=self.options.slips(),
            all_at_once="parallel_calls" in self.options.faults,
        )
        patience_ms = UNFINISHED_MS if heard.unfinished else 0
        return replace(decision, extra_ms=decision.extra_ms + patience_ms)

    async def speak(self, text: str, order: Order) -> Samples:
        try:
            return await self._voices.speak(text, known_voice(order.voice, AGENT), speed=order.speed)
        except ValueError:  # a result of signs alone: nothing to say aloud
            return np.zeros(24 * 200, np.int16)

    def weigh(self, order: Order) -> tuple[Tokens, Tokens]:
        """The tokens that a response reads, and how many of them the response before had read already."""
        items = self.conversation.items if order.items is None else order.items
        asked = prompt_tokens(order.instructions, order.tools)
        for item in items:
            asked += item_tokens(item, self.conversation.audio.get(item["id"]))
        cached = asked.no_more_than(self._read_before)
        self._read_before = asked
        return asked, cached

    @property
    def clock_ms(self) -> float:
        return self._desk.clock_ms

    def _active(self) -> Response | None:
        return next((one for one in self._running.values() if one.order.in_conversation), None)

    async def _run(self, response: Response) -> None:
        await response.run()
        del self._running[response.id]
        self._desk.silent_since_ms = max(self._desk.clock_ms, response.played_to_ms)
        if not self._running:
            self._hearing.quiet.set()
        if self._owed and not self._active():
            turn, self._owed = self._owed, None
            await self.create(ResponseParams(), turn)

    def _input_items(self, raws: list[dict[str, Json]]) -> list[dict[str, Json]]:
        items = []
        for number, raw in enumerate(raws):
            if raw.get("type") == "item_reference":
                items.append(self.conversation.find(str(raw.get("id")), "retrieve"))
                continue
            item, samples = read_item(raw, self._desk.input_format, f"response.input[{number}]")
            if samples is not None:
                self._hearing.listen(item, samples)
            items.append(item)
        return items
