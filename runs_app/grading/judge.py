"""Asking a judge: one structured call per question.

`JudgeClient` is what grading needs; `open_judge` gives one that talks to any endpoint that speaks OpenAI's API.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from runs_app.grading.reply import REPLY_SCHEMA
from runs_app.realtime.structured import Reply, Shape, StructuredModel, open_model
from scenarios_app.spec.jsontext import canonical

Json = Any

__all__ = ["JudgeClient", "OpenAIJudge", "Question", "Reply", "ask_safely", "open_judge"]

_SHAPE: Final = Shape("grade", REPLY_SCHEMA)


@dataclass(frozen=True)
class Question:
    """Instructions and evidence of one call. The hash names both, with the schema of the answer."""

    dimension: str
    instructions: str
    evidence: str

    @property
    def prompt_hash(self) -> str:
        return hashlib.sha256(canonical([self.instructions, self.evidence, REPLY_SCHEMA])).hexdigest()


class JudgeClient(Protocol):
    """Asks one question. A judge that fails is a Reply with an error, never an exception."""

    @property
    def model(self) -> str: ...

    async def ask(self, question: Question) -> Reply: ...


async def ask_safely(judge: JudgeClient, question: Question) -> Reply:
    """As `judge.ask`, also for a client that raises: one judge call never breaks a grading."""
    try:
        return await judge.ask(question)
    except Exception as error:  # noqa: BLE001 - whatever the judge is made of, deterministic results stand
        return Reply(error=f"the judge failed: {type(error).__name__}: {' '.join(str(error).split())[:300]}")


@dataclass(frozen=True)
class OpenAIJudge:
    asked: StructuredModel

    @property
    def model(self) -> str:
        return self.asked.model

    async def ask(self, question: Question) -> Reply:
        return await self.asked.ask(question.instructions, question.evidence, _SHAPE)


@asynccontextmanager
async def open_judge(
    *, endpoint: str, model: str, api_key: str, reasoning_effort: str | None = None
) -> AsyncIterator[OpenAIJudge]:
    """A judge at an endpoint such as `https://HOST/v1` (`/responses` or `/chat/completions` may follow).

    Raises EndpointError when the address cannot be one. Leave the block on the event loop that used the judge.
    """
    opened = open_model(
        endpoint=endpoint, model=model, api_key=api_key, who="the judge", reasoning_effort=reasoning_effort
    )
    async with opened as asked:
        yield OpenAIJudge(asked)
