"""A frozen comparison tells what the comparison's cards told: noise, percentiles, pass^k."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from runs_app.comparing.drawing import draw, noise_words
from runs_app.frozen import read_frozen
from runs_app.models import Run, Trial
from runs_app.stats.estimate import BEING_COMPUTED
from runs_app.templatetags.figures import ms
from tests.pages.comparing import Result, finished_run, key, side
from tests.pages.test_compare import as_json, words

LATENCY = "response_latency_ms"


def timed(trial: Trial) -> Result:
    """24 scenarios, the second version 5 ms later; repeats differ by 60 ms, so that this is noise."""
    place = int(key(trial).rsplit("_", 1)[1])
    late = 400 + 10.0 * place + 60 * (trial.repeat % 2) + 5 * side(trial)
    return Result("failed" if place % 4 == 0 and trial.repeat == 1 else "passed", "", {LATENCY: late})


@pytest.fixture
def run(db: None) -> Run:
    return finished_run(timed, scenarios=24, repeats=2)


def said(text: str) -> str:
    return text.replace("\u202f", " ")


def test_the_frozen_page_and_the_report_tell_what_the_cards_tell(signed_in: Client, run: Run) -> None:
    card = next(one for one in signed_in.get(f"/compare/?run={run.pk}").context["shown"].cards if one.metric == LATENCY)
    tails = [*(tail for value in card.values for tail in value.tails), *card.differences[0].tails]
    assert [said(tail.name) for tail in tails] == ["p50", "p95", "p50", "p95", "Δ p50", "Δ p95"]
    assert card.differences[0].note.endswith("Inside the noise of the baseline against itself")
    query = urlencode({"run": run.pk, "a": "Front desk@1", "b": "Front desk@2"})
    decide = words(signed_in.get(f"{reverse('decide')}?{query}"))
    report = words(signed_in.get(f"{reverse('compare-report')}?{query}"))
    for page in (decide, report):
        for tail in tails:
            assert said(f"{tail.name} {tail.text}") in page
        assert "Inside the noise of the baseline against itself: [−" in page
        assert "pass^2 .75" in page
    assert all(said(tail.more) in report for tail in tails), "what is printed has nothing to hover over"


def test_the_drawing_is_that_of_the_card(signed_in: Client, run: Run) -> None:
    card = next(one for one in signed_in.get(f"/compare/?run={run.pk}").context["shown"].cards if one.metric == LATENCY)
    frozen = read_frozen(as_json(signed_in, f"run={run.pk}"))
    assert frozen is not None
    row = next(row for row in frozen.rows if row.metric == LATENCY)
    assert row.drawing == card.differences[0].drawing


def test_what_an_older_document_lacks_is_left_out(signed_in: Client, run: Run) -> None:
    document = as_json(signed_in, f"run={run.pk}")
    for one in document["configurations"]:
        del one["tails"]
    del document["pairs"][0]["tails"]
    for metric in document["pairs"][0]["metrics"].values():
        del metric["noise"]
    frozen = read_frozen(document)
    assert frozen is not None
    assert not any(row.noise or row.note or row.a_tails or row.b_tails or row.tails for row in frozen.rows)


def test_an_interval_that_was_not_there_yet_is_not_promised(signed_in: Client, run: Run) -> None:
    document = as_json(signed_in, f"run={run.pk}")
    document["configurations"][0]["tails"]["p50"] = {"value": 500, "low": None, "high": None, "why": BEING_COMPUTED}
    frozen = read_frozen(document)
    assert frozen is not None
    row = next(row for row in frozen.rows if row.metric == LATENCY)
    assert (row.a_tails[0].text, row.a_tails[0].more) == (ms(500), "the interval was still being computed")


def test_places_on_the_axis_worked_out_by_hand() -> None:
    # the furthest end, 0.2, is 138 / 1.1 = 125.45 from the middle
    found = draw(0.1, (0.0, 0.2), (-0.05, 0.05))
    assert found is not None
    assert (found.at, found.low, found.high) == (212.7, 150.0, 275.5)
    assert (found.noise_from, found.noise_width) == (118.6, 62.7)
    assert draw(1.1, (1.0, 1.2), (0.95, 1.05), none=1.0) == found
    assert draw(None, None, None) is None
    assert noise_words(0.05, (-0.05, 0.05))
    assert not noise_words(0.06, (-0.05, 0.05))
    assert not noise_words(0.0, None)
