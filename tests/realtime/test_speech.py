"""The caller's voice, through the real openai client against a scripted speech endpoint on a real socket."""

from __future__ import annotations

import asyncio
import json
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stamina

from runs_app.realtime.pcm import Int16
from runs_app.realtime.speech import CallerAudioError, SpeechError, SpeechRequest, caller_audio, speak
from runs_app.realtime.wav import wav_bytes
from tests.speech_server import Answer, SpeechServer, error_answer, speech_server

KEY = "sk-caller-4711"


@pytest.fixture(autouse=True)
def _no_waits() -> Iterator[None]:
    with stamina.set_testing(True, attempts=10, cap=True):
        yield


def tone(*, ms: float = 500, hz: float = 440, rate_hz: int = 24_000, level: float = 0.4) -> Int16:
    t = np.arange(round(ms * rate_hz / 1000)) / rate_hz
    return np.asarray(np.sin(2 * np.pi * hz * t) * level * 32_767, dtype=np.int16)


def wav(**options: Any) -> Answer:
    return Answer(wav_bytes(tone(**options), rate_hz=options.get("rate_hz", 24_000)))


def asked_of(server: SpeechServer, **changes: Any) -> SpeechRequest:
    fields = {"text": "A table for two.", "endpoint": server.url, "model": "tts", "voice": "alma", "api_key": KEY}
    return SpeechRequest(**{**fields, **changes})


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def peak_hz(samples: Int16) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.fft.rfftfreq(len(samples), 1 / 24_000)[spectrum.argmax()])


async def test_words_become_exactly_the_samples_of_the_answer(tmp_path: Path) -> None:
    with speech_server([wav(ms=730)]) as server:
        samples = await caller_audio(asked_of(server), cache_dir=tmp_path)
    assert samples.dtype == np.int16
    assert np.array_equal(samples, tone(ms=730))
    assert server.asked[0]["path"] == "/v1/audio/speech"
    assert server.asked[0]["json"] == {
        "model": "tts",
        "voice": "alma",
        "input": "A table for two.",
        "response_format": "wav",
    }
    assert server.asked[0]["headers"]["authorization"] == f"Bearer {KEY}"


async def test_an_address_with_the_operation_behind_it_works_too(tmp_path: Path) -> None:
    with speech_server([wav()]) as server:
        await caller_audio(asked_of(server, endpoint=f"{server.url}/audio/speech"), cache_dir=tmp_path)
    assert server.asked[0]["path"] == "/v1/audio/speech"


async def test_silence_around_the_words_is_kept_and_recorded(tmp_path: Path) -> None:
    silence = np.zeros(24 * 200, np.int16)
    padded = np.concatenate([silence, tone(ms=300), silence, silence])
    with speech_server([Answer(wav_bytes(padded))]) as server:
        spoken = await speak(asked_of(server), cache_dir=tmp_path)
        again = await speak(asked_of(server), cache_dir=tmp_path)
    assert len(spoken.samples) == 24 * 900
    assert spoken.leading_silence_ms == pytest.approx(200, abs=1)
    assert spoken.trailing_silence_ms == pytest.approx(400, abs=1)
    assert (again.leading_silence_ms, again.from_cache) == (spoken.leading_silence_ms, True)


async def test_the_second_time_nobody_is_asked(tmp_path: Path) -> None:
    with speech_server([wav()]) as server:
        first = await speak(asked_of(server), cache_dir=tmp_path)
        second = await speak(asked_of(server, api_key="another"), cache_dir=tmp_path)
        assert len(server.asked) == 1
        refreshed = await speak(asked_of(server), cache_dir=tmp_path, refresh=True)
    assert len(server.asked) == 2
    assert [first.from_cache, second.from_cache, refreshed.from_cache] == [False, True, False]
    assert np.array_equal(first.samples, second.samples)


@pytest.mark.parametrize(
    "change",
    [
        {"text": "A table for three."},
        {"voice": "bert"},
        {"model": "tts-2"},
        {"rate_hz": 16_000},
        {"response_format": "pcm"},
        {"endpoint_name": "other"},
    ],
)
async def test_whatever_decides_the_sound_is_part_of_the_key(change: dict[str, Any], tmp_path: Path) -> None:
    with speech_server([wav()]) as server:
        await caller_audio(asked_of(server), cache_dir=tmp_path)
        await caller_audio(asked_of(server, **change), cache_dir=tmp_path)
    assert len(server.asked) == 2


