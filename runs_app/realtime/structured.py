"""One structured answer from a model through the real openai client, in at most three tries.

Any endpoint that speaks OpenAI's API will do. An address that ends in `/chat/completions` is asked in that older form,
every other through the Responses API. `who` is how messages call the one that was asked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import openai
import stamina
from openai import AsyncOpenAI

from runs_app.realtime.api_client import api_client
from runs_app.realtime.endpoints import api_base_url
from runs_app.realtime.told_numbers import tokens_told

Json = Any

TRIES: Final = 3
CALL_TIMEOUT_S: Final = 60.0
# Of all tries of one question, waits between them included.
QUESTION_TIMEOUT_S: Final = 3 * CALL_TIMEOUT_S + 15.0
_WORTH_A_RETRY: Final = frozenset({408, 409, 425, 429})
_KEPT: Final = 4_000  # characters of a body that is no answer


@dataclass(frozen=True)
class Shape:
    """The JSON Schema that an answer has to follow, and its name on the wire."""

    name: str
    schema: dict[str, Json]


@dataclass(frozen=True)
class Reply:
    """What came back: `body` is the text as it came, or `error` says in words why there is none."""

    body: str = ""
    error: str = ""
    tries: int = 1
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True)
class StructuredModel:
    client: AsyncOpenAI
    model: str
    who: str
    reasoning_effort: str | None = None
    chat: bool = False

    async def ask(self, instructions: str, document: str, shape: Shape) -> Reply:
        """Trouble of the way or of the server is tried again; whatever remains is a Reply with an error."""
        started = time.monotonic()
        tries = 0
        reply = Reply(error=f"no answer from {self.who}")
        try:
            async with asyncio.timeout(QUESTION_TIMEOUT_S):
                async for attempt in stamina.retry_context(on=_worth_a_retry, attempts=TRIES, timeout=None):
                    with attempt:
                        tries += 1
                        reply = await self._call(instructions, document, shape)
        except TimeoutError:
            reply = Reply(error=f"no answer from {self.who} within {QUESTION_TIMEOUT_S:.0f} s")
        except openai.OpenAIError as error:
            reply = Reply(error=error_in_words(error, self.who), body=_body_of(error))
        latency_ms = round((time.monotonic() - started) * 1000, 1)
        return Reply(reply.body, reply.error, max(1, tries), latency_ms, reply.input_tokens, reply.output_tokens)

    async def _call(self, instructions: str, document: str, shape: Shape) -> Reply:
        call = self._chat_call if self.chat else self._responses_call
        return await call(instructions, document, shape)

    async def _responses_call(self, instructions: str, document: str, shape: Shape) -> Reply:
        given: dict[str, Any] = {"reasoning": {"effort": self.reasoning_effort}} if self.reasoning_effort else {}
        raw = await self.client.responses.with_raw_response.create(
            model=self.model,
            instructions=instructions,
            input=document,
            text={"format": {"type": "json_schema", "name": shape.name, "schema": shape.schema, "strict": True}},
            store=False,
            **given,
        )
        return self._read(raw, _of_response)

    async def _chat_call(self, instructions: str, document: str, shape: Shape) -> Reply:
        given: dict[str, Any] = {"reasoning_effort": self.reasoning_effort} if self.reasoning_effort else {}
        raw = await self.client.chat.completions.with_raw_response.create(
            model=self.model,
            messages=[{"role": "system", "content": instructions}, {"role": "user", "content": document}],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": shape.name, "schema": shape.schema, "strict": True},
            },
            **given,
        )
        return self._read(raw, _of_completion)

    def _read(self, raw: Any, reader: Callable[[Any], Reply]) -> Reply:
        """The answer's text, or the body as it came when it is no answer of this API (a page of HTML, cut-off JSON)."""
        try:
            return reader(raw.parse())
        except (ValueError, AttributeError, TypeError):
            what = "something that is no answer" if raw.text.strip() else "an empty body"
            return Reply(error=f"{self.who}'s endpoint sent {what}", body=raw.text[:_KEPT])


@asynccontextmanager
async def open_model(
    *, endpoint: str, model: str, api_key: str, who: str, reasoning_effort: str | None = None
) -> AsyncIterator[StructuredModel]:
    """A model at an endpoint such as `https://HOST/v1` (`/responses` or `/chat/completions` may follow).

    Raises EndpointError when the address cannot be one. Leave the block on the event loop that used the model.
    """
    base_url = api_base_url(endpoint)
    async with await api_client(base_url=base_url, api_key=api_key, timeout_s=CALL_TIMEOUT_S) as client:
        yield StructuredModel(client, model, who, reasoning_effort, _speaks_chat(endpoint))


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
        input_tokens=tokens_told(usage.input_tokens) if usage else None,
        output_tokens=tokens_told(usage.output_tokens) if usage else None,
    )


def _of_completion(completion: Any) -> Reply:
    message = completion.choices[0].message if completion.choices else None
    usage = completion.usage
    return Reply(
        body=(message.content or message.refusal or "") if message else "",
        input_tokens=tokens_told(usage.prompt_tokens) if usage else None,
        output_tokens=tokens_told(usage.completion_tokens) if usage else None,
    )


def _speaks_chat(endpoint: str) -> bool:
    return endpoint.rstrip("/").endswith("/chat/completions")


def _worth_a_retry(error: Exception) -> bool:
    """Trouble of the way or of the server may pass; a refusal (a bad key, an unknown model) will not."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _WORTH_A_RETRY or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)


def error_in_words(error: openai.OpenAIError, who: str) -> str:
    """Of one call of an endpoint that `who` names, on one line. The reason is the endpoint's own."""
    if isinstance(error, openai.APIStatusError):
        return f"{who} answered HTTP {error.status_code}{_told(error)}"
    if isinstance(error, openai.APITimeoutError):
        return f"{who} did not answer within {CALL_TIMEOUT_S:.0f} s"
    if isinstance(error, openai.APIConnectionError):
        return f"{who} cannot be reached: {_one_line(str(error.__cause__ or error))}"
    return f"{who}'s answer cannot be read: {_one_line(str(error))}"


def _told(error: openai.APIStatusError) -> str:
    message = error.body.get("message") if isinstance(error.body, dict) else None
    return f": {_one_line(message)}" if isinstance(message, str) and message.strip() else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


def _body_of(error: openai.OpenAIError) -> str:
    return error.response.text[:_KEPT] if isinstance(error, openai.APIStatusError) else ""
