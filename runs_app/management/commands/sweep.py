from __future__ import annotations

import contextlib
import logging
import signal
import threading
from types import FrameType
from typing import Any

import redis
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connection

from runs_app.services import liveness
from runs_app.services.sweeping import sweep

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Return expired leases to the queue, send lost work again and close finished runs. Safe to run twice."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--every", type=float, default=None, metavar="SECONDS", help="go on for ever, this often")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["every"] is None:
            self.stdout.write(str(sweep()))
            return
        self.repeat(options["every"])

    def repeat(self, every_s: float) -> None:
        told_to_stop = threading.Event()
        _on_signals(told_to_stop)
        while not told_to_stop.is_set():
            try:
                swept = sweep()
            except DatabaseError:
                # the database may be away for a while; the next round finds whatever this one did not
                log.exception("this round was not finished")
                connection.close()
            else:
                if swept:
                    log.info("%s", swept)
                with contextlib.suppress(redis.RedisError, ValueError):
                    liveness.beat("sweeper")
            told_to_stop.wait(every_s)


def _on_signals(told_to_stop: threading.Event) -> None:
    def stop(signum: int, frame: FrameType | None) -> None:
        told_to_stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
