"""Bytes of the agent's audio to samples, however a server cuts and codes them; and the caller's words to bytes."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from runs_app.realtime.dialects.base import Place
from runs_app.realtime.formats import PCM, AudioFormat, format_of, wire_speech
from runs_app.realtime.pcm import Int16, from_bytes, to_bytes
from runs_app.realtime.sound import SoundDecoder
from tests.realtime.support import tone

HERE = Place("resp_1", 0, "item_1", 0)
CUTS = st.lists(st.integers(0, 400), max_size=20)
LAWS = {"g711_ulaw": "ULAW", "g711_alaw": "ALAW"}


def decoded(data: bytes, form: AudioFormat, cuts: list[int]) -> tuple[Int16, int]:
    sound = SoundDecoder()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [sound.decode(HERE, data[start:end], form).samples for start, end in pairwise(edges)]
    tails, dangling = sound.finish("resp_1")
    return np.concatenate((*pieces, *tails.values())), dangling


@pytest.mark.quirk(21)
@given(data=st.binary(max_size=400), cuts=CUTS)
def test_pcm_cut_anywhere_loses_no_sample(data: bytes, cuts: list[int]) -> None:
    samples, dangling = decoded(data, PCM, cuts)
    assert samples.tolist() == from_bytes(data).tolist()
    assert dangling == len(data) % 2


@pytest.mark.behaviour(16, 21)
@given(data=st.binary(max_size=400), cuts=CUTS, law=st.sampled_from(sorted(LAWS)))
def test_g711_cut_anywhere_is_three_samples_a_byte(data: bytes, cuts: list[int], law: str) -> None:
    """8 bytes are a millisecond, in the recording as on the line."""
    samples, dangling = decoded(data, format_of(law), cuts)
    assert (samples.size, dangling) == (3 * len(data), 0)
    assert np.array_equal(samples, decoded(data, format_of(law), [])[0])


@given(data=st.binary(max_size=400), cuts=CUTS)
def test_pcm_at_another_rate_keeps_its_duration(data: bytes, cuts: list[int]) -> None:
    samples, dangling = decoded(data, AudioFormat("pcm16", 16_000), cuts)
    assert samples.size == (len(data) // 2 * 3 + 1) // 2
    assert dangling == len(data) % 2


def test_two_streams_do_not_lend_each_other_bytes() -> None:
    sound, other = SoundDecoder(), Place("resp_1", 0, "item_1", 1)
    assert sound.decode(HERE, b"\x01").samples.size == 0
    assert sound.decode(other, b"\x02\x00").samples.tolist() == [2]
    assert sound.decode(HERE, b"\x00").samples.tolist() == [1]


def test_the_end_of_one_response_leaves_the_sound_of_another_alone() -> None:
    sound, other = SoundDecoder(), Place("resp_2", 0, "item_2", 0)
    for place in (HERE, other):
        sound.decode(place, b"\x01\x00\x02")
    assert sound.finish("resp_1").dangling == 1
    assert sound.decode(other, b"\x00").samples.tolist() == [2]


@pytest.mark.parametrize("law", sorted(LAWS))
def test_the_callers_words_are_what_libsndfile_reads_back(law: str) -> None:
    words = tone(250, hz=440)
    speech = wire_speech(words, format_of(law))
    assert len(speech.data) == 250 * 8
    read, _ = soundfile.read(
        io.BytesIO(speech.data), channels=1, samplerate=8000, format="RAW", subtype=LAWS[law], dtype="int16"
    )
    error = read.astype(float) - words[::3]
    assert np.abs(error[20:-20]).max() < 6000 * 0.04  # half a step of G.711 at this level


@given(size=st.integers(1, 5000), chunk=st.integers(1, 3000), coding=st.sampled_from(("pcm16", *sorted(LAWS))))
def test_chunks_of_any_length_are_the_same_bytes(size: int, chunk: int, coding: str) -> None:
    speech = wire_speech((np.arange(size) % 3000).astype(np.int16), format_of(coding))
    cuts = [*range(0, size, chunk), size]
    assert b"".join(speech.piece(*edges) for edges in pairwise(cuts)) == speech.data


def test_pcm_at_our_rate_is_sent_sample_by_sample() -> None:
    words = tone(100)
    assert wire_speech(words, PCM).data == to_bytes(words)


def test_what_a_telephone_line_cannot_carry_is_taken_out_before_it_is_sent() -> None:
    """A tone of 6 kHz would come back as one of 2 kHz."""
    speech = wire_speech(tone(500, hz=6000), format_of("g711_ulaw"))
    read, _ = soundfile.read(
        io.BytesIO(speech.data), channels=1, samplerate=8000, format="RAW", subtype="ULAW", dtype="int16"
    )
    assert np.abs(read[100:-100]).max() < 20
