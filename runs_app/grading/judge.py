"""Asking a judge through the real openai client: one structured call per question, at most three tries.

`JudgeClient` is what grading needs; `open_judge` gives one that talks to any endpoint that speaks OpenAI's API. An
address that ends in `/chat/completions` is asked in that older form, every other through the Responses API.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

import openai
import stamina
from openai import AsyncOpenAI

from runs_app.grading.reply import REPLY_SCHEMA
from runs_app.realtime.api_client import api_client
from runs_app.realtime.endpoints import api_base_url
from scenarios_app.spec.jsontext import canonical

Json = Any

TRIES: Final = 3
CALL_TIMEOUT_S: Final = 60.0
# Of all tries of one question, waits between them included.
QUESTION_TIMEOUT_S: Final = 3 * CALL_TIMEOUT_S + 15.0
_WORTH_A_RETRY: Final = frozenset({408, 409, 425, 429})
_SCHEMA_NAME: Final = "grade"
_KEPT: Final = 4_000  # characters of a body that is no answer


@dataclass(frozen=True)
class Question:
    """Instructions and evidence of one call. The hash names both, with the schema of the answer."""

    dimension: str
    instructions: str
    evidence: str

    @property
    def prompt_hash(self) -> str:
        return hashlib.sha256(canonical([self.instructions, self.evidence, REPLY_SCHEMA])).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What came back: `body` is the text as it came, or `error` says in words why there is none."""

    body: str = ""
    error: str = ""
    tries: int = 1
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


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
        return Reply(error=f"the judge failed: {type(error).__name__}: {_one_line(str(error))}")


@dataclass(frozen=True)
class OpenAIJudge:
    client: AsyncOpenAI
    model: str
    reasoning_effort: str | None = None
    chat: bool = False

    async def ask(self, question: Question) -> Reply:
        started = time.monotonic()
        tries = 0
        reply = Reply(error="no answer from the judge")
        try:
            async with asyncio.timeout(QUESTION_TIMEOUT_S):
                async for attempt in stamina.retry_context(on=_worth_a_retry, attempts=TRIES, timeout=None):
                    with attempt:
                        tries += 1
                        reply = await self._call(question)
        except TimeoutError:
            reply = Reply(error=f"no answer from the judge within {QUESTION_TIMEOUT_S:.0f} s")
        except openai.OpenAIError as error:
            reply = Reply(error=_in_words(error), body=_body_of(error))
        latency_ms = round((time.monotonic() - started) * 1000, 1)
        return Reply(reply.body, reply.error, max(1, tries), latency_ms, reply.input_tokens, reply.output_tokens)

    async def _call(self, question: Question) -> Reply:
        return await (self._chat_call(question) if self.chat else self._responses_call(question))

    async def _responses_call(self, question: Question) -> Reply:
        given: dict[str, Any] = {"reasoning": {"effort": self.reasoning_effort}} if self.reasoning_effort else {}
        raw = await self.client.responses.with_raw_response.create(
            model=self.model,
            instructions=question.instructions,
            input=question.evidence,
            text={"format": {"type": "json_schema", "name": _SCHEMA_NAME, "schema": REPLY_SCHEMA, "strict": True}},
            store=False,
            **given,
        )
        return _read(raw, _of_response)

    async def _chat_call(self, question: Question) -> Reply:
        given: dict[str, Any] = {"reasoning_effort": self.reasoning_effort} if self.reasoning_effort else {}
        raw = await self.client.chat.completions.with_raw_response.create(
            model=self.model,
            messages=[
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": question.evidence},
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": _SCHEMA_NAME, "schema": REPLY_SCHEMA, "strict": True},
            },
            **given,
        )
        return _read(raw, _of_completion)


def _read(raw: Any, reader: Callable[[Any], Reply]) -> Reply:
    """The answer's text, or the body as it came when it is no answer of this API (a gateway's HTML, a cut-off JSON)."""
    try:
        return reader(raw.parse())
    except (ValueError, AttributeError, TypeError):
        what = "something that is no answer" if raw.text.strip() else "an empty body"
        return Reply(error=f"the judge's endpoint sent {what}", body=raw.text[:_KEPT])


def _of_response(response: Any) -> Reply:
    """All text and refusals of a Response. A server that follows the API loosely may leave parts out."""
    parts = [
        getattr(part, "text", None) or getattr(part, "refusal", None) or ""
        for item in response.output or ()
        for part in getattr(item, "content", None) or ()
    ]
    usage = response.usage
    return Reply(
        body="".join(parts),
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
    )


def _of_completion(completion: Any) -> Reply:
    message = completion.choices[0].message if completion.choices else None
    usage = completion.usage
    return Reply(
        body=(message.content or message.refusal or "") if message else "",
        input_tokens=usage.prompt_tokens if usage else None,
        output_tokens=usage.completion_tokens if usage else None,
    )


@asynccontextmanager
async def open_judge(
    *, endpoint: str, model: str, api_key: str, reasoning_effort: str | None = None
) -> AsyncIterator[OpenAIJudge]:
    """A judge at an endpoint such as `https://HOST/v1` (`/responses` or `/chat/completions` may follow).

    Raises EndpointError when the address cannot be one. Leave the block on the event loop that used the judge.
    """
    base_url = api_base_url(endpoint)
    async with await api_client(base_url=base_url, api_key=api_key, timeout_s=CALL_TIMEOUT_S) as client:
        yield OpenAIJudge(client, model, reasoning_effort, _speaks_chat(endpoint))


def _speaks_chat(endpoint: str) -> bool:
    return endpoint.rstrip("/").endswith("/chat/completions")


def _worth_a_retry(error: Exception) -> bool:
    """Trouble of the way or of the server may pass; a refusal (a bad key, an unknown model) will not."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _WORTH_A_RETRY or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)


def _in_words(error: openai.OpenAIError) -> str:
    if isinstance(error, openai.APIStatusError):
        return f"the judge answered HTTP {error.status_code}{_told(error)}"
    if isinstance(error, openai.APITimeoutError):
        return f"the judge did not answer within {CALL_TIMEOUT_S:.0f} s"
    if isinstance(error, openai.APIConnectionError):
        return f"the judge cannot be reached: {_one_line(str(error.__cause__ or error))}"
    return f"the judge's answer cannot be read: {_one_line(str(error))}"


def _told(error: openai.APIStatusError) -> str:
    message = error.body.get("message") if isinstance(error.body, dict) else None
    return f": {_one_line(message)}" if isinstance(message, str) and message.strip() else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


def _body_of(error: openai.OpenAIError) -> str:
    return error.response.text[:_KEPT] if isinstance(error, openai.APIStatusError) else ""
