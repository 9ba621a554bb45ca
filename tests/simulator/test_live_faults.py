"""What goes wrong in Live sessions on request."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.simulator.desks import BOOK, RESTAURANT, context
from tests.simulator.live_client import LiveWire, live
from tests.simulator.wire_client import Simulator, spoken

Json = Any
# Those that only Live has; test_faults.py holds all of them against what there is.
PROVEN_LIVE = {"zero_silence", "blended_answer", "early_answer", "acknowledgement_only", "no_session_closed"}


@asynccontextmanager
async def booking(simulator: Simulator, fault: str) -> AsyncIterator[LiveWire]:
    """A caller who asks for a table, and a line that goes on."""
    samples = await spoken(simulator, BOOK)
    backend = {"model": "gpt-backend", "instructions": context(), "tools": RESTAURANT}
    async with live(simulator, fault=fault) as wire:
        delegation = {"type": "responses", "responses": backend, "acknowledgement_delay_ms": 0}
        await wire.start(instructions=context(), delegation=delegation)
        await wire.append(samples)
        async with wire.silence():
            yield wire


async def work_done(wire: LiveWire) -> None:
    """The call, answered; returns with the backend's answer."""
    call = await wire.call()
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": '{"ok": true}'}
    await wire.send("response.item.create", item=output)
    await wire.send("response.create")
    await wire.until_nested("response.output_text.done")


async def words_within(wire: LiveWire, seconds: float) -> str:
    """All that the agent has said, after so much more time."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                await wire.receive()
    except TimeoutError:
        return wire.said()


async def test_silence_may_be_sent_as_zeros(simulator: Simulator) -> None:
    async with live(simulator, fault="zero_silence") as wire:
        await wire.start()
        await wire.append(np.zeros(24_000, np.int16))
        while len(wire.sound()) < 48_000:
            await wire.receive()
    assert not any(wire.sound())


async def test_an_answer_may_be_said_in_one_breath_with_the_acknowledgement(simulator: Simulator) -> None:
    async with booking(simulator, "blended_answer") as wire:
        await work_done(wire)
        await wire.has_said("booked.")
    said = wire.all("session.output_transcript.delta")
    # captions less than half a second apart belong to one stretch
    assert max(two["start_ms"] - one["end_ms"] for one, two in itertools.pairwise(said)) < 500


async def test_an_answer_may_be_claimed_before_the_tool_has_returned(simulator: Simulator) -> None:
    async with booking(simulator, "early_answer") as wire:
        assert await wire.has_said("for you.") == "Of course, one moment.All right, that is done for you."
        await work_done(wire)
        assert "booked" not in await words_within(wire, 0.5)


async def test_what_came_back_may_never_be_said(simulator: Simulator) -> None:
    async with booking(simulator, "acknowledgement_only") as wire:
        await work_done(wire)
        assert await wire.has_said("moment.") == await words_within(wire, 0.5) == "Of course, one moment."


async def test_a_session_may_end_without_saying_so(simulator: Simulator) -> None:
    async with live(simulator, fault="no_session_closed") as wire:
        await wire.start()
        await wire.send("session.close")
        with pytest.raises(ConnectionClosed):
            await wire.receive()


async def test_an_agent_may_stay_silent(simulator: Simulator) -> None:
    async with booking(simulator, "never_answer") as wire:
        await wire.until("session.input_transcript.delta")
        assert await words_within(wire, 0.5) == ""
    assert not wire.all("session.delegation.created")


async def test_the_backend_may_fail(simulator: Simulator) -> None:
    async with booking(simulator, "insufficient_quota") as wire:
        failed = await wire.until_nested("response.failed")
    assert failed["response"]["error"]["message"] == "The simulator fails on request: insufficient_quota."


async def test_arguments_may_be_spoilt_and_calls_be_parallel(simulator: Simulator) -> None:
    async with booking(simulator, "invalid_json_arguments,parallel_calls") as wire:
        await wire.until_nested("response.completed")
    items = [event["item"] for event in wire.nested("response.output_item.done")]
    calls = [item for item in items if item["type"] == "function_call"]
    assert len(calls) == 2
    with pytest.raises(ValueError):
        json.loads(calls[0]["arguments"])


async def test_the_socket_may_close_in_the_middle_of_a_reply(simulator: Simulator) -> None:
    with pytest.raises(ConnectionClosed) as closed:
        async with booking(simulator, "close_1011") as wire:
            await wire.until("session.closed")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1011


async def test_a_live_session_may_be_refused(simulator: Simulator) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with live(simulator, fault="refuse_429"):
            pass
    assert refused.value.response.status_code == 429
    async with live(simulator, fault="invalid_api_key") as wire:
        assert (await wire.refused())["code"] == "invalid_api_key"
