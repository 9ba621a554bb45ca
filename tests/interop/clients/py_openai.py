"""The openai package itself."""

from __future__ import annotations

import asyncio
import base64
import json

from common import INSTRUCTIONS, KEY, MODEL, PARAMETERS, RESULT, SENTENCE, Report, asked
from openai import AsyncOpenAI

CHUNK_BYTES = 4_800
PCM = {"type": "audio/pcm", "rate": 24_000}


async def main() -> Report:
    ask, report = asked(), Report()
    tool = {"type": "function", "name": "create_reservation", "description": "Book", "parameters": PARAMETERS}
    audio = {"input": {"format": PCM, "turn_detection": None}, "output": {"format": PCM}}
    session = {"type": "realtime", "instructions": INSTRUCTIONS, "tools": [tool], "output_modalities": [ask.mode]}
    client = AsyncOpenAI(api_key=KEY, websocket_base_url=ask.url.removesuffix("/realtime"))
    async with client.realtime.connect(model=MODEL) as connection:
        await connection.session.update(session={**session, "audio": audio})
        if ask.mode == "audio":
            pcm = ask.pcm()
            for start in range(0, len(pcm), CHUNK_BYTES):
                piece = base64.b64encode(pcm[start : start + CHUNK_BYTES]).decode()
                await connection.input_audio_buffer.append(audio=piece)
            await connection.input_audio_buffer.commit()
        else:
            content = [{"type": "input_text", "text": SENTENCE}]
            await connection.conversation.item.create(item={"type": "message", "role": "user", "content": content})
        await connection.response.create()
        async for event in connection:
            if event.type == "error":
                report.errors.append(event.error.message)
            elif event.type in ("response.output_text.delta", "response.output_audio_transcript.delta"):
                report.text += event.delta
            elif event.type == "response.output_audio.delta":
                report.audio_bytes += len(base64.b64decode(event.delta))
            elif event.type == "response.done":
                calls = [item for item in event.response.output or [] if item.type == "function_call"]
                if not calls:
                    return report
                for call in calls:
                    report.calls.append(json.loads(call.arguments))
                    output = {"type": "function_call_output", "call_id": call.call_id, "output": RESULT}
                    await connection.conversation.item.create(item=output)
                await connection.response.create()
    return report


asyncio.run(asyncio.wait_for(main(), 40)).print()
