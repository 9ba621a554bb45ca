"""Our own backend: any endpoint with OpenAI's Responses API, with the application's tools.

The conversation is kept here (`store: false`), so that any compatible server will do: what was said, the calls with
their outputs, and the answers.
"""

from __future__ import annotations

from typing import Any

import httpx2
import openai
from openai import AsyncOpenAI

from runs_app.realtime.api_client import api_client
from runs_app.realtime.clock import Clock
from runs_app.realtime.delegation.assistant import (
    DELEGATION_S,
    Delegate,
    DelegationError,
    Desk,
    Role,
)
from runs_app.realtime.delegation.overheard import Overheard
from runs_app.realtime.delegation.reading import answered_of, http_refusal, items_of
from runs_app.realtime.dialects.base import Body
from runs_app.realtime.endpoints import api_base_url
from runs_app.realtime.live.events import Transcript

NOTHING_HEARD = "(The caller's words were not understood.)"
TRIES = 3
PAUSE_S = 0.5  # before another try, twice as long each time
WORTH_A_RETRY = frozenset({408, 409, 500, 502, 503, 504})


class ResponsesAssistant:
    """Tasks run side by side; each sees what was said before it, and the calls of those that ended."""

    def __init__(self, delegate: Delegate, client: AsyncOpenAI, clock: Clock) -> None:
        self._delegate, self._client, self._clock = delegate, client, clock
        self._items: list[Body] = [_message(role, text) for role, text in delegate.history]
        self._overheard = Overheard(clock)

    def hear(self, piece: Transcript, *, last: bool = False) -> None:
        self._overheard.hear(piece, last=last)

    async def answer(self, delegation_id: str, offset_ms: float, desk: Desk) -> None:
        told = await self._overheard.told()
        self._items += [_message(role, text) for role, text in told] or [_message("user", NOTHING_HEARD)]
        before: list[Body] = list(self._items)
        own: list[Body] = []
        texts: list[str] = []
        while True:
            body, latency_ms = await self._respond([*before, *own])
            answered = answered_of(body, latency_ms=latency_ms)
            desk.note(answered)
            texts += [answered.text] if answered.text else []
            outputs = await desk.run(answered.calls) if answered.calls else {}
            own += items_of(body, answered_calls=outputs.keys())
            own += [
                {"type": "function_call_output", "call_id": call_id, "output": output}
                for call_id, output in outputs.items()
            ]
            if not outputs or len(outputs) < len(answered.calls):
                self._items += own
                if texts:
                    await desk.say(" ".join(texts))
                return
            texts = []  # what is said along with a call answers nothing

    async def close(self, reason: str) -> None:
        await self._client.close()

    async def _respond(self, items: list[Body]) -> tuple[Any, float]:
        """The body of one response, and how long it took. Trouble of the way may pass, a refusal does not."""
        for number in range(1, TRIES + 1):
            began_s = self._clock.now_s()
            try:
                # Not responses.create: what it reads and builds the first time takes hundreds of milliseconds, and the
                # loop paces audio. The answer is read leniently anyway.
                raw = await self._client.post("/responses", cast_to=httpx2.Response, body=self._request(items))
                return raw.json(), (self._clock.now_s() - began_s) * 1000
            except openai.APIStatusError as error:
                if error.status_code not in WORTH_A_RETRY or number == TRIES:
                    raise http_refusal(error) from error
            except openai.APIConnectionError as error:
                if number == TRIES:
                    why = " ".join(str(error.__cause__ or error).split())[:200]
                    raise DelegationError(f"the backend cannot be reached: {why}", code="not_reached") from error
            except ValueError as error:
                raise DelegationError("the backend's answer is not JSON", code="not_json") from error
            await self._clock.sleep_until(self._clock.now_s() + PAUSE_S * 2 ** (number - 1))
        raise AssertionError("the last try returns or raises")

    def _request(self, items: list[Body]) -> dict[str, Any]:
        delegate = self._delegate
        given: dict[str, Any] = {
            "instructions": delegate.instructions,
            "tools": [{"strict": False, **tool} for tool in delegate.tools],
            "reasoning": {"effort": delegate.reasoning} if delegate.reasoning else None,
            # without it a reasoning model forgets, between two rounds of tools, why it called them
            "include": ["reasoning.encrypted_content"] if delegate.reasoning else None,
            "text": {"verbosity": delegate.verbosity} if delegate.verbosity else None,
            "max_output_tokens": delegate.max_output_tokens,
        }
        given = {key: value for key, value in given.items() if value}
        return {"model": delegate.model, "input": items, "store": False, **given}


async def open_responses(delegate: Delegate, clock: Clock) -> ResponsesAssistant:
    """Nothing is sent yet. Raises EndpointError."""
    base_url = api_base_url(delegate.endpoint)
    client = await api_client(base_url=base_url, api_key=delegate.api_key, timeout_s=DELEGATION_S)
    return ResponsesAssistant(delegate, client, clock)


def _message(role: Role, text: str) -> Body:
    return {"type": "message", "role": role, "content": text}