async def test_a_named_endpoint_keeps_its_cache_when_its_port_changes(tmp_path: Path) -> None:
    with speech_server([wav()]) as server:
        await caller_audio(asked_of(server, endpoint_name="simulator"), cache_dir=tmp_path)
    with speech_server([wav()]) as moved:
        await caller_audio(asked_of(moved, endpoint_name="simulator"), cache_dir=tmp_path)
    assert (len(server.asked), len(moved.asked)) == (1, 0)


async def test_the_same_words_at_the_same_moment_are_one_request(tmp_path: Path) -> None:
    hold = threading.Event()
    with speech_server([Answer(wav_bytes(tone()), hold=hold)]) as server:
        waiting = [asyncio.create_task(caller_audio(asked_of(server), cache_dir=tmp_path)) for _ in range(8)]
        await asyncio.to_thread(server.arrived.wait, 10)
        waiting[0].cancel()
        hold.set()
        heard = await asyncio.gather(*waiting, return_exceptions=True)
    assert len(server.asked) == 1
    assert isinstance(heard[0], asyncio.CancelledError)
    assert all(isinstance(one, np.ndarray) and np.array_equal(one, tone()) for one in heard[1:])


async def test_nobody_can_change_the_samples_of_the_others(tmp_path: Path) -> None:
    with speech_server([wav()]) as server:
        for _ in range(2):
            samples = await caller_audio(asked_of(server), cache_dir=tmp_path)
            with pytest.raises(ValueError, match="read-only"):
                samples[0] = 1


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "not-json", "no-audio", "wrong-shape"])
async def test_a_damaged_cache_entry_is_made_again(damage: str, tmp_path: Path) -> None:
    with speech_server([wav()]) as server:
        await caller_audio(asked_of(server), cache_dir=tmp_path)
        damage_entry(tmp_path, damage)
        spoken = await speak(asked_of(server), cache_dir=tmp_path)
        kept = await speak(asked_of(server), cache_dir=tmp_path)
    assert np.array_equal(spoken.samples, tone())
    assert (spoken.from_cache, kept.from_cache, len(server.asked)) == (False, True, 2)


def damage_entry(folder: Path, damage: str) -> None:
    (audio,) = (folder / "audio").glob("*.wav")
    (facts,) = folder.glob("*.json")
    whole = audio.read_bytes()
    if damage == "truncated":
        audio.write_bytes(whole[:-2000])
    elif damage == "flipped":
        audio.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    elif damage == "empty":
        audio.write_bytes(b"")
    elif damage == "not-json":
        facts.write_bytes(b"{")
    elif damage == "no-audio":
        audio.unlink()
    else:
        facts.write_text(json.dumps({"sha256": json.loads(facts.read_text())["sha256"], "facts": {"rate": 1}}))


async def test_a_cache_that_cannot_be_written_costs_no_trial(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with speech_server([wav()]) as server:
        samples = await caller_audio(asked_of(server), cache_dir=blocked / "speech")
    assert np.array_equal(samples, tone())


async def test_no_half_written_file_stays_in_the_cache(tmp_path: Path) -> None:
    with speech_server([wav()]) as server:
        await asyncio.gather(*(caller_audio(asked_of(server, text=f"Line {n}."), cache_dir=tmp_path) for n in range(5)))
    names = [path.name for path in files_in(tmp_path)]
    assert not [name for name in names if name.startswith(".")]
    assert len(names) == 5 + 1  # the same sound five times is kept once


HEADER_ONLY = wav_bytes(np.zeros(0, np.int16))


@pytest.mark.case("A13")
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"", "caller audio 0 ms (minimum 100 ms)"),
        (HEADER_ONLY, "caller audio 0 ms (minimum 100 ms)"),
        (wav_bytes(tone(ms=60)), "caller audio 60 ms (minimum 100 ms)"),
        (wav_bytes(tone(ms=99.9)), "caller audio 99 ms (minimum 100 ms)"),
    ],
)
async def test_audio_under_100_ms_is_refused_and_made_again_next_time(
    answer: bytes, message: str, tmp_path: Path
) -> None:
    """A13, the speech side: empty, header only and too short; nothing of it is kept."""
    with speech_server([Answer(answer), wav(ms=100)]) as server:
        with pytest.raises(CallerAudioError) as caught:
            await caller_audio(asked_of(server), cache_dir=tmp_path)
        assert not files_in(tmp_path)
        samples = await caller_audio(asked_of(server), cache_dir=tmp_path)
    assert str(caught.value) == message
    assert len(samples) == 2400


