"""The ring that tells pages to look again. It carries no facts: the database is the truth."""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time

import redis
from channels.layers import get_channel_layer
from django.conf import settings

from runs_app import loop

RING_SECONDS = 5.0
COMPLAIN_EVERY_S = 60.0

log = logging.getLogger(__name__)
_waiting: set[int] = set()
_lock = threading.Lock()
_complained_at = -COMPLAIN_EVERY_S


def group(run_id: int) -> str:
    return f"run-{run_id}"


def ring(run_id: int) -> None:
    """Tells everybody who watches this run that something changed. Returns at once and never fails.

    Rings of one run that wait for the same moment become one.
    """
    if "default" not in settings.CHANNEL_LAYERS:
        return
    with _lock:
        first = run_id not in _waiting
        _waiting.add(run_id)
    if first:
        loop.rings.submit(_publish(run_id))


async def _publish(run_id: int) -> None:
    with _lock:
        _waiting.discard(run_id)
    layer = get_channel_layer()
    try:
        async with asyncio.timeout(RING_SECONDS):
            # the number lets all viewers of one process share what they render for this ring
            await layer.group_send(group(run_id), {"type": "run.ring", "ring": secrets.token_hex(6)})
    except (redis.RedisError, OSError, TimeoutError) as error:
        _complain(error)


def _complain(error: Exception) -> None:
    global _complained_at
    if time.monotonic() - _complained_at >= COMPLAIN_EVERY_S:
        _complained_at = time.monotonic()
        log.warning("pages are not told of changes, the channel layer does not answer: %r", error)
