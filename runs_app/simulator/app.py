"""The simulator as one ASGI application: an agent, a speech service and a judge on real sockets.

| address | what it is |
|---|---|
| `ws /v1/realtime` | the agent, Realtime protocol, GA and beta (server.py) |
| `ws /v1/live/sessions` | the agent, GPT Live protocol (live_session.py) |
| `POST /v1/audio/speech` | speech (speech_api.py) |
| `POST /v1/audio/transcriptions` | what the ear makes of a recording (transcription_api.py) |
| `POST /v1/responses` | the judge (judge_api.py), a backend (backend_api.py), callers (persona_api.py) |
| `POST /v1/understood` | which sentences of a prompt the clerk heeds (understood.py) |
| `GET /v1/models`, `GET /healthz` | what is here, and that it lives |
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from runs_app.simulator.agent_ear import AgentEar
from runs_app.simulator.ear import Ear
from runs_app.simulator.http_reply import HttpReply, RequestError, error_reply, json_reply
from runs_app.simulator.judge_api import JUDGE_MODEL, answer_judge
from runs_app.simulator.options import DEFAULT_MODEL
from runs_app.simulator.persona_api import PERSONA_MODEL
from runs_app.simulator.server import LIVE_PATHS, REALTIME_PATHS, Receive, Scope, Send, converse, refuse_handshake
from runs_app.simulator.speech_api import answer_speech
from runs_app.simulator.transcription_api import TRANSCRIPTION_MODEL, answer_transcription
from runs_app.simulator.understood import answer_understood
from runs_app.simulator.voices import SPEECH_MODEL, VOICES, Voices

LARGEST_BODY_BYTES = 20 * 1024 * 1024

App = Callable[[Scope, Receive, Send], Awaitable[None]]
Answer = Callable[[bytes], Awaitable[HttpReply]]


def create_app(data_dir: Path | str | None = None, *, phrases: Path | None = None) -> App:
    """The application. `data_dir` keeps voices and fingerprints over restarts (None: only this process remembers).

    `phrases`: a text file whose sentences the ear shall know from the start in both voices. Each takes a fraction of
    a second the first time, so this is done before the application exists.
    """
    voices, ear = Voices(data_dir), Ear(data_dir)
    for sentence in read_phrases(phrases) if phrases else ():
        for voice in VOICES:
            ear.remember(sentence, voices.say(sentence, voice))
    answers = _answers(voices, ear)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _http(scope, receive, send, answers)
        elif scope["type"] == "websocket" and scope["path"].rstrip("/") in (*REALTIME_PATHS, *LIVE_PATHS):
            await converse(scope, receive, send, ear=ear, voices=voices)
        elif scope["type"] == "websocket":
            await receive()
            await refuse_handshake(send, 404)

    return app


def read_phrases(path: Path) -> list[str]:
    """The sentences of a UTF-8 text file, one a line; empty lines and lines that start with # are left out."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _answers(voices: Voices, ear: Ear) -> dict[tuple[str, str], Answer]:
    agent_ear = AgentEar(voices)

    async def speech(body: bytes) -> HttpReply:
        return await answer_speech(body, voices=voices, ear=ear)

    async def transcription(body: bytes) -> HttpReply:
        return await answer_transcription(body, ear=ear, agent_ear=agent_ear)

    async def models(body: bytes) -> HttpReply:
        names = (DEFAULT_MODEL, SPEECH_MODEL, TRANSCRIPTION_MODEL, JUDGE_MODEL, PERSONA_MODEL)
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "soundcheck-simulator"} for name in names]
        return json_reply({"object": "list", "data": data})

    async def health(body: bytes) -> HttpReply:
        return json_reply({"status": "ok", "simulated": True, "phrases": len(ear)})

    return {
        ("POST", "/v1/audio/speech"): speech,
        ("POST", "/v1/audio/transcriptions"): transcription,
        ("POST", "/v1/responses"): answer_judge,
        ("POST", "/v1/understood"): answer_understood,
        ("GET", "/v1/models"): models,
        ("GET", "/healthz"): health,
    }


async def _http(scope: Scope, receive: Receive, send: Send, answers: dict[tuple[str, str], Answer]) -> None:
    method, path = scope["method"], scope["path"].rstrip("/")
    answer = answers.get((method, path))
    body = await _body(receive)
    if answer is None:
        known = ", ".join(f"{method} {path}" for method, path in answers)
        reply = error_reply(
            RequestError(f"{method} {path} is not served here; there are: {known}", code="not_found"), 404
        )
    elif body is None:
        reply = error_reply(RequestError(f"the body has more than {LARGEST_BODY_BYTES} bytes", code="too_large"), 413)
    else:
        reply = await answer(body)
    headers = [(b"content-type", reply.content_type.encode()), (b"content-length", str(len(reply.body)).encode())]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


async def _body(receive: Receive) -> bytes | None:
    """The request's body, None when it is too large or the client is gone."""
    body = bytearray()
    while (message := await receive())["type"] == "http.request":
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY_BYTES:
            return None
        if not message.get("more_body"):
            return bytes(body)
    return None
