"""Messages to the workers. They carry ids alone, may be lost or come twice, and the sweeper sends them again."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import redis
from django.conf import settings
from kombu import Connection
from kombu.exceptions import OperationalError

from evalsite.celery import app

log = logging.getLogger(__name__)


def send_lanes(*, run_id: int, count: int) -> None:
    _send("runs_app.tasks.run_lane", [run_id] * count)


def send_grading(*, trial_id: int) -> None:
    _send("runs_app.tasks.grade_trial", [trial_id])


def send_gradings(*, trial_ids: Iterable[int]) -> None:
    _send("runs_app.tasks.grade_trial", trial_ids)


def send_intervals(*, run_ids: Sequence[int], version_ids: Sequence[int]) -> None:
    _send_all("runs_app.tasks.make_intervals", [[list(run_ids), list(version_ids)]])


def _send(task: str, keys: Iterable[int]) -> None:
    _send_all(task, ([key] for key in keys))


def _send_all(task: str, messages: Iterable[list[Any]]) -> None:
    try:
        with _broker() as connection:
            for args in messages:
                app.send_task(task, args=args, connection=connection, retry=False)
    except OperationalError as error:
        log.warning("the queue does not answer (%s); the sweeper will send the work again", error)


def _broker() -> Connection:
    """A connection that gives up at once: whoever starts a run must not wait for a broker that is away."""
    connection = app.connection_for_write()
    connection.transport_options = {**connection.transport_options, "max_retries": 0, "socket_connect_timeout": 2}
    return connection


def is_empty(queue: str) -> bool:
    """Whether no message waits in this queue. False when the broker does not answer: nothing can be sent then."""
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2) as client:
            return client.llen(queue) == 0
    except (redis.RedisError, ValueError):
        return False
