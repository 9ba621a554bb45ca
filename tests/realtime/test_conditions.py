"""Bad lines, sample by sample: what is asked for is what is there, and everything else stays as it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs_app.realtime.conditions import PACKET_MS, apply
from runs_app.realtime.pcm import to_float
from runs_app.realtime.record import SAMPLES_PER_MS
from runs_app.realtime.speech_edges import voiced
from scenarios_app.spec.conditions import PRESETS, Condition

PACKET = PACKET_MS * SAMPLES_PER_MS
ADDED = ("noisy", "background_speech", "echo", "realistic")


def words(milliseconds: int = 1500, level: float = 0.3) -> np.ndarray:
    """Two stretches of a voice with harmonics, silence around and between them."""
    at = np.arange(milliseconds * SAMPLES_PER_MS) / 24_000
    voice = sum(np.sin(2 * np.pi * 150 * n * at) / n for n in range(1, 20))
    spoken = (at > 0.04) & (at < at[-1] - 0.06) & ((at < 0.6) | (at > 0.75))
    return np.round(level * voice * spoken * 32_768 / np.abs(voice).max()).astype(np.int16)


def rms(samples: np.ndarray) -> float:
    return float(np.sqrt(np.mean(samples.astype(float) ** 2)))


def band_energy(samples: np.ndarray, low_hz: float, high_hz: float) -> float:
    spectrum = np.abs(np.fft.rfft(to_float(samples))) ** 2
    hz = np.fft.rfftfreq(samples.size, 1 / 24_000)
    return float(spectrum[(hz >= low_hz) & (hz < high_hz)].sum())


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(sorted(PRESETS)),
    st.lists(st.integers(-32_768, 32_767), max_size=3000),
    st.integers(0, 2**63),
)
def test_any_sound_keeps_its_length_and_its_seed_decides_everything(name: str, values: list[int], seed: int) -> None:
    samples = np.array(values, dtype=np.int16)
    made = apply(samples, PRESETS[name], seed=seed)
    again = apply(samples, PRESETS[name], seed=seed)
    assert made.samples.dtype == np.int16
    assert made.samples.size == samples.size
    assert made.samples.tolist() == again.samples.tolist()
    assert made.levels == again.levels


def test_a_clean_line_changes_no_sample() -> None:
    clean = words()
    assert apply(clean, Condition(), seed=1).samples.tolist() == clean.tolist()


@pytest.mark.parametrize("name", ["noisy", "background_speech", "packet_loss", "realistic"])
def test_another_seed_is_another_line(name: str) -> None:
    first, second = (apply(words(), PRESETS[name], seed=seed).samples for seed in (1, 2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("snr_db", [0, 10, 20])
def test_noise_lies_so_far_under_the_voice_and_that_is_recorded(snr_db: int) -> None:
    clean = words()
    made = apply(clean, Condition(noise_snr_db=snr_db), seed=3)
    speech = np.concatenate([clean[span.start : span.end] for span in voiced(clean)])
    added = made.samples.astype(int) - clean
    assert 20 * np.log10(rms(speech) / rms(added)) == pytest.approx(snr_db, abs=0.05)
    assert made.levels["noise_rms"] == pytest.approx(rms(added), rel=0.005)
    assert made.levels["speech_rms"] == pytest.approx(rms(speech), rel=0.001)


def test_background_speech_is_as_loud_as_asked_and_is_no_copy_of_the_words() -> None:
    clean = words()
    made = apply(clean, Condition(background_speech_gain=0.65), seed=3)
    added = made.samples.astype(int) - clean
    assert rms(added) == pytest.approx(0.65 * made.levels["speech_rms"], rel=0.01)
    assert abs(np.corrcoef(added, clean)[0, 1]) < 0.3


def test_an_echo_repeats_the_words_after_its_delay_ever_quieter() -> None:
    click = np.zeros(24_000, dtype=np.int16)
    click[0] = 20_000
    made = apply(click, Condition(echo_decay=0.5, echo_delay_ms=100), seed=0).samples
    assert made[: 4 * 2400 : 2400].tolist() == [20_000, 10_000, 5_000, 2_500]
    assert np.count_nonzero(made) == 10  # until it is under a thousandth


def test_a_telephone_carries_its_band_and_nothing_else() -> None:
    at = np.arange(24_000) / 24_000
    tones = sum(0.2 * np.sin(2 * np.pi * hz * at) for hz in (100, 1000, 3000, 6000))
    sound = (tones * 32_768).astype(np.int16)
    made = apply(sound, Condition(telephony=True), seed=0).samples
    for hz, kept in ((1000, True), (3000, True), (100, False), (6000, False)):
        share_db = 10 * np.log10(band_energy(made, hz - 5, hz + 5) / band_energy(sound, hz - 5, hz + 5))
        assert (abs(share_db) < 0.5) if kept else (share_db < -30), (hz, share_db)


def test_a_telephone_moves_nothing_in_time() -> None:
    clean = words()
    made = apply(clean, Condition(telephony=True), seed=0).samples
    likeness = np.fft.irfft(np.fft.rfft(made.astype(float)) * np.fft.rfft(clean.astype(float)).conj())
    assert int(likeness.argmax()) == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 120), st.floats(0.01, 0.5), st.integers(1, 6), st.integers(0, 479), st.integers(0, 2**32))
def test_exactly_the_share_of_packets_is_lost_in_bursts_and_the_rest_is_untouched(
    packets: int, share: float, burst: int, missing: int, seed: int
) -> None:
    sound = np.full(packets * PACKET - missing, 1000, dtype=np.int16)
    made = apply(sound, Condition(packet_loss=share, packet_burst=burst), seed=seed)
    lost = [not made.samples[place : place + PACKET].any() for place in range(0, sound.size, PACKET)]
    assert sum(lost) == round(share * packets) == made.levels["packets_lost"]
    kept = np.repeat(~np.array(lost), PACKET)[: sound.size]
    assert (made.samples[kept] == 1000).all()
    runs = "".join("x" if gone else " " for gone in lost).split()
    assert sorted((len(run) for run in runs), reverse=True)[: sum(lost) // burst] == [burst] * (sum(lost) // burst)


@pytest.mark.case("C09")
@pytest.mark.parametrize("name", ADDED)
def test_what_goes_beyond_full_scale_stays_there_and_is_counted(name: str) -> None:
    """C09: a full-scale square wave on a bad line never changes its sign."""
    square = np.where((np.arange(24_000) // 2_400) % 2 == 0, 32_767, -32_768).astype(np.int16)
    condition = PRESETS[name].model_copy(update={"packet_loss": None, "telephony": False})
    made = apply(square, condition, seed=5)
    assert made.levels["clipped"] > 0
    exact = apply((square // 4).astype(np.int16), condition, seed=5).samples.astype(int) * 4
    loud = np.abs(exact) > 33_000
    assert loud.any()
    assert (np.sign(made.samples[loud].astype(int)) == np.sign(exact[loud])).all()


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_where_the_caller_speaks_is_where_the_clean_words_do(name: str) -> None:
    clean = words()
    voice = apply(clean, PRESETS[name], seed=1).voice
    assert voice == tuple(voiced(clean))
    assert voice[0].start == pytest.approx(40 * SAMPLES_PER_MS, abs=48)
    assert voice[-1].end == pytest.approx(1440 * SAMPLES_PER_MS, abs=48)


def test_silence_gets_no_noise_because_there_is_no_voice_to_set_it_against() -> None:
    made = apply(np.zeros(4_800, dtype=np.int16), PRESETS["realistic"], seed=1)
    assert made.voice == ()
    assert not made.samples.any()
