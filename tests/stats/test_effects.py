"""What a factor does by itself, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs_app.stats.effects import Change, Effect, factor_effects

LEVELS = {"a": ("p1", "m1"), "b": ("p2", "m1"), "c": ("p1", "m2"), "d": ("p2", "m2")}
# p2 adds .1 alone, m2 adds .2 alone, both together .6: .3 more than the sum
VALUES = {
    "a": {"x": 0.1, "y": 0.3},
    "b": {"x": 0.2, "y": 0.4},
    "c": {"x": 0.3, "y": 0.5},
    "d": {"x": 0.7, "y": 0.9},
}


def named(effects: list[Effect]) -> dict[str, Effect]:
    return {"+".join(change.after for change in effect.changes): effect for effect in effects}


def test_a_full_square_gives_both_main_effects_and_the_interaction() -> None:
    found = named(factor_effects(VALUES, LEVELS, "a"))
    assert list(found) == ["p2", "m2", "p2+m2"]
    # p2: .1 at m1 and .4 at m2, their mean .25; m2: .2 and .5, .35
    assert found["p2"].value == pytest.approx(0.25)
    assert found["m2"].value == pytest.approx(0.35)
    assert found["p2+m2"].value == pytest.approx(0.3)
    assert [effect.contrasts for effect in found.values()] == [2, 2, 1]
    assert all(effect.scenarios == 2 for effect in found.values())


def test_the_interval_is_that_of_t_over_the_scenarios() -> None:
    values = {"a": {"x": 0.0, "y": 0.0, "z": 0.0}, "b": {"x": 1.0, "y": 2.0, "z": 3.0}}
    [effect] = factor_effects(values, {"a": ("p1",), "b": ("p2",)}, "a")
    assert effect.changes == (Change(0, "p1", "p2"),)
    # 2 plus or minus 4.303 x 1 / sqrt(3)
    assert (effect.value, effect.low, effect.high) == (
        2.0,
        pytest.approx(-0.484, abs=1e-3),
        pytest.approx(4.484, abs=1e-3),
    )


def test_factors_that_only_change_together_tell_nothing_of_either() -> None:
    levels = {"a": ("p1", "m1"), "d": ("p2", "m2")}
    found = named(factor_effects({key: VALUES[key] for key in levels}, levels, "a"))
    assert list(found) == ["p2", "m2"]
    assert {(effect.value, effect.low, effect.contrasts) for effect in found.values()} == {(None, None, 0)}


def test_a_scenario_that_one_side_lacks_is_no_part_of_the_contrast() -> None:
    values = {"a": {"x": 1.0, "y": 1.0}, "b": {"x": 3.0, "z": 9.0}}
    [effect] = factor_effects(values, {"a": ("p1",), "b": ("p2",)}, "a")
    assert (effect.value, effect.scenarios, effect.low) == (2.0, 1, None)


def test_one_configuration_has_no_effects() -> None:
    assert factor_effects({"a": {"x": 1.0}}, {"a": ("p1", "m1")}, "a") == []


@given(st.dictionaries(st.sampled_from("wxyz"), st.floats(-1e3, 1e3), min_size=1), st.floats(-10, 10))
def test_adding_the_same_to_every_scenario_is_the_effect(scenarios: dict[str, float], added: float) -> None:
    values = {"a": scenarios, "b": {name: value + added for name, value in scenarios.items()}}
    [effect] = factor_effects(values, {"a": ("p1",), "b": ("p2",)}, "a")
    assert effect.value == pytest.approx(added, abs=1e-9)
