"""Listening in to a conversation under way, through the real ASGI application and a real channel layer."""

from __future__ import annotations

import asyncio
import json
import struct
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import redis.asyncio
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from channels.testing import WebsocketCommunicator
from django.test import Client

from runs_app import listen_consumer
from runs_app.models import Run, Trial
from runs_app.realtime.pcm import to_bytes
from runs_app.realtime.wav import wav_bytes
from runs_app.recorder import listen_in
from runs_app.services import conversing
from runs_app.services.artifacts import read_audio
from runs_app.services.claims import claim_trial
from tests.realtime.support import chunks, tone
from tests.runs.builders import make_configuration, make_run
from tests.runs.test_consumer import application, client, headers, refused
from tests.scripted_events import audio_reply, session_created, session_updated
from tests.scripted_server import Expect, Hang, Pause, Send, serving_in_thread
from tests.services import eventually
from tests.speech_server import Answer, speech_server

__all__ = ["application", "client"]

pytestmark = pytest.mark.django_db(transaction=True)

in_database = sync_to_async(thread_sensitive=False)
CALLER_MS = 900


@pytest.fixture
def run(on_redis: str) -> Any:
    """One spoken trial, in real time: the agent's sound comes all at once and is heard in its time."""
    reply = audio_reply(chunks(tone(2_600)), "Your table is booked.")
    script = [
        Send(session_created()),
        Expect("session.update"),
        Send(session_updated()),
        Expect("response.create"),
        Pause(200),
        *reply[:-1],
        Pause(1_600),
        reply[-1],
        Hang(),
    ]
    said = (9000 * np.sin(np.arange(CALLER_MS * 24) / 12)).astype("<i2")
    with ExitStack() as stack:
        agent = stack.enter_context(serving_in_thread(script))
        speech = stack.enter_context(speech_server([Answer(wav_bytes(said))]))
        caller = {"endpoint": speech.url, "model": "tts", "voice": "nora"}
        version = make_configuration(endpoint=agent.url, mode="audio", caller=caller, audio={"real_time": True})
        yield make_run(1, configurations=[version])