@pytest.mark.case("C01")
@pytest.mark.parametrize("declared", [0xFFFFFFFF, 0, 2_000_000_000])
async def test_a_header_that_does_not_know_its_length_is_one_second_all_the_same(declared: int, tmp_path: Path) -> None:
    """C01, the speech side: the copy that is kept has a correct header."""
    body = wav_bytes(tone(ms=1000))
    streamed = body[:4] + struct.pack("<I", declared) + body[8:40] + struct.pack("<I", declared) + body[44:]
    with speech_server([Answer(streamed)]) as server:
        spoken = await speak(asked_of(server), cache_dir=tmp_path)
    assert spoken.duration_ms == 1000
    assert np.array_equal(spoken.samples, tone(ms=1000))
    (kept,) = (path for path in files_in(tmp_path) if path.suffix == ".wav")
    assert kept.read_bytes() == body
    assert struct.unpack_from("<I", body, 40)[0] == 48_000
    assert struct.unpack_from("<I", body, 4)[0] == 48_036


@pytest.mark.case("C07")
async def test_another_rate_and_two_channels_play_at_the_right_speed(tmp_path: Path) -> None:
    """C07, the speech side: 44.1 kHz stereo is down-mixed and resampled; the declared facts are kept."""
    left, right = tone(ms=2000, rate_hz=44_100), tone(ms=2000, hz=880, rate_hz=44_100)
    stereo = Answer(wav_bytes(np.stack([left, right], axis=1), rate_hz=44_100))
    with speech_server([stereo]) as server:
        spoken = await speak(asked_of(server), cache_dir=tmp_path)
        kept = await speak(asked_of(server), cache_dir=tmp_path)
    assert len(spoken.samples) == 48_000
    spectrum = np.abs(np.fft.rfft(spoken.samples)) / 24_000
    level = 0.4 * 32_767 / 2
    assert spectrum[880] == pytest.approx(level, rel=0.02)  # bins of half a hertz
    assert spectrum[1760] == pytest.approx(level, rel=0.02)
    for one in (spoken, kept):
        assert (one.declared_rate_hz, one.channels) == (44_100, 2)


@pytest.mark.case("C07")
async def test_a_wrong_label_is_shown_and_can_be_corrected(tmp_path: Path) -> None:
    """C07, the speech side: 24 kHz data that is labelled as 16 kHz."""
    mislabelled = Answer(wav_bytes(tone(ms=1000), rate_hz=16_000))
    with speech_server([mislabelled]) as server:
        believed = await speak(asked_of(server), cache_dir=tmp_path)
        corrected = await speak(asked_of(server, rate_hz=24_000), cache_dir=tmp_path)
    assert (believed.declared_rate_hz, believed.duration_ms) == (16_000, 1500)
    assert (corrected.declared_rate_hz, corrected.duration_ms) == (16_000, 1000)
    assert peak_hz(corrected.samples) == pytest.approx(440, abs=2)


async def test_raw_pcm_is_read_when_it_was_asked_for(tmp_path: Path) -> None:
    with speech_server([Answer(tone().tobytes() + b"\x01", headers={"Content-Type": "audio/pcm"})]) as server:
        samples = await caller_audio(asked_of(server, response_format="pcm"), cache_dir=tmp_path)
        assert server.asked[0]["json"]["response_format"] == "pcm"
    assert np.array_equal(samples, tone())


async def test_raw_pcm_that_came_instead_of_wav_is_read_at_the_rate_of_its_content_type(tmp_path: Path) -> None:
    pcm = Answer(tone(rate_hz=16_000).tobytes(), headers={"Content-Type": "audio/pcm; rate=16000"})
    with speech_server([pcm]) as server:
        spoken = await speak(asked_of(server), cache_dir=tmp_path)
    assert (spoken.duration_ms, spoken.declared_rate_hz) == (500, 16_000)
    assert peak_hz(spoken.samples) == pytest.approx(440, abs=2)


