"""The ear's figures: every condition on every sentence of pairs that differ in one word, and what it must not know."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import soxr
from scipy import signal

from runs_app.simulator.ear import THRESHOLD, Ear
from runs_app.simulator.voices import AGENT, CALLER, RATE_HZ, VOICES, Voices

Sound = npt.NDArray[np.float64]

PAIRS = (
    (
        "Book a table for Maya on August 6 at 7 p.m. for two.",
        "Book a table for Maya on August 7 at 7 p.m. for two.",
    ),
    ("I need a table for three tomorrow evening.", "I need a table for four tomorrow evening."),
    ("Please cancel reservation R-100.", "Please cancel reservation R-200."),
    ("Can you book it for Leo at six?", "Can you book it for Nora at six?"),
    ("Is there a table at half past six on May 14?", "Is there a table at half past five on May 14?"),
    ("My phone number is 555-0134.", "My phone number is 555-0139."),
    ("Do you have parking?", "Do you have a garden?"),
    ("I would like to move it to Saturday.", "I would like to move it to Sunday."),
    (
        "Book a table for two on August 7, sorry, August 6.",
        "Book a table for two on August 6, sorry, August 7.",
    ),
    ("We are five people.", "We are nine people."),
    ("Cancel my booking, please.", "Change my booking, please."),
    ("Do you serve vegan food?", "Do you serve vegetarian food?"),
    ("My name is Anna, A N N A.", "My name is Hanna, H A N N A."),
    ("The order number is 4471.", "The order number is 4417."),
    ("At what time do you open on Monday?", "At what time do you close on Monday?"),
    ("Yes, that is right.", "No, that is not right."),
)
SENTENCES = tuple(sentence for pair in PAIRS for sentence in pair)
STRANGE = (
    "What is the weather like in Lisbon this weekend?",
    "I lost my suitcase at the airport.",
    "Could you read me the news?",
    "Good evening.",
    "My printer does not work any more, it only blinks.",
    "The train to the city leaves from platform nine in about twenty minutes.",
    "Could you tell me whether my insurance covers a broken window at home?",
    "Thank you very much, goodbye.",
)


def u_law(sound: Sound) -> Sound:
    """There and back through 8-bit companding."""
    level = np.clip(sound / 32768, -1, 1)
    coded = np.round(np.sign(level) * np.log1p(255 * np.abs(level)) / np.log1p(255) * 127) / 127
    return np.sign(coded) * (256.0 ** np.abs(coded) - 1) / 255 * 32768


def telephone(sound: Sound) -> Sound:
    narrow = soxr.resample(sound, RATE_HZ, 8_000)
    band = signal.butter(4, [300, 3_400], "bandpass", fs=8_000, output="sos")
    return soxr.resample(u_law(signal.sosfilt(band, narrow)), 8_000, RATE_HZ)


def noise(sound: Sound, snr_db: float = 0.0) -> Sound:
    rng = np.random.default_rng(5)
    power = np.mean(sound[sound != 0] ** 2) / 10 ** (snr_db / 10)
    return sound + rng.normal(0, np.sqrt(power), len(sound))


def loss(sound: Sound) -> Sound:
    """One 20 ms packet in twenty is silence."""
    rng = np.random.default_rng(3)
    packets = sound[: len(sound) // 480 * 480].reshape(-1, 480).copy()
    packets[rng.permutation(len(packets))[: max(1, len(packets) // 20)]] = 0
    return packets.reshape(-1)


def padded(sound: Sound) -> Sound:
    return np.pad(sound, (RATE_HZ * 1137 // 1000, RATE_HZ * 2))


def resampled(sound: Sound) -> Sound:
    return soxr.resample(soxr.resample(sound, RATE_HZ, 16_000), 16_000, RATE_HZ)


# name: (what happens to the sound, the least score, the least lead over the next phrase)
CONDITIONS: dict[str, tuple[Callable[[Sound], Sound], float, float]] = {
    "clean": (lambda sound: sound, 0.99, 0.15),
    "very quiet": (lambda sound: sound / 40, 0.99, 0.15),
    "telephone with u-law": (telephone, 0.9, 0.15),
    "white noise as loud as the speech": (noise, 0.70, 0.12),
    "5 % of the packets lost": (loss, 0.85, 0.12),
    "silence before and after": (padded, 0.85, 0.15),
    "silence before and after, under noise": (lambda sound: noise(padded(sound)), 0.66, 0.1),
    "the first 133 ms missing": (lambda sound: sound[3_211:], 0.70, 0.12),
    "the first 200 ms missing": (lambda sound: sound[4_800:], 0.70, 0.12),
    "the last 200 ms missing": (lambda sound: sound[:-4_800], 0.70, 0.12),
    "resampled to 16 kHz and back": (resampled, 0.99, 0.15),
    "telephone, noise and loss together": (lambda sound: loss(noise(telephone(sound), 5)), 0.70, 0.1),
}


def as_samples(sound: Sound) -> npt.NDArray[np.int16]:
    return np.clip(np.round(sound), -32768, 32767).astype(np.int16)


@pytest.fixture(scope="module")
def spoken() -> dict[tuple[str, str], npt.NDArray[np.int16]]:
    voices = Voices()
    return {(text, voice): voices.say(text, voice) for text in (*SENTENCES, *STRANGE) for voice in VOICES}


@pytest.fixture(scope="module")
def ear(spoken: dict[tuple[str, str], npt.NDArray[np.int16]]) -> Ear:
    """Knows both voices, as the real one does."""
    ear = Ear()
    for (text, _), samples in spoken.items():
        if text in SENTENCES:
            ear.remember(text, samples)
    return ear


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("voice", VOICES)
def test_every_sentence_is_told_from_its_twin(ear, spoken, condition: str, voice: str) -> None:
    distort, least_score, least_lead = CONDITIONS[condition]
    heard = {text: ear.hear(as_samples(distort(spoken[text, voice].astype(float)))) for text in SENTENCES}
    assert {text: each.text for text, each in heard.items()} == {text: text for text in SENTENCES}
    scores = [each.score for each in heard.values()]
    leads = [each.score - each.runner_up for each in heard.values()]
    assert min(scores) >= least_score > 0.65
    assert min(leads) >= least_lead


@pytest.mark.parametrize("condition", ["clean", "telephone with u-law", "white noise as loud as the speech"])
def test_what_was_never_said_to_it_is_not_caught(ear, spoken, condition: str) -> None:
    distort = CONDITIONS[condition][0]
    for text in STRANGE:
        for voice in VOICES:
            heard = ear.hear(as_samples(distort(spoken[text, voice].astype(float))))
            assert heard.text is None, (text, voice, heard)
            assert heard.score < 0.42
    assert THRESHOLD - 0.42 >= 0.05


def test_one_voice_does_not_pass_for_the_other(spoken) -> None:
    only_caller = Ear()
    for text in SENTENCES:
        only_caller.remember(text, spoken[text, CALLER])
    assert all(only_caller.hear(spoken[text, AGENT]).text is None for text in SENTENCES)


def test_noise_alone_says_nothing(ear) -> None:
    rng = np.random.default_rng(1)
    heard = ear.hear(rng.normal(0, 3_000, RATE_HZ * 3).astype(np.int16))
    assert heard.text is None
    assert heard.score < 0.25
