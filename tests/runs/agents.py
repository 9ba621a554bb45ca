"""Scripts of an agent under test for `tests.scripted_server`, in text mode unless said otherwise."""

from __future__ import annotations

from tests.scripted_events import session_created, session_updated, text_reply
from tests.scripted_server import Expect, Hang, Pause, Send, Step

UP: list[Step] = [Send(session_created()), Expect("session.update"), Send(session_updated())]
ASKED: list[Step] = [Expect("conversation.item.create"), Expect("response.create")]


def answering(text: str = "Your table is booked.", *, after_ms: float = 0.0) -> list[Step]:
    """Answers the caller's one turn and leaves the socket to the client."""
    return [*UP, *ASKED, Pause(after_ms), *text_reply(text), Hang()]


def silent() -> list[Step]:
    """Never answers."""
    return [*UP, *ASKED, Hang()]