async def test_a_wav_that_came_instead_of_pcm_is_read_as_wav(tmp_path: Path) -> None:
    with speech_server([wav()]) as server:
        samples = await caller_audio(asked_of(server, response_format="pcm"), cache_dir=tmp_path)
    assert np.array_equal(samples, tone())


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (Answer(b'{"status":"queued"}', headers={"Content-Type": "audio/wav"}), 'starts with \'{"status":"queued"}\''),
        (Answer("<html>Fehler: ungültig".encode(), headers={"Content-Type": "audio/pcm"}), "starts with '<html>"),
        (Answer(f"key {KEY} unknown".encode()), "starts with 'key [key] unknown'"),
        (Answer(b"\x00\x01\x02" * 2000), "did not answer with audio"),
        (Answer(b"RIFF\x00\x00\x00\x00WAVEjunk"), "cannot be read"),
        (Answer(b"ID3" + b"\x00" * 50), "cannot be read"),
        (Answer(wav_bytes(tone(), rate_hz=1)), "caller audio 12000 s at 1 Hz (maximum 600 s)"),
    ],
)
async def test_what_is_not_audio_is_told_as_it_is(answer: Answer, part: str, tmp_path: Path) -> None:
    with speech_server([answer]) as server, pytest.raises(CallerAudioError) as caught:
        await caller_audio(asked_of(server), cache_dir=tmp_path)
    assert part in str(caught.value)
    assert len(server.asked) == 1
    assert not files_in(tmp_path)


async def test_empty_words_are_not_sent_anywhere(tmp_path: Path) -> None:
    with speech_server([wav()]) as server, pytest.raises(CallerAudioError, match="the text is empty"):
        await caller_audio(asked_of(server, text=" \n"), cache_dir=tmp_path)
    assert server.asked == []


@pytest.mark.parametrize(
    "trouble", [error_answer(500, "busy"), error_answer(429, "slow down"), Answer(wav().body, cut=True)]
)
async def test_trouble_that_passes_is_tried_again(trouble: Answer, tmp_path: Path) -> None:
    with speech_server([trouble, trouble, wav()]) as server:
        samples = await caller_audio(asked_of(server), cache_dir=tmp_path)
    assert np.array_equal(samples, tone())
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("answer", "tries", "message"),
    [
        (error_answer(503, "no voice is loaded"), 3, "answered 503: no voice is loaded"),
        (error_answer(429, "slow down"), 3, "answered 429: slow down"),
        (error_answer(429, "no money", code="insufficient_quota"), 1, "answered 429: no money"),
        (error_answer(429, "tomorrow", headers={"Retry-After": "3600"}), 1, "answered 429: tomorrow"),
        (
            error_answer(401, f"Incorrect API key provided: {KEY}."),
            1,
            "answered 401: Incorrect API key provided: [key].",
        ),
        (error_answer(404, "no model tts"), 1, "answered 404: no model tts"),
        (Answer(b"<h1>Bad\ngateway</h1>", 502, {"Content-Type": "text/html"}), 3, "answered 502: <h1>Bad gateway</h1>"),
        (Answer(b"", 400), 1, "answered 400: Bad Request"),
    ],
)
async def test_a_refusal_tells_status_and_reason(answer: Answer, tries: int, message: str, tmp_path: Path) -> None:
    with speech_server([answer]) as server, pytest.raises(SpeechError) as caught:
        await caller_audio(asked_of(server), cache_dir=tmp_path)
    assert str(caught.value) == f"speech endpoint {server.url} {message}"
    assert caught.value.status == answer.status
    assert len(server.asked) == tries


async def test_a_key_that_is_refused_fails_nobody_who_has_another(tmp_path: Path) -> None:
    hold = threading.Event()
    refusal = Answer(error_answer(401, "no").body, 401, hold=hold)
    with speech_server([refusal, wav()]) as server:
        refused = asyncio.create_task(caller_audio(asked_of(server, api_key="bad"), cache_dir=tmp_path))
        await asyncio.to_thread(server.arrived.wait, 10)
        good = await caller_audio(asked_of(server), cache_dir=tmp_path)
        hold.set()
        with pytest.raises(SpeechError, match="answered 401"):
            await refused
    assert np.array_equal(good, tone())


