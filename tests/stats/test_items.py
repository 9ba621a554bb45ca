"""What scenarios are good for, on counts whose answer is plain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.stats.items import Candidate, Counts, item, smoke_subset


@pytest.mark.parametrize(
    ("counts", "tag"),
    [
        ({}, "no verdict"),
        ({"a": Counts(0, 0)}, "no verdict"),
        ({"a": Counts(3, 3), "b": Counts(5, 5)}, "always passes"),
        ({"a": Counts(0, 3), "b": Counts(0, 1)}, "always fails"),
        ({"a": Counts(2, 3)}, "flaky"),
        ({"a": Counts(3, 5), "b": Counts(4, 5)}, "flaky"),
        ({"a": Counts(5, 5), "b": Counts(0, 5)}, "discriminating"),
        ({"a": Counts(1, 1), "b": Counts(0, 1)}, "too few to tell"),
    ],
)
def test_a_scenario_is_tagged_by_its_counts(counts: dict[str, Counts], tag: str) -> None:
    assert item("case", counts).tag == tag


def test_how_sure_it_is_agrees_with_the_table_of_the_reference() -> None:
    """5/5 against 3/5 is .95, 5/5 against 4/5 is .84, 3/3 against 2/3 is .85 (Jeffreys)."""
    for a, b, sure in ((Counts(5, 5), Counts(3, 5), 0.95), (Counts(5, 5), Counts(4, 5), 0.84)):
        assert item("case", {"a": a, "b": b}).sure == pytest.approx(sure, abs=0.006)
    assert item("case", {"a": Counts(2, 3), "b": Counts(3, 3)}).sure == pytest.approx(0.85, abs=0.006)
    assert item("case", {"a": Counts(3, 3)}).sure is None


def test_of_many_configurations_that_are_alike_two_seldom_look_different() -> None:
    """Ten that pass every other time: without a word for the 45 pairs, 8 of 10 such scenarios look discriminating."""
    coins = np.random.default_rng(7).binomial(5, 0.5, size=(200, 10))
    tags = [item("case", {f"c{n}": Counts(int(one), 5) for n, one in enumerate(row)}).tag for row in coins]
    assert tags.count("discriminating") <= 20
    clear = {f"c{n}": Counts(5 if n else 0, 5) for n in range(10)}
    assert item("case", clear).tag == "discriminating"


def split(name: str, seconds: float = 10, **passes: int) -> Candidate:
    """So many passes of 5 under each configuration."""
    return Candidate(name, {key: Counts(passed, 5) for key, passed in passes.items()}, seconds)


def names(candidates: list[Candidate], seconds: float) -> list[str]:
    return [pick.scenario_id for pick in smoke_subset(candidates, seconds=seconds)]


def test_what_tells_configurations_apart_comes_before_what_always_passes() -> None:
    assert names([split("easy", a=5, b=5), split("telling", a=5, b=0)], 100) == ["telling", "easy"]


def test_of_two_that_tell_the_same_the_shorter_comes_first_and_the_budget_is_kept() -> None:
    candidates = [split("long", 60, a=5, b=0), split("short", 20, a=5, b=0)]
    assert names(candidates, 70) == ["short"]
    assert names(candidates, 80) == ["short", "long"]
    assert names(candidates, 10) == []


def test_a_pair_that_is_told_apart_already_is_worth_less_than_another_pair() -> None:
    candidates = [split("b", a=5, b=0, c=5), split("b_again", a=5, b=0, c=5), split("c", a=5, b=5, c=0)]
    assert names(candidates, 20) == ["b", "c"]


def test_the_first_gain_is_by_hand() -> None:
    """Jeffreys 5.5/6 and 0.5/6: the coefficient is 2 sqrt(5.5 x 0.5) / 6 = 0.5528, so the gain is 0.4472."""
    [pick] = smoke_subset([split("case", a=5, b=0)], seconds=10)
    assert pick.gain == pytest.approx(1 - 2 * math.sqrt(5.5 * 0.5) / 6)


def test_with_one_configuration_the_least_sure_comes_first() -> None:
    assert names([split("sure", a=5), split("open", a=3)], 100) == ["open", "sure"]


COUNTS = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda pair: Counts(min(pair), max(pair)))


@given(st.lists(st.tuples(st.dictionaries(st.sampled_from("abc"), COUNTS), st.floats(0.1, 100)), max_size=8))
def test_a_subset_holds_each_once_and_fits(drawn: list[tuple[dict[str, Counts], float]]) -> None:
    candidates = [Candidate(f"case_{n}", counts, seconds) for n, (counts, seconds) in enumerate(drawn)]
    picks = smoke_subset(candidates, seconds=120)
    assert sum(pick.seconds for pick in picks) <= 120 + 1e-6
    assert len({pick.scenario_id for pick in picks}) == len(picks)
    assert all(pick.gain >= 0 for pick in picks)
