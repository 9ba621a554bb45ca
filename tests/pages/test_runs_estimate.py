"""How long a run is said to take."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from runs_app.estimate import AROUND_S, WORDS_PER_S, estimate, expected_s
from runs_app.models import Run
from runs_app.services.snapshots import newest_of
from runs_app.templatetags.live_words import minutes_words
from tests.pages.playing import play
from tests.runs.builders import make_configuration, make_run, make_suite

SCENARIO = {"input": {"text": "one two three four five"}, "expected": {"answer": "six seven eight nine ten"}}
SPOKEN = AROUND_S + 10 / WORDS_PER_S


@pytest.mark.parametrize(
    ("configuration", "asked", "seconds"),
    [
        ({"mode": "audio"}, {}, SPOKEN),
        ({"mode": "text"}, {}, AROUND_S),
        ({}, {}, AROUND_S),
        ({"mode": "text"}, {"mode": "audio"}, SPOKEN),
        ({"mode": "audio", "audio": {"real_time": False}}, {}, AROUND_S),
        ({"mode": "audio", "audio": {"real_time": False}}, {"real_time": True}, SPOKEN),
        ({"mode": "audio"}, {"real_time": False}, AROUND_S),
    ],
)
def test_words_take_time_only_when_they_are_spoken_at_the_pace_of_a_call(configuration, asked, seconds):
    assert expected_s(SCENARIO, configuration, **asked) == pytest.approx(seconds)


def test_the_scenario_may_ask_for_audio_itself():
    assert expected_s({**SCENARIO, "mode": "audio"}, {"mode": "text"}) == pytest.approx(SPOKEN)


@pytest.mark.django_db
def test_trials_at_once_share_the_time_but_none_is_shorter_than_itself():
    scenarios, agent = newest_of(make_suite(4)), make_configuration()
    one = estimate(scenarios, [agent], repeats=3, concurrency=1)
    assert (one.trials, one.seconds) == (12, pytest.approx(12 * AROUND_S))
    assert estimate(scenarios, [agent], repeats=3, concurrency=4).seconds == pytest.approx(3 * AROUND_S)
    assert estimate(scenarios[:1], [agent], repeats=1, concurrency=8).seconds == pytest.approx(AROUND_S)
    assert estimate([], [agent], repeats=3, concurrency=4).trials == 0


@pytest.mark.django_db
def test_earlier_trials_that_went_the_same_way_are_believed():
    agent = make_configuration()
    run = make_run(2, configurations=[agent], mode="text")
    play(run, ["passed", "invalid"])
    began = timezone.now()
    run.trials.update(started_at=began, recorded_at=began + timedelta(seconds=40))
    scenarios = newest_of(Run.objects.get().suite)

    told = estimate(scenarios, [agent], repeats=1, concurrency=1, mode="text")
    assert told.seconds == pytest.approx(40 + AROUND_S), "an invalid trial says nothing about the next"
    assert told.source == "from earlier trials and the words to be spoken"
    other = estimate(scenarios, [agent], repeats=1, concurrency=1, mode="audio")
    assert other.known == 0
    assert other.source == "from the words to be spoken"
    assert estimate(scenarios[:1], [agent], repeats=1, concurrency=1, mode="text").source.startswith("from earlier")


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(None, ""), (0.3, "under a minute"), (0.97, "about 1 min"), (12.4, "about 12 min"), (75, "about 1 h 15 min")],
)
def test_minutes_read_as_people_say_them(minutes, words):
    assert minutes_words(minutes) == words
