from __future__ import annotations

from runs_app.realtime.percentile import nearest_rank


def test_nearest_rank_takes_a_value_that_was_measured() -> None:
    assert nearest_rank([15, 20, 35, 40, 50], 50) == 35
    assert nearest_rank([15, 20, 35, 40, 50], 100) == 50
    assert nearest_rank([15, 20, 35, 40, 50], 5) == 15
    assert nearest_rank(range(1, 101), 99) == 99


def test_nearest_rank_of_nothing_is_not_measured() -> None:
    assert nearest_rank([], 99) is None
