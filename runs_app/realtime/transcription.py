"""What a machine makes of a sound: the words of recordings, from any OpenAI-compatible `/audio/transcriptions`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import openai
from openai import AsyncOpenAI

from runs_app.realtime.api_client import api_client
from runs_app.realtime.endpoints import api_base_url, shown
from runs_app.realtime.structured import error_in_words
from scenarios_app.spec.errors import SpecError
from scenarios_app.spec.jsontext import clean_text, load

LARGEST_BYTES: Final = 25 * 1024 * 1024  # what OpenAI takes
MOST_CHARACTERS: Final = 20_000  # of ten minutes nobody says more
TIMEOUT_S: Final = 60.0
_AT_ONCE: Final = 4


@dataclass(frozen=True)
class Recogniser:
    """`endpoint` with or without /audio/transcriptions behind the base."""

    endpoint: str
    model: str
    api_key: str | None = field(default=None, repr=False)

    @property
    def place(self) -> str:
        return f"the recogniser at {shown(self.endpoint)}"


@dataclass(frozen=True)
class Written:
    """`text` is "" where no words were caught, None where there is no answer: `error` then says why."""

    text: str | None
    error: str = ""


async def write_down(recogniser: Recogniser, files: Sequence[bytes]) -> list[Written]:
    """The words of each WAV file, in their order; each is asked for once. Raises EndpointError."""
    places = asyncio.Semaphore(_AT_ONCE)
    async with await api_client(
        base_url=api_base_url(recogniser.endpoint), api_key=recogniser.api_key, timeout_s=TIMEOUT_S
    ) as client:

        async def ask(file: bytes) -> Written:
            async with places:
                return _without_key(await _ask(client, recogniser, file), recogniser)

        return list(await asyncio.gather(*map(ask, files)))


async def _ask(client: AsyncOpenAI, recogniser: Recogniser, file: bytes) -> Written:
    if len(file) > LARGEST_BYTES:
        return Written(None, f"it is {len(file) / 2**20:.0f} MB long; {LARGEST_BYTES >> 20} MB are the most to send")
    try:
        async with asyncio.timeout(TIMEOUT_S):
            answer = await client.audio.transcriptions.with_raw_response.create(
                model=recogniser.model, file=("audio.wav", file, "audio/wav")
            )
    except TimeoutError:
        return Written(None, f"{recogniser.place} did not answer within {TIMEOUT_S:.0f} s")
    except openai.OpenAIError as error:
        return Written(None, error_in_words(error, recogniser.place))
    return _words_of(answer.text, recogniser.place)


def _words_of(body: str, place: str) -> Written:
    try:
        told: Any = load(body)
    except SpecError:
        told = None
    text = told.get("text") if isinstance(told, dict) else None
    if not isinstance(text, str):
        return Written(None, f"{place} sent something that is no transcript")
    return Written(" ".join(clean_text(text).split())[:MOST_CHARACTERS])


def _without_key(written: Written, recogniser: Recogniser) -> Written:
    """Servers like to repeat the key that they refuse."""
    key = recogniser.api_key
    return Written(written.text, written.error.replace(key, "[key]")) if key else written