async def test_a_failure_is_shared_but_not_kept(tmp_path: Path) -> None:
    hold = threading.Event()
    refusal = Answer(error_answer(400, "no").body, 400, hold=hold)
    with speech_server([refusal, wav()]) as server:
        waiting = [asyncio.create_task(caller_audio(asked_of(server), cache_dir=tmp_path)) for _ in range(3)]
        await asyncio.to_thread(server.arrived.wait, 10)
        hold.set()
        failed = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(one) for one in failed] == [SpeechError] * 3
        assert np.array_equal(await caller_audio(asked_of(server), cache_dir=tmp_path), tone())
    assert len(server.asked) == 2


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_never_carries_the_key_or_the_words_elsewhere(status: int, tmp_path: Path) -> None:
    with speech_server([wav()]) as elsewhere:
        target = f"{elsewhere.url}/audio/speech?token=t-1"
        with (
            speech_server([Answer(b"", status, {"Location": target})]) as server,
            pytest.raises(SpeechError) as caught,
        ):
            await caller_audio(asked_of(server), cache_dir=tmp_path)
    assert elsewhere.asked == []
    assert len(server.asked) == 1
    assert f"redirects to {elsewhere.url}/audio/speech; redirects are not followed" in str(caught.value)
    assert "t-1" not in str(caught.value)


async def test_nothing_of_the_environment_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-operator")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-operator")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-of-the-operator")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-custom\nX-Gateway: gw-of-the-operator")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with speech_server([wav()]) as server:
        await caller_audio(asked_of(server, api_key=None), cache_dir=tmp_path)
        await caller_audio(asked_of(server, text="Again."), cache_dir=tmp_path)
    sent = json.dumps([request["headers"] for request in server.asked])
    assert not [
        word for word in ("sk-of", "sk-admin", "sk-custom", "of-the-operator", "x-gateway") if word in sent.lower()
    ]
    assert [request["headers"]["authorization"] for request in server.asked] == ["Bearer none", f"Bearer {KEY}"]


async def test_an_endpoint_that_never_answers_is_given_up_on(tmp_path: Path) -> None:
    hold = threading.Event()
    with speech_server([Answer(wav_bytes(tone()), hold=hold)]) as server:
        with pytest.raises(SpeechError, match=r"gave no audio within 0\.2 s"):
            await caller_audio(asked_of(server, timeout_s=0.2), cache_dir=tmp_path)
        hold.set()


async def test_nobody_at_the_address_is_told_as_such(tmp_path: Path) -> None:
    with speech_server([wav()]) as server:
        pass
    with pytest.raises(SpeechError, match=rf"speech endpoint {server.url} cannot be reached: \S") as caught:
        await caller_audio(asked_of(server), cache_dir=tmp_path)
    assert caught.value.status is None


@pytest.mark.parametrize("endpoint", ["nonsense", "https://host/v1?key=x", "https://me:pw@host"])
@pytest.mark.parametrize("name", ["", "simulator"])
async def test_an_address_that_cannot_be_used_is_a_speech_error(endpoint: str, name: str, tmp_path: Path) -> None:
    request = SpeechRequest(text="Hello.", endpoint=endpoint, model="m", voice="v", endpoint_name=name)
    with pytest.raises(SpeechError, match="caller endpoint: "):
        await caller_audio(request, cache_dir=tmp_path)


async def test_the_key_is_in_no_repr_and_no_file(tmp_path: Path) -> None:
    with speech_server([wav()]) as server:
        request = asked_of(server)
        await caller_audio(request, cache_dir=tmp_path)
    assert KEY not in repr(request)
    for path in files_in(tmp_path):
        assert KEY.encode() not in path.read_bytes()


async def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(tmp_path: Path) -> None:
    with speech_server([wav()]) as server, pytest.raises(SpeechError) as caught:
        await caller_audio(asked_of(server, api_key=f"{KEY}\nX-Evil: 1"), cache_dir=tmp_path)
    assert KEY not in str(caught.value)
    assert server.asked == []
