"""Keep one process running: `python -m evalsite.keep COMMAND ...`.

A process that ends is started again, three times in a minute at the most; then this one ends too, with the reason,
and the supervisor stops everything. On SIGTERM or Ctrl-C the child (same process group, so it got the signal too)
is awaited and not started again.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from types import FrameType

RESTARTS = 3
WINDOW_S = 60.0


def may_restart(ends: list[float], now: float) -> bool:
    """Whether one more start is allowed, given the moments at which the process ended (the newest included)."""
    return sum(1 for end in ends if now - end < WINDOW_S) <= RESTARTS


def main(command: list[str]) -> int:
    stopping = False

    def stop(signum: int, frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    ends: list[float] = []
    while True:
        code = subprocess.Popen(command).wait()
        if stopping:
            return 0
        ends.append(time.monotonic())
        if not may_restart(ends, ends[-1]):
            print(f"ended {RESTARTS + 1} times in {WINDOW_S:.0f} s (last exit code {code}); giving up", flush=True)  # noqa: T201
            return code or 1
        print(f"ended with exit code {code}; starting it again", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
