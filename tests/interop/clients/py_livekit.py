"""RealtimeModel of livekit-plugins-openai in an AgentSession without a room; it finds its replies by metadata."""

from __future__ import annotations

import asyncio
import base64

from common import INSTRUCTIONS, KEY, MODEL, RESULT, SENTENCE, Report, asked
from livekit import rtc
from livekit.agents import Agent, AgentSession, function_tool, utils
from livekit.plugins import openai

RATE_HZ = 24_000
FRAME_BYTES = 4_800
report = Report()


class Desk(Agent):
    def __init__(self) -> None:
        super().__init__(instructions=INSTRUCTIONS)

    @function_tool
    async def create_reservation(self, guest_name: str, date: str) -> str:
        """Book."""
        report.calls.append({"guest_name": guest_name, "date": date})
        return RESULT


def note(event: dict, done: asyncio.Event) -> None:
    if event["type"] in ("response.output_text.delta", "response.output_audio_transcript.delta"):
        report.text += event["delta"]
    elif event["type"] == "response.output_audio.delta":
        report.audio_bytes += len(base64.b64decode(event["delta"]))
    elif event["type"] == "response.done" and report.text:
        done.set()


async def main() -> None:
    ask, done = asked(), asyncio.Event()
    base = ask.url.removesuffix("/realtime").replace("ws", "http", 1)
    modalities = ["text"] if ask.mode == "text" else ["audio"]
    async with utils.http_context.open():
        model = openai.realtime.RealtimeModel(
            model=MODEL, api_key=KEY, base_url=base, modalities=modalities, turn_detection=None
        )
        session = AgentSession(llm=model)
        session.on("error", lambda event: report.errors.append(str(event.error)))
        await session.start(Desk())
        wire = session._activity.realtime_llm_session
        wire.on("openai_server_event_received", lambda event: note(event, done))
        if ask.mode == "text":
            await session.run(user_input=SENTENCE)
        else:
            pcm = ask.pcm()
            for start in range(0, len(pcm), FRAME_BYTES):
                piece = pcm[start : start + FRAME_BYTES]
                wire.push_audio(rtc.AudioFrame(piece, RATE_HZ, 1, len(piece) // 2))
            wire.commit_audio()
            session.generate_reply()
        await done.wait()
        await session.aclose()


asyncio.run(asyncio.wait_for(main(), 40))
report.print()
