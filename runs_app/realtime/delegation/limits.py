"""How much a remote assistant and its connector take from each other before one of them hangs up."""

from __future__ import annotations

from dataclasses import dataclass

from runs_app.realtime.delegation.assistant import DELEGATION_S, MOST_DELEGATIONS, MOST_PENDING
from scenarios_app.spec.scenario_rules import MOST_MESSAGES

PATH = "/ws/assistant"
READY_S = 15.0  # the connector waits so long for session.ready
MOST_BYTES = 256 * 1024  # of one message
MOST_SESSION_BYTES = 8 * 1024 * 1024  # of one direction
MOST_EVENTS = 20_000  # of one direction
MOST_ITEMS = MOST_MESSAGES  # said before the call; CRAWL's own service takes 100, fewer than its scenarios hold


@dataclass(frozen=True)
class ServiceLimits:
    connections: int = 8
    configure_s: float = 10.0
    session_s: float = 600.0
    delegation_s: float = DELEGATION_S
    pending: int = MOST_PENDING
    delegations: int = MOST_DELEGATIONS
    message_bytes: int = MOST_BYTES
    session_bytes: int = MOST_SESSION_BYTES
    events: int = MOST_EVENTS


@dataclass
class Meter:
    """What came from the other side so far."""

    most_bytes: int = MOST_SESSION_BYTES
    most_events: int = MOST_EVENTS
    bytes: int = 0
    events: int = 0

    def exceeded(self, text: str) -> str | None:
        """Counts a message; in words, what is too much now."""
        self.bytes += len(text.encode())
        self.events += 1
        if self.bytes > self.most_bytes:
            return f"more than {self.most_bytes} bytes in one session"
        return f"more than {self.most_events} events in one session" if self.events > self.most_events else None
