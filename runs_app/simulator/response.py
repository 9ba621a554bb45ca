"""One response: from response.created over the clerk's outputs to response.done."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import numpy as np

from runs_app.simulator.clerk import Call, Decision, Say
from runs_app.simulator.conversation import Conversation
from runs_app.simulator.formats import Samples
from runs_app.simulator.options import Options
from runs_app.simulator.order import Order
from runs_app.simulator.streams import stream_calls, stream_message
from runs_app.simulator.usage import Tokens, usage_object
from runs_app.simulator.wire import Json, error_event, new_id

Details = dict[str, Json]
CancelReason = Literal["client_cancelled", "turn_detected"]


class TurnTruth(NamedTuple):
    """Of a detected turn, in milliseconds of appended audio: its last sound, and where it was held to be over."""

    speech_end_ms: float
    decided_ms: float


class Stage(Protocol):
    """What a response needs of its session."""

    options: Options
    conversation: Conversation

    @property
    def clock_ms(self) -> float: ...

    async def emit(self, event: dict[str, Json]) -> None: ...

    async def emit_raw(self, text: str) -> None: ...

    async def hang_up(self, code: int, reason: str) -> None: ...

    async def decide(self, order: Order) -> Decision: ...

    async def speak(self, text: str, order: Order) -> Samples: ...

    def weigh(self, order: Order) -> tuple[Tokens, Tokens]: ...


@dataclass
class Response:
    """A response under way. `cancel()` may come at any moment; what was streamed until then is kept.

    `played_to_ms`: when its sound will have been played, on the clock of the caller's audio, as it is sent.
    """

    stage: Stage
    order: Order
    number: int
    turn: TurnTruth | None = None
    id: str = field(default_factory=lambda: new_id("resp"))
    output: list[dict[str, Json]] = field(default_factory=list)
    asked: Tokens = field(default_factory=Tokens)
    cached: Tokens = field(default_factory=Tokens)
    answered: Tokens = field(default_factory=Tokens)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    played_to_ms: float = 0.0
    _cancel_reason: CancelReason = "client_cancelled"
    _began_s: float = field(default_factory=time.time)
    _replied_s: float | None = None

    def cancel(self, reason: CancelReason) -> None:
        if not self.cancelled.is_set() and "ignore_cancel" not in self.stage.options.faults:
            self._cancel_reason = reason
            self.cancelled.set()

    async def begin(self) -> None:
        """The first event, before any other client event is looked at."""
        self.asked, self.cached = self.stage.weigh(self.order)
        if "no_created" not in self.stage.options.faults:
            await self.emit({"type": "response.created", "response": self._object("in_progress", None, None)})

    async def run(self) -> None:
        """All that follows, to response.done."""
        faults, asked, cached = self.stage.options.faults, self.asked, self.cached
        status, details = await self._answer()
        await self.emit({"type": "rate_limits.updated", "rate_limits": [_rate_limit(asked)]})
        if status == "failed":
            asked = cached = Tokens()
        usage = None if "null_usage" in faults else usage_object(asked, cached, self.answered)
        if "drop_response_done" not in faults:
            await self.emit({"type": "response.done", "response": self._object(status, details, usage)})

    async def _answer(self) -> tuple[str, Details | None]:
        faults = self.stage.options.faults
        if "never_answer" in faults:
            await self.cancelled.wait()
        if failure := faults.failure():
            error = {
                "type": failure[0],
                "code": failure[1],
                "message": f"The simulator fails on request: {failure[1]}.",
            }
            return "failed", {"type": "failed", "error": error}
        spoken = await self._think()
        if self.cancelled.is_set():
            return "cancelled", {"type": "cancelled", "reason": self._cancel_reason}
        if "content_filter" in faults:
            return "incomplete", {"type": "incomplete", "reason": "content_filter"}
        cut = await self._stream(spoken)
        if self.cancelled.is_set():
            return "cancelled", {"type": "cancelled", "reason": self._cancel_reason}
        return ("incomplete", {"type": "incomplete", "reason": "max_output_tokens"}) if cut else ("completed", None)

    async def _think(self) -> list[tuple[Say | Call, Samples | None, bool]]:
        """The clerk's outputs with their sound, and whether each was cut; ready when the thinking time is over."""
        started = asyncio.get_running_loop().time()
        decision = await self.stage.decide(self.order)
        ready = [await self._prepare(output) for output in decision.outputs]
        passed_s = asyncio.get_running_loop().time() - started
        thinking_ms = self.stage.options.thinking_ms(self.number) + decision.extra_ms
        await self.pause(thinking_ms / 1000 - passed_s)
        return ready

    async def _prepare(self, output: Say | Call) -> tuple[Say | Call, Samples | None, bool]:
        if isinstance(output, Call):
            return output, None, False
        words = output.text.split(" ")
        keep = len(words) // 2 if "max_output_tokens" in self.stage.options.faults else self.order.max_output_tokens
        cut = isinstance(keep, int) and keep < len(words)
        said = Say(" ".join(words[:keep])) if isinstance(keep, int) and cut else output
        if self.order.modality == "text" or "text_only" in self.stage.options.faults:
            return said, None, cut
        sound = await self.stage.speak(said.text, self.order)
        if "leading_silence" in self.stage.options.faults:
            sound = np.concatenate([np.zeros(400 * 24, np.int16), sound])
        return said, sound, cut

    async def _stream(self, outputs: list[tuple[Say | Call, Samples | None, bool]]) -> bool:
        calls = [output for output, _, _ in outputs if isinstance(output, Call)]
        for output, sound, _ in outputs:
            if isinstance(output, Say) and not self.cancelled.is_set():
                await stream_message(self, output.text, sound)
        if calls and not self.cancelled.is_set():
            await stream_calls(self, calls)
        return any(cut for _, _, cut in outputs)

    async def emit(self, event: dict[str, Json]) -> None:
        event = {"event_id": new_id("event"), **event}
        await self.stage.emit(event)
        if "duplicate_events" in self.stage.options.faults:
            await self.stage.emit(event)

    async def add_item(self, item: dict[str, Json], sound: Samples | None = None) -> int:
        """Announce an output item (twice: for the response and for the conversation); its output index."""
        self._replied_s = self._replied_s or time.time()
        index = len(self.output)
        self.output.append(item)
        await self.emit(
            {"type": "response.output_item.added", "response_id": self.id, "output_index": index, "item": item}
        )
        if self.order.in_conversation:
            before = self.stage.conversation.insert(item)
            if sound is not None:
                self.stage.conversation.audio[item["id"]] = sound
            await self.emit({"type": "conversation.item.added", "previous_item_id": before, "item": item})
        return index

    async def finish_item(self, index: int) -> None:
        item = self.output[index]
        item["status"] = "incomplete" if self.cancelled.is_set() else "completed"
        await self.emit(
            {"type": "response.output_item.done", "response_id": self.id, "output_index": index, "item": item}
        )
        if self.order.in_conversation:
            before = self.stage.conversation.before(item["id"])
            await self.emit({"type": "conversation.item.done", "previous_item_id": before, "item": item})

    async def pause(self, seconds: float) -> bool:
        """Wait, but not beyond a cancel; whether it was cancelled."""
        if seconds > 0 and not self.cancelled.is_set():
            try:
                async with asyncio.timeout(seconds):
                    await self.cancelled.wait()
            except TimeoutError:
                return False
        return self.cancelled.is_set()

    async def midway(self) -> None:
        """The place for trouble in the middle of a response."""
        faults, stage = self.stage.options.faults, self.stage
        if "error_null_event_id" in faults:
            await stage.emit(error_event(None, "Something was odd, but the response goes on.", type="server_error"))
        if "unknown_event" in faults:
            await stage.emit({"type": "simulator.weather.updated", "weather": "sunny"})
        if "bad_frame" in faults:
            await stage.emit_raw('{"type": "response.output_text.delta", "delta": ')
        if "session_expired" in faults:
            await stage.emit(error_event("session_expired", SESSION_EXPIRED))
            await stage.hang_up(1001, SESSION_EXPIRED)
        if code := faults.close_code():
            await stage.hang_up(code, "the simulator closes on request")

    def _object(self, status: str, details: Details | None, usage: Json) -> dict[str, Json]:
        return {
            "object": "realtime.response",
            "id": self.id,
            "status": status,
            "status_details": details,
            "output": list(self.output),
            "conversation_id": self.stage.conversation.id if self.order.in_conversation else None,
            "output_modalities": [self.order.modality],
            "max_output_tokens": self.order.max_output_tokens,
            "audio": {"output": {"format": self.order.format_settings, "voice": self.order.voice}},
            "usage": usage,
            "metadata": self._metadata(),
        }

    def _metadata(self) -> dict[str, str] | None:
        """The client's own, and with `x-sim-truth` what only the simulator knows of the reply's times."""
        if not self.stage.options.truth:
            return self.order.metadata
        truth = {"sim_began_s": self._began_s, "sim_replied_s": self._replied_s}
        if self.turn is not None:
            truth |= {"sim_speech_end_ms": self.turn.speech_end_ms, "sim_turn_end_ms": self.turn.decided_ms}
        told = {name: f"{value:.6f}" for name, value in truth.items() if value is not None}
        return (self.order.metadata or {}) | told


SESSION_EXPIRED = "Your session hit the maximum duration of 60 minutes."


def _rate_limit(asked: Tokens) -> dict[str, Json]:
    return {"name": "tokens", "limit": 40_000, "remaining": max(0, 40_000 - asked.total), "reset_seconds": 0.0}
