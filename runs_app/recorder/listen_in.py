"""The sound of conversations under way, for those who ask to hear it.

The conversation's loop has no part in this. It lays pieces on the timeline as ever; here, on the loop of the rings, the
stretch that has been heard by now is read from it and published, a tenth of a second at a time, and only while
somebody asks. Who asks says so every two seconds by a key that Redis forgets by itself, so nobody has to sign off.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

import redis
from channels.layers import get_channel_layer
from django.conf import settings

from runs_app import loop
from runs_app.realtime.journal import Journal
from runs_app.realtime.record import SAMPLES_PER_MS

CHUNK_MS: Final = 100
CHUNK_SAMPLES: Final = CHUNK_MS * SAMPLES_PER_MS
BEHIND_MS: Final = 300  # by then everything of a moment has arrived and lies on the timeline
ASK_EVERY_S: Final = 2.0
ASKED_S: Final = 6  # how long a wish to listen lasts
LOOK_EVERY_S: Final = 1.0
LAYER_S: Final = 5.0

TEXT_MODE: Final = "text mode: there is nothing to hear"
NOT_REAL_TIME: Final = "not in real time: it is over before it could be heard; listen to the recording"

log = logging.getLogger(__name__)


def group(trial_id: int) -> str:
    return f"listen-{trial_id}"


async def ask(layer: Any, trial_id: int) -> None:
    """For the next seconds somebody wants to hear this trial. Raises RedisError and OSError."""
    await layer.connection(0).set(_key(trial_id), 1, ex=ASKED_S)


def _key(trial_id: int) -> str:
    return f"soundcheck:listen:{trial_id}"


@dataclass
class _Broadcast:
    trial_id: int
    journal: Journal
    ended: threading.Event = field(default_factory=threading.Event)
    next_sample: int = 0

    @property
    def silent_because(self) -> str:
        if self.journal.plan.mode == "text":
            return TEXT_MODE
        return "" if self.journal.plan.real_time else NOT_REAL_TIME

    def heard_by_now(self) -> int:
        """The sample up to which all that was said is known."""
        timeline = self.journal.timeline
        if timeline.zero_s is None:
            return 0
        return max(0, timeline.sample_at(self.journal.clock.now_s()) - BEHIND_MS * SAMPLES_PER_MS)

    def is_over(self) -> bool:
        """The conversation has ended, and what it left has been heard."""
        return self.ended.is_set() and (bool(self.silent_because) or self.heard_by_now() >= self.end())

    def end(self) -> int:
        return max(self.journal.timeline.caller.end, self.journal.timeline.agent.end)


@contextmanager
def offered(trial_id: int) -> Iterator[Callable[[Journal], None]]:
    """What `converse` tells that it begins. Whatever becomes of it, the broadcast ends when it has been heard."""
    begun: list[_Broadcast] = []

    def on_air(journal: Journal) -> None:
        if "default" in settings.CHANNEL_LAYERS:
            begun.append(_Broadcast(trial_id, journal))
            loop.rings.submit(_serve(begun[0]))

    try:
        yield on_air
    finally:
        for broadcast in begun:
            broadcast.ended.set()


async def _serve(broadcast: _Broadcast) -> None:
    """Until all of the conversation was heard: waits for somebody to ask, and lets them hear."""
    layer = get_channel_layer()
    while not broadcast.is_over():
        try:
            if await _is_asked_for(layer, broadcast.trial_id):
                await _while_asked(layer, broadcast)
        except (redis.RedisError, OSError, TimeoutError) as error:
            log.warning(
                "nobody can listen to trial %s, the channel layer does not answer: %r", broadcast.trial_id, error
            )
        await asyncio.sleep(LOOK_EVERY_S)


async def _is_asked_for(layer: Any, trial_id: int) -> bool:
    async with asyncio.timeout(LAYER_S):
        return bool(await layer.connection(0).exists(_key(trial_id)))


async def _while_asked(layer: Any, broadcast: _Broadcast) -> None:
    """Begins with what is heard now, not with what was missed; goes on at its pace when the conversation has ended
    before all of it was heard."""
    if broadcast.silent_because:
        await _publish(layer, broadcast, {"type": "listen.over", "why": broadcast.silent_because})
        return
    broadcast.next_sample = broadcast.heard_by_now()
    for rounds in count(1):
        if rounds % 10 == 0 and not await _is_asked_for(layer, broadcast.trial_id):
            return
        over = broadcast.is_over()
        await _send_until(layer, broadcast, broadcast.end() if over else broadcast.heard_by_now(), rest=over)
        if over:
            await _publish(layer, broadcast, {"type": "listen.over", "why": ""})
            return
        await asyncio.sleep(CHUNK_MS / 1000)


async def _send_until(layer: Any, broadcast: _Broadcast, end: int, *, rest: bool) -> None:
    """Whole chunks; with `rest` also the last piece of one."""
    while end - broadcast.next_sample >= (1 if rest else CHUNK_SAMPLES):
        start = broadcast.next_sample
        broadcast.next_sample = min(end, start + CHUNK_SAMPLES)
        samples = broadcast.journal.timeline.between(start, broadcast.next_sample)
        body = samples.astype("<i2").tobytes()
        await _publish(layer, broadcast, {"type": "listen.chunk", "start": start, "samples": body})


async def _publish(layer: Any, broadcast: _Broadcast, message: dict[str, Any]) -> None:
    async with asyncio.timeout(LAYER_S):
        await layer.group_send(group(broadcast.trial_id), message)
