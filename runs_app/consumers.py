"""The live page's socket. It only sends: the whole panel on every connect, then what changed after each ring."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs

from channels.auth import get_user
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from evalsite import logs
from runs_app import fragments
from runs_app.models import Run
from runs_app.recorder import bell
from scenarios_app.spec.numbers import number_of

BETWEEN_S = 0.25  # at most four a second
TICK_S = 15.0
PERMISSION_S = 5.0
TICK = '<div id="live-tick" hx-swap-oob="true" hidden></div>'

NOT_ALLOWED = 4403
NO_SUCH_RUN = 4404
NO_RINGS = 4503
BROKEN = 1011

log = logging.getLogger(__name__)


class RunConsumer(AsyncWebsocketConsumer):
    """ws/runs/<id>/?trial=<id>: the run's counts and matrix, and the events of one trial."""

    async def connect(self) -> None:
        self.run_id = int(self.scope["url_route"]["kwargs"]["run_id"])
        self.wanted = _trial_of(self.scope)
        self.place = fragments.Place()
        self.board = ""  # as this viewer has it
        self.ring = f"first {secrets.token_hex(6)}"
        self.changed = asyncio.Event()
        self.checked_s = 0.0
        self.sent_s = time.monotonic()
        self.pump: asyncio.Task[None] | None = None
        if self.channel_layer is None:
            log.error("live updates are refused: REDIS_URL is not set and no `manage.py up` runs")
            await self.close(NO_RINGS)
        elif not await self._allowed():
            await self.close(NOT_ALLOWED)
        elif not await Run.objects.filter(pk=self.run_id).aexists():
            await self.close(NO_SUCH_RUN)
        else:
            await self.accept()
            # First the group, then the first look: what happens between the two rings and is looked at again.
            await self.channel_layer.group_add(bell.group(self.run_id), self.channel_name)
            self.changed.set()
            self.pump = asyncio.create_task(self._pump())

    async def disconnect(self, code: int) -> None:
        if self.pump is not None:
            self.pump.cancel()
            await self.channel_layer.group_discard(bell.group(self.run_id), self.channel_name)

    async def run_ring(self, message: dict[str, Any]) -> None:
        self.ring = message["ring"]
        self.changed.set()

    async def _pump(self) -> None:
        with logs.ids(run=self.run_id):
            try:
                while await self._allowed():
                    started_s = time.monotonic()
                    await self._send_changes()
                    # a panel that is slow to make, of a very large run, is made less often
                    await asyncio.sleep(max(BETWEEN_S, 3 * (time.monotonic() - started_s)))
                    await self._wait_for_ring()
                await self.close(NOT_ALLOWED)
            except Exception:  # one of the three places: around a consumer's sending
                log.exception("the live page could not be kept up to date")
                await self.close(BROKEN)

    async def _wait_for_ring(self) -> None:
        """Until something changed; with a sign of life when nothing was sent for a while (a ring may bring nothing)."""
        try:
            async with asyncio.timeout(max(0.0, self.sent_s + TICK_S - time.monotonic())):
                await self.changed.wait()
        except TimeoutError:
            await self._tell(TICK)

    async def _send_changes(self) -> None:
        if not self.changed.is_set():
            return
        self.changed.clear()
        ring = self.ring
        board = await fragments.board(self.run_id, ring)
        events = await fragments.events(self.run_id, self.wanted, self.place, ring)
        self.place = events.place
        changed = board if board != self.board else ""
        self.board = board
        if changed or events.html:
            await self._tell(changed + events.html)

    async def _tell(self, html: str) -> None:
        self.sent_s = time.monotonic()
        await self.send(text_data=html)

    async def _allowed(self) -> bool:
        """Whether the user may still see this: checked again every few seconds, for as long as the page is open."""
        if time.monotonic() - self.checked_s > PERMISSION_S:
            if not await may_watch(self.scope):
                return False
            self.checked_s = time.monotonic()
        return True


def _trial_of(scope: dict[str, Any]) -> int | None:
    return number_of(parse_qs(scope["query_string"].decode("ascii", "replace")).get("trial", [""])[0])


async def may_watch(scope: dict[str, Any]) -> bool:
    """Whether the session of this socket is still one of somebody who may sign in: read afresh, not as it was."""
    key = scope["session"].session_key
    if not key:
        return False
    sessions = import_module(settings.SESSION_ENGINE).SessionStore
    user = await get_user({"session": sessions(session_key=key)})
    return bool(user.is_authenticated)


class NoSuchPlace(AsyncWebsocketConsumer):
    """Any other address: refused, without an error in the log for every stray client."""

    async def connect(self) -> None:
        await self.close(NO_SUCH_RUN)
