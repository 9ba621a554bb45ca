from __future__ import annotations

from tests.realtime.support import asked, hold, only_session, plan, setup
from tests.scripted_events import text_reply
from tests.scripted_server import serving


async def test_a_text_turn_is_exactly_one_item_and_one_request() -> None:
    """Behaviour 6."""
    async with serving([*setup(), *asked(), *text_reply("We open at nine.")]) as server:
        held = await hold(plan(server.url, text="When do you open?"))
    session = only_session(server)
    assert session.types() == ["session.update", "conversation.item.create", "response.create"]
    item = session.events("conversation.item.create")[0]["item"]
    assert item == {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "When do you open?"}],
    }
    turn = held.record.turns[0]
    assert held.record.ending.kind == "completed"
    assert (turn.agent_text, turn.status) == ("We open at nine.", "completed")
