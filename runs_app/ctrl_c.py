"""Ctrl-C that cannot get lost.

Python raises KeyboardInterrupt wherever it is; inside a finaliser the exception is printed and forgotten. Whoever waits
in a loop asks here as well.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def remembered() -> Iterator[threading.Event]:
    """Inside, Ctrl-C raises KeyboardInterrupt as ever and sets the event too. Where it is ignored it stays so."""
    pressed = threading.Event()

    def press(signum: int, frame: FrameType | None) -> None:
        pressed.set()
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield pressed
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
