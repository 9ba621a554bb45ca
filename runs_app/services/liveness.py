"""Who is alive: workers and the sweeper leave a mark in Redis that fades after 15 s, for /healthz and run_eval."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import redis
from django.conf import settings

EVERY_S = 3
FADES_S = 15
NAMES = ("conversations", "grading", "sweeper")


def _client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)


def _key(name: str) -> str:
    return f"soundcheck:alive:{name}"


def beat(name: str) -> None:
    _client().set(_key(name), "1", ex=FADES_S)


def seen(name: str) -> str:
    """ "ok", or what is missing in words."""
    try:
        return "ok" if _client().exists(_key(name)) else f"failed: no {name} process answered for {FADES_S} s"
    except redis.RedisError as error:
        return f"failed: {error}"


def wait_for(name: str, *, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while seen(name) != "ok":
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def beat_in_background(names: list[str]) -> threading.Thread:
    """A daemon thread that beats for as long as this process lives."""

    def run() -> None:
        while True:
            for name in names:
                # the broker may be away; then the mark fades, which is the truth
                with suppress(redis.RedisError):
                    beat(name)
            time.sleep(EVERY_S)

    thread = threading.Thread(target=run, name="liveness", daemon=True)
    thread.start()
    return thread
