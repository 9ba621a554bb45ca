"""The socket of somebody who listens in to a trial under way. It passes on what the recorder publishes.

Frames to the browser: text `{"rate_hz", "chunk_ms"}` first and `{"over": why}` last; between them binary ones, four
bytes with the number of the first sample (little-endian), then 16-bit samples, caller and agent by turns. The browser
answers `{"heard": n}`, how many it has taken; who falls too far behind misses sound and holds up nobody.
"""

from __future__ import annotations

import asyncio
import json
import logging
import struct
import time
from typing import Any

import redis
from channels.generic.websocket import AsyncWebsocketConsumer

from runs_app.consumers import BROKEN, NO_RINGS, NO_SUCH_RUN, NOT_ALLOWED, PERMISSION_S, may_watch
from runs_app.models import Trial, TrialStatus
from runs_app.realtime.record import RATE_HZ
from runs_app.recorder import listen_in

MOST_UNHEARD = 30  # chunks: three seconds
LOST_S = 10.0  # without a word about a conversation that is no longer under way

log = logging.getLogger(__name__)


class ListenConsumer(AsyncWebsocketConsumer):
    """ws/trials/<id>/listen/"""

    async def connect(self) -> None:
        self.trial_id = int(self.scope["url_route"]["kwargs"]["trial_id"])
        self.sent = self.heard = self.noticed = 0
        self.ended = False
        self.keeper: asyncio.Task[None] | None = None
        if self.channel_layer is None:
            log.error("nobody can listen in: REDIS_URL is not set and no `manage.py up` runs")
            await self.close(NO_RINGS)
        elif not await may_watch(self.scope):
            await self.close(NOT_ALLOWED)
        elif (status := await self._status()) is None:
            await self.close(NO_SUCH_RUN)
        else:
            await self.accept()
            await self._begin(status)

    async def _begin(self, status: str) -> None:
        if status not in (TrialStatus.QUEUED, TrialStatus.RUNNING):
            await self._end("the call is over")
            return
        await self.send(text_data=json.dumps({"rate_hz": RATE_HZ, "chunk_ms": listen_in.CHUNK_MS}))
        await self.channel_layer.group_add(listen_in.group(self.trial_id), self.channel_name)
        self.keeper = asyncio.create_task(self._keep_asking())

    async def disconnect(self, code: int) -> None:
        if self.keeper is not None:
            self.keeper.cancel()
            await self.channel_layer.group_discard(listen_in.group(self.trial_id), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        heard = _heard(text_data)
        if heard is not None:
            self.heard = min(self.sent, max(self.heard, heard))

    async def listen_chunk(self, message: dict[str, Any]) -> None:
        if not self.ended and self.sent - self.heard < MOST_UNHEARD:
            self.sent += 1
            await self.send(bytes_data=struct.pack("<I", message["start"]) + message["samples"])

    async def listen_over(self, message: dict[str, Any]) -> None:
        await self._end(message["why"] or "the call is over")

    async def _end(self, why: str) -> None:
        if not self.ended:
            self.ended = True
            await self.send(text_data=json.dumps({"over": why}))
            await self.close()

    async def _keep_asking(self) -> None:
        """For as long as the person may listen and there is, or was a moment ago, a conversation."""
        under_way_s = allowed_s = time.monotonic()
        try:
            while True:
                await listen_in.ask(self.channel_layer, self.trial_id)
                await asyncio.sleep(listen_in.ASK_EVERY_S)
                now_s = time.monotonic()
                if now_s - allowed_s > PERMISSION_S:
                    if not await may_watch(self.scope):
                        await self.close(NOT_ALLOWED)
                        return
                    allowed_s = now_s
                if await self._status() in (TrialStatus.QUEUED, TrialStatus.RUNNING):
                    under_way_s = now_s
                elif now_s - under_way_s > LOST_S and not self._hears():
                    await self._end("the call is over")
                    return
        except (redis.RedisError, OSError) as error:
            log.warning("listening to trial %s ended, the channel layer does not answer: %r", self.trial_id, error)
            await self.close(BROKEN)

    def _hears(self) -> bool:
        """Whether sound still came since this was asked last."""
        before, self.noticed = self.noticed, self.sent
        return before != self.sent

    async def _status(self) -> str | None:
        seen = Trial.objects.seen_by(self.scope["user"])
        found: str | None = await seen.filter(pk=self.trial_id).values_list("status", flat=True).afirst()
        return found


def _heard(text: str | None) -> int | None:
    """The number that the browser tells; None of anything else it may send."""
    try:
        told = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    number = told.get("heard") if isinstance(told, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None
