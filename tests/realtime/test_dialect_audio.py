"""Sound in every coding of the protocol, through whole sessions: what the server says it sends is what is read."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

from runs_app.realtime.dialects.realtime import BetaDialect, RealtimeDialect
from runs_app.realtime.formats import AudioFormat, Formats, as_bytes, format_of, wire_speech
from runs_app.realtime.merging import merge
from runs_app.realtime.pcm import Int16
from runs_app.realtime.plan import Plan
from runs_app.realtime.record import Turn
from tests.realtime.support import Held, asked, hold, only_session, plan, tone
from tests.scripted_events import audio_reply, session_created, session_updated
from tests.scripted_server import Expect, Send, Session, Step, serving

GA, BETA = RealtimeDialect(), BetaDialect()
G711 = ("g711_ulaw", "g711_alaw")
WIRE = {"g711_ulaw": "audio/pcmu", "g711_alaw": "audio/pcma", "pcm16": "audio/pcm"}


def asking(url: str, *, output: str = "pcm16", input: str = "pcm16", dialect: RealtimeDialect = GA) -> Plan:
    formats = Formats(format_of(input), format_of(output))
    configured = dialect.configured_session(instructions="", voice=None, tools=[], formats=formats)
    session = merge(dialect.default_session("audio"), configured)
    return plan(url, audio=tone(250), dialect=dialect, session=session)


def telling(output: Any = None, input: Any = None) -> list[Step]:
    """A server that confirms these formats, whatever it was asked for."""
    sides = {"input": {"format": input}, "output": {"format": output}}
    audio = {side: part for side, part in sides.items() if part["format"] is not None}
    return [Send(session_created()), Expect("session.update"), Send(session_updated(audio=audio))]


def cut(data: bytes, size: int = 333) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def agent_sound(held: Held) -> Int16:
    turn: Turn = held.record.turns[0]
    return np.concatenate([held.right[span.start : span.end] for span in turn.agent])


def level_of(samples: Int16, hz: float) -> float:
    """The level of one tone within a sound."""
    wave = np.exp(-2j * np.pi * hz * np.arange(samples.size) / 24_000)
    return float(2 * abs(np.mean(samples * wave)))


@pytest.mark.behaviour(16)
@pytest.mark.parametrize("coding", G711)
async def test_g711_from_the_agent_fills_the_right_channel_at_24_khz(coding: str) -> None:
    said = as_bytes(tone(3 * 1000, hz=100)[::3].copy(), format_of(coding))  # 100 Hz at 24 kHz is 300 Hz at 8 kHz
    script = [*telling({"type": WIRE[coding]}), *asked(), *audio_reply(cut(said), "Tuu")]
    async with serving(script) as server:
        held = await hold(asking(server.url, output=coding))
    (update,) = only_session(server).events("session.update")
    assert update["session"]["audio"]["output"]["format"] == {"type": WIRE[coding]}
    sound = agent_sound(held)
    assert sound.size == 3 * len(said)
    assert level_of(sound, 100) == pytest.approx(6000, rel=0.01)
    residue = sound - np.round(6000 * np.sin(2 * np.pi * 100 * np.arange(sound.size) / 24_000))
    assert np.abs(residue[100:-100]).max() < 6000 * 0.04  # no click at any of the deltas' edges
    assert held.record.warnings == ()


@pytest.mark.behaviour(16)
@pytest.mark.parametrize("told", [{"type": "audio/pcmu"}, {"type": "audio/pcmu", "rate": 8000}, "g711_ulaw"])
async def test_audio_is_read_as_the_server_says_it_comes_and_the_difference_is_told(told: Any) -> None:
    said = as_bytes(tone(1000)[::3].copy(), format_of("g711_ulaw"))
    async with serving([*telling(told), *asked(), *audio_reply(cut(said))]) as server:
        held = await hold(asking(server.url))
    assert agent_sound(held).size == 3 * len(said)
    assert held.record.warnings == ("audio_format=1",)
    (warning,) = held.of("warning")
    assert warning.payload["detail"] == (
        "the agent speaks G.711 µ-law at 8000 Hz, and PCM16 at 24000 Hz was asked for; it is read as it comes"
    )


async def test_a_beta_session_tells_its_formats_too() -> None:
    said = as_bytes(tone(1000)[::3].copy(), format_of("g711_alaw"))
    told = {"modalities": ["audio", "text"], "input_audio_format": "pcm16", "output_audio_format": "g711_alaw"}
    setup = [Expect("session.update"), Send({"type": "session.updated", "session": told})]
    async with serving([*setup, *asked(), *audio_reply(cut(said))]) as server:
        held = await hold(asking(server.url, output="g711_alaw", dialect=BETA))
    (update,) = only_session(server).events("session.update")
    assert update["session"]["output_audio_format"] == "g711_alaw"
    assert agent_sound(held).size == 3 * len(said)
    assert held.record.warnings == ()


async def test_pcm_at_another_rate_keeps_its_pitch_and_its_duration() -> None:
    heard = (6000 * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)).astype(np.int16)
    said = as_bytes(heard, AudioFormat("pcm16", 16_000))
    async with serving([*telling({"type": "audio/pcm", "rate": 16_000}), *asked(), *audio_reply(cut(said))]) as server:
        held = await hold(asking(server.url))
    sound = agent_sound(held)
    assert sound.size == 24_000
    assert level_of(sound, 440) == pytest.approx(6000, rel=0.01)


async def test_a_server_that_never_confirms_is_read_as_it_said_when_it_opened() -> None:
    """What it opened with differs from what was asked for: told once, and read right."""
    said = as_bytes(tone(900)[::3].copy(), format_of("g711_ulaw"))
    opened = session_created(audio={"output": {"format": {"type": "audio/pcmu"}}})
    script = [Send(opened), Expect("session.update"), *asked(), *audio_reply(cut(said))]
    async with serving(script) as server:
        held = await hold(asking(server.url))
    assert agent_sound(held).size == 3 * len(said)
    assert held.record.warnings == ("audio_format=1", "session_not_acknowledged=1")


@pytest.mark.parametrize(("output", "input"), [({"type": "audio/opus"}, None), (None, {"type": "audio/opus"})])
async def test_a_session_in_a_coding_that_nobody_reads_is_not_held(output: Any, input: Any) -> None:
    async with serving(telling(output, input)) as server:
        held = await hold(asking(server.url))
    ending = held.record.ending
    assert (ending.kind, ending.stage, ending.code) == ("invalid", "session", "audio_format")
    assert "audio/opus" in ending.message
    assert held.record.turns == ()


@pytest.mark.parametrize("coding", G711)
@pytest.mark.parametrize("asked_for", [True, False], ids=["asked for", "told by the server"])
async def test_the_callers_words_go_out_as_the_server_takes_them(coding: str, asked_for: bool) -> None:
    """250 ms are three appends of 800, 800 and 400 bytes."""
    script = [*telling(input={"type": WIRE[coding]}), *asked(), *audio_reply([b"\1\0"])]
    async with serving(script) as server:
        held = await hold(asking(server.url, input=coding if asked_for else "pcm16"))
    session = only_session(server)
    sent = appended(session)
    assert [len(piece) for piece in sent] == [800, 800, 400]
    assert b"".join(sent) == wire_speech(tone(250), format_of(coding)).data
    assert held.left[:6000].tolist() == tone(250).tolist()
    assert held.record.warnings == (() if asked_for else ("audio_format=1",))


def appended(session: Session) -> list[bytes]:
    return [base64.b64decode(event["audio"]) for event in session.events("input_audio_buffer.append")]


def test_another_type_of_format_replaces_the_default_whole() -> None:
    """The rate of PCM would be refused beside audio/pcmu."""
    session = merge(GA.default_session("audio"), {"audio": {"output": {"format": {"type": "audio/pcmu"}}}})
    assert session["audio"]["output"]["format"] == {"type": "audio/pcmu"}
    assert session["audio"]["input"]["format"] == {"type": "audio/pcm", "rate": 24_000}
    kept = merge(GA.default_session("audio"), {"audio": {"output": {"format": {"rate": 16_000}}}})
    assert kept["audio"]["output"]["format"] == {"type": "audio/pcm", "rate": 16_000}


async def test_a_text_session_does_not_care_about_audio() -> None:
    script = [Send(session_created()), Expect("session.update")]
    told = Send(session_updated(audio={"output": {"format": {"type": "audio/opus"}}}))
    async with serving([*script, told, *asked(), *audio_reply([], "Fine.")]) as server:
        held = await hold(plan(server.url))
    assert held.record.ending.kind == "completed"
    assert held.record.turns[0].agent_text == "Fine."


@pytest.mark.quirk(46)
@pytest.mark.parametrize(
    ("told", "form"),
    [
        ("pcm16", format_of("pcm16")),
        ({"type": "audio/PCM"}, format_of("pcm16")),
        ({"type": "pcm16", "rate": 16_000}, AudioFormat("pcm16", 16_000)),
        ({"type": "pcm_s16le"}, format_of("pcm16")),
        ({"type": "audio/L16", "rate": 8000}, AudioFormat("pcm16", 8000)),
        ({"rate": 24_000}, format_of("pcm16")),
        ({"type": "audio/pcm", "rate": "24000"}, format_of("pcm16")),
        ("g711_ulaw", format_of("g711_ulaw")),
        ("audio/pcma", format_of("g711_alaw")),
        ({"type": "mu-law"}, format_of("g711_ulaw")),
        ("audio/opus", AudioFormat("audio/opus", 8000)),
        (None, None),
        (7, None),
        ([], None),
    ],
)
def test_a_format_is_known_by_whatever_name_a_server_gives_it(told: Any, form: AudioFormat | None) -> None:
    assert GA.formats({"audio": {"input": {"format": told}}}) == Formats(form, None)
    assert BETA.formats({"output_audio_format": told}) == Formats(None, form)


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 192_000])
def test_every_rate_that_sound_has_can_be_read(rate_hz: int) -> None:
    assert AudioFormat("pcm16", rate_hz).readable


@pytest.mark.parametrize("rate_hz", [47_999, 191_999])
async def test_a_rate_whose_filter_would_stall_all_calls_is_refused(rate_hz: int) -> None:
    async with serving(telling({"type": "audio/pcm", "rate": rate_hz})) as server:
        held = await hold(asking(server.url))
    assert (held.record.ending.stage, held.record.ending.code) == ("session", "audio_format")
    assert f"PCM16 at {rate_hz} Hz, which is neither PCM16 at a usual rate" in held.record.ending.message


def test_a_rate_that_no_sound_has_cannot_be_read() -> None:
    rates = (-1, 0, 8000, 192_000, 10**9)
    assert [rate for rate in rates if AudioFormat("pcm16", rate).readable] == [8000, 192_000]
