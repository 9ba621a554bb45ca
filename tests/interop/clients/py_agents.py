"""RealtimeRunner of openai-agents. It validates every event against the types of the openai package."""

from __future__ import annotations

import asyncio

from agents import function_tool, set_tracing_disabled
from agents.realtime import RealtimeAgent, RealtimeRunner
from agents.realtime.model_inputs import RealtimeModelSendRawMessage
from common import INSTRUCTIONS, KEY, MODEL, RESULT, SENTENCE, Report, asked

set_tracing_disabled(True)
report = Report()


@function_tool
def create_reservation(guest_name: str, date: str) -> str:
    """Book."""
    report.calls.append({"guest_name": guest_name, "date": date})
    return RESULT


async def main() -> None:
    ask = asked()
    settings = {"model_name": MODEL, "modalities": [ask.mode], "turn_detection": None}
    agent = RealtimeAgent(name="desk", instructions=INSTRUCTIONS, tools=[create_reservation])
    runner = RealtimeRunner(agent, config={"model_settings": settings})
    connection = {"api_key": KEY, "url": f"{ask.url}?model={MODEL}", "initial_model_settings": settings}
    async with await runner.run(model_config=connection) as session:
        if ask.mode == "audio":
            await session.send_audio(ask.pcm(), commit=True)
            # Without turn detection a commit asks for nothing.
            await session.model.send_event(RealtimeModelSendRawMessage(message={"type": "response.create"}))
        else:
            await session.send_message(SENTENCE)
        turns = 0
        async for event in session:
            if event.type == "audio":
                report.audio_bytes += len(event.audio.data)
            elif event.type == "error":
                report.errors.append(str(event.error))
            elif event.type == "raw_model_event" and event.data.type == "turn_ended":
                turns += 1
                if report.calls and turns == 2:
                    break
        said = [item for item in session._history if item.type == "message" and item.role == "assistant"]
        parts = [part for item in said for part in item.content]
        words = [getattr(part, "text", None) or getattr(part, "transcript", None) or "" for part in parts]
        report.text = " ".join(words)


asyncio.run(asyncio.wait_for(main(), 40))
report.print()
