"""OpenAIRealtimeLLMService of pipecat; it follows a call by the conversation item that announces it."""

from __future__ import annotations

import asyncio
import sys

from common import INSTRUCTIONS, KEY, MODEL, PARAMETERS, SENTENCE, Report, asked
from loguru import logger
from pipecat.adapters.schemas.function_schema import FunctionSchema
from pipecat.adapters.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    LLMFullResponseEndFrame,
    LLMRunFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.realtime import events
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService

CHUNK_BYTES = 4_800
report = Report()


class Tap(FrameProcessor):
    def __init__(self) -> None:
        super().__init__()
        self.greeted = asyncio.Event()
        self.done = asyncio.Event()

    async def process_frame(self, frame: Frame, direction) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, ErrorFrame):
            report.errors.append(str(frame.error))
        elif isinstance(frame, LLMTextFrame):
            report.text += frame.text
        elif isinstance(frame, TTSAudioRawFrame):
            report.audio_bytes += len(frame.audio)
        elif isinstance(frame, LLMFullResponseEndFrame):
            (self.done if report.calls and report.text else self.greeted).set()
        await self.push_frame(frame, direction)


def service(mode: str, url: str) -> OpenAIRealtimeLLMService:
    properties = events.SessionProperties(
        instructions=INSTRUCTIONS,
        output_modalities=[mode],
        audio=events.AudioConfiguration(input=events.AudioInput(turn_detection=False)),
    )
    settings = OpenAIRealtimeLLMService.Settings(model=MODEL, session_properties=properties)
    return OpenAIRealtimeLLMService(api_key=KEY, base_url=url, settings=settings)


async def main() -> None:
    ask, tap = asked(), Tap()
    llm = service(ask.mode, ask.url)

    async def book(call) -> None:
        report.calls.append(dict(call.arguments))
        await call.result_callback({"ok": True})

    llm.register_function("create_reservation", book)
    schema = FunctionSchema(
        name="create_reservation",
        description="Book",
        properties=PARAMETERS["properties"],
        required=PARAMETERS["required"],
    )
    messages = [{"role": "user", "content": SENTENCE}] if ask.mode == "text" else []
    pair = LLMContextAggregatorPair(LLMContext(messages, ToolsSchema(standard_tools=[schema])))
    task = PipelineTask(Pipeline([pair.user(), llm, tap, pair.assistant()]))
    running = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
    # It takes up a conversation with a first response only: before a spoken turn the agent greets.
    await task.queue_frames([LLMRunFrame()])
    if ask.mode == "audio":
        await tap.greeted.wait()
        report.text, report.audio_bytes = "", 0
        for frame in spoken(ask.pcm()):
            await llm.queue_frame(frame)
    await tap.done.wait()
    await task.cancel()
    await asyncio.wait([running], timeout=5)


def spoken(pcm: bytes) -> list[Frame]:
    pieces = [pcm[start : start + CHUNK_BYTES] for start in range(0, len(pcm), CHUNK_BYTES)]
    sound = [InputAudioRawFrame(audio=piece, sample_rate=24_000, num_channels=1) for piece in pieces]
    return [UserStartedSpeakingFrame(), *sound, UserStoppedSpeakingFrame()]


logger.remove()
logger.add(sys.stderr, level="WARNING")
asyncio.run(asyncio.wait_for(main(), 40))
report.print()