class Listener:
    """A browser's side of the socket: what came, in order, and why it ended. One that is `deaf` takes nothing."""

    def __init__(self, socket: WebsocketCommunicator, *, deaf: bool = False) -> None:
        self.socket, self.deaf = socket, deaf
        self.chunks: list[tuple[int, bytes]] = []
        self.format: dict[str, Any] = {}
        self.over = ""

    async def listen(self) -> None:
        while not self.over:
            frame = await self.socket.receive_output(timeout=20)
            if frame["type"] == "websocket.close":
                break
            if frame.get("bytes"):
                self._take(frame["bytes"])
                if not self.deaf:
                    await self.socket.send_to(text_data=json.dumps({"heard": len(self.chunks)}))
            else:
                told = json.loads(frame["text"])
                self.over = told.get("over", "")
                self.format = self.format or told
        await self.socket.disconnect()

    def _take(self, body: bytes) -> None:
        (start,) = struct.unpack("<I", body[:4])
        self.chunks.append((start, body[4:]))

    @property
    def samples(self) -> Any:
        return np.frombuffer(b"".join(body for _, body in self.chunks), dtype="<i2").reshape(-1, 2)

    @property
    def gaps(self) -> list[int]:
        ends = [start + len(body) // 4 for start, body in self.chunks]
        return [start for end, (start, _) in zip(ends, self.chunks[1:], strict=False) if start != end]


def same_sound(heard: Any, recording: Any) -> bool:
    """Sample by sample; until the call was over, silence may have been heard behind the end of the recording."""
    return bool((heard[: len(recording)] == recording).all() and not heard[len(recording) :].any())


async def connected(application: Any, client: Client, trial: Trial, **more: Any) -> Listener:
    socket = WebsocketCommunicator(application, f"/ws/trials/{trial.pk}/listen/", headers(client))
    accepted, _ = await socket.connect(timeout=10)
    assert accepted
    return Listener(socket, **more)


async def test_a_redis_that_falls_silent_is_asked_no_longer_than_a_moment(
    on_redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listen_in, "LAYER_S", 0.2)
    layer = get_channel_layer()
    async with redis.asyncio.Redis.from_url(on_redis) as other:
        await other.execute_command("CLIENT", "PAUSE", 800)
    with pytest.raises(TimeoutError):
        await listen_in._is_asked_for(layer, 1)


@in_database
def only_trial(run: Run) -> Trial:
    return run.trials.get()


@in_database
def converse(run: Run) -> tuple[Trial, Any]:
    claim = claim_trial(run_id=run.pk)
    assert claim
    conversing.hold_conversation(claim)
    trial = Trial.objects.get(pk=claim.trial_id)
    return trial, read_audio(trial.wav)


async def test_what_is_heard_live_is_what_the_recording_holds_and_a_deaf_listener_holds_up_nobody(
    application, client, run
) -> None:
    trial = await only_trial(run)
    one, deaf = await connected(application, client, trial), await connected(application, client, trial, deaf=True)
    listening = [asyncio.ensure_future(one.listen()), asyncio.ensure_future(deaf.listen())]
    held, recording = await converse(run)
    await asyncio.wait_for(asyncio.gather(*listening), 20)

    assert held.record["ending"]["kind"] == "completed"
    assert one.format == {"rate_hz": 24_000, "chunk_ms": 100}
    assert one.over == "the call is over"
    assert one.chunks[0][0] == 0, "it was asked for before the first word"
    assert not one.gaps
    assert same_sound(one.samples, recording)
    assert one.samples[:, 0].any(), "the caller is on the left"
    assert one.samples[:, 1].any(), "the agent on the right"
    assert len(deaf.chunks) == listen_consumer.MOST_UNHEARD < len(one.chunks)


async def test_who_comes_late_hears_what_is_said_now(application, client, run) -> None:
    trial = await only_trial(run)
    talking = asyncio.ensure_future(converse(run))
    spoken = Trial.objects.filter(pk=trial.pk, events__type="turn.sent").exists
    await in_database(eventually)(spoken, what="the caller has spoken")
    late = await connected(application, client, trial)
    await late.listen()
    _, recording = await talking
    first = late.chunks[0][0]
    assert first > 0
    assert same_sound(late.samples, recording[first:])


async def test_nothing_is_published_while_nobody_asks(on_redis, run) -> None:
    from channels.layers import get_channel_layer

    layer = get_channel_layer()
    trial = await only_trial(run)
    channel = await layer.new_channel()
    await layer.group_add(listen_in.group(trial.pk), channel)  # there, and silent: it does not ask
    await converse(run)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(layer.receive(channel), 0.5)


@pytest.mark.parametrize(("mode", "why"), [("text", "nothing to hear"), ("audio", "not in real time")])
async def test_what_cannot_be_heard_live_says_why(application, client, on_redis, mode, why) -> None:
    script = [Send(session_created()), Expect("session.update"), Send(session_updated()), Expect("response.create")]
    said = (9000 * np.sin(np.arange(CALLER_MS * 24) / 12)).astype("<i2")
    reply = audio_reply([to_bytes(tone(300))], "Booked.")
    with (
        serving_in_thread([*script, Pause(2_000), *reply, Hang()]) as agent,
        speech_server([Answer(wav_bytes(said))]) as speech,
    ):
        caller = {"endpoint": speech.url, "model": "tts", "voice": "nora"}
        version = await in_database(make_configuration)(
            endpoint=agent.url, mode=mode, caller=caller, audio={"real_time": False}
        )
        run = await in_database(make_run)(1, configurations=[version])
        listener = await connected(application, client, await only_trial(run))
        listening = asyncio.ensure_future(listener.listen())
        await converse(run)
        await asyncio.wait_for(listening, 10)
    assert why in listener.over
    assert not listener.chunks


async def test_a_trial_that_is_over_says_so_at_once(application, client, run) -> None:
    trial, _ = await converse(run)
    listener = await connected(application, client, trial)
    await asyncio.wait_for(listener.listen(), 5)
    assert listener.over == "the call is over"


async def test_strangers_and_unknown_trials_are_refused(application, client, run) -> None:
    trial = await only_trial(run)
    assert await refused(application, f"/ws/trials/{trial.pk}/listen/", headers(None))
    assert await refused(application, f"/ws/trials/{trial.pk + 1000}/listen/", headers(client))
    assert await refused(application, f"/ws/trials/{trial.pk}/listen/", headers(client, "http://evil.example"))


@pytest.mark.parametrize("nonsense", ["{", "[]", "{}", '{"heard": true}', '{"heard": "x"}', "x" * 2000, "[" * 100_000])
async def test_nonsense_from_a_browser_is_ignored(application, client, run, nonsense) -> None:
    listener = await connected(application, client, await only_trial(run))
    await listener.socket.send_to(text_data=nonsense)
    frame = await listener.socket.receive_output(timeout=10)
    assert json.loads(frame["text"])["rate_hz"] == 24_000
    assert await listener.socket.receive_nothing(timeout=0.2)
    await listener.socket.disconnect()
