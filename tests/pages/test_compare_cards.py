"""What a card of the comparison says of how much so few scenarios can tell."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client

from runs_app.models import Trial
from tests.pages.comparing import Result, finished_run, key, side

pytestmark = pytest.mark.django_db


def cards(client: Client, run: int) -> dict[str, str]:
    """Name -> what the card says."""
    page = client.get(f"/compare/?run={run}").content.decode()
    found = re.findall(r'<section class="panel card" aria-label="([^"]*)">(.*?)</section>', page, re.DOTALL)
    return {name: " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split()) for name, text in found}


def place(trial: Trial) -> int:
    return int(key(trial).rpartition("_")[2])


def near_the_top(trial: Trial) -> Result:
    """Each side fails one repeat of a scenario of its own; quality varies a little."""
    lost = trial.repeat == 1 and place(trial) == side(trial)
    numbers = {"semantic_quality": 0.5 + 0.02 * place(trial) * side(trial), "tool_accuracy": 0.5 if lost else 1.0}
    return Result("failed" if lost else "passed", "", numbers)


@pytest.mark.parametrize(("scenarios", "note"), [(11, "11 scenarios are too few"), (12, "")])
def test_near_the_top_a_few_scenarios_get_no_interval_and_the_card_says_how_many_would(
    signed_in: Client, scenarios: int, note: str
) -> None:
    run = finished_run(near_the_top, scenarios=scenarios, repeats=2)
    found = cards(signed_in, run.pk)
    quality = found["semantic_quality"]
    for one in (found["pass rate"], found["tool_accuracy"]):
        assert ("[" not in one) is bool(note)
        assert ("are too few for an interval: 12 would have one." in one and note in one) is bool(note)
    assert "[" in quality
    assert "too few" not in quality


def test_with_one_repeat_the_card_asks_for_forty(signed_in: Client) -> None:
    found = cards(signed_in, finished_run(near_the_top, scenarios=13, repeats=1).pk)
    assert "13 scenarios are too few for an interval with one repeat: 40 would have one." in found["pass rate"]


def test_no_card_would_see_a_difference_that_no_share_can_have(signed_in: Client) -> None:
    """Three scenarios whose pass rates differ by 1, 0 and -1: only one above 100 % could be seen. Quality differs by
    hundredths: (4.303 + 1.061) x .01 / sqrt(3) is seen."""

    def torn(trial: Trial) -> Result:
        lost = place(trial) == side(trial)
        quality = 0.5 + 0.01 * place(trial) * (side(trial) == 2)
        return Result("failed" if lost else "passed", "", {"semantic_quality": quality})

    found = cards(signed_in, finished_run(torn, scenarios=3, repeats=2).pk)
    rate, quality = found["pass rate"], found["semantic_quality"]
    assert "Can't tell" in rate
    assert "would see" not in rate
    assert "would see" in quality


def unequal(trial: Trial) -> Result:
    """A: passed, passed, failed and passed, passed, invalid; B: passed three times, then once. B takes 100 ms more."""
    outcomes = {("case_1", 1): "ppf", ("case_2", 1): "ppi", ("case_1", 2): "ppp", ("case_2", 2): "pff"}
    letter = outcomes[key(trial), side(trial)][trial.repeat - 1]
    outcome = {"p": "passed", "f": "failed", "i": "invalid"}[letter]
    return Result(outcome, "connect" if letter == "i" else "", {"response_latency_ms": 200.0 + 100 * side(trial)})


def test_only_the_same_number_of_repeats_is_told_beside_each_other(signed_in: Client) -> None:
    """pass^2 of A: (1/3 + 1) / 2; of B, which could tell pass^3 too: (1 + 0) / 2."""
    run = finished_run(unequal, scenarios=2, repeats=3)
    found = cards(signed_in, run.pk)
    assert "pass^2 .67" in found["pass rate"]
    assert "pass^2 .50" in found["pass rate"]
    assert "pass^3" not in found["pass rate"]
    assert "Δ pass^2 −.17" in found["pass rate"]


def test_percentiles_have_their_difference_on_the_card_and_why_it_has_no_interval(signed_in: Client) -> None:
    run = finished_run(unequal, scenarios=2, repeats=3)
    page = signed_in.get(f"/compare/?run={run.pk}").content.decode()
    assert "Δ\u202fp50 +100 ms" in page
    assert "Δ\u202fp95 +100 ms" in page
    why = "difference of p95 over the paired scenarios, which decides nothing; too few scenarios for an interval"
    assert f'title="{why}; under 59 values' in page
