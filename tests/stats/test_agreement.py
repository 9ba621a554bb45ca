"""Agreement of two judges against numbers worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.stats.agreement import agreement


def test_cohens_own_kind_of_example() -> None:
    """20 both yes, 5 and 10 apart, 15 both no: observed .70, by chance .50, kappa .40."""
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    found = agreement(pairs)
    assert (found.n, found.agreed, found.share) == (50, 35, 0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.counts["n", "y"] == 10


def test_no_pairs_and_one_word_alone_tell_nothing() -> None:
    assert agreement([]).share is None
    one_word = agreement([("y", "y")] * 9)
    assert (one_word.share, one_word.kappa) == (1.0, None)


def test_full_disagreement_is_minus_one() -> None:
    assert agreement([("y", "n"), ("n", "y")]).kappa == -1.0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=40))
def test_kappa_lies_within_bounds_and_is_one_only_without_a_difference(pairs: list[tuple[str, str]]) -> None:
    found = agreement(pairs)
    if found.kappa is not None:
        assert -1 <= found.kappa <= 1
        assert (found.kappa == 1) == (found.agreed == found.n)
