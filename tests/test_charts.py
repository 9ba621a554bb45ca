"""Figures are plain dicts that plotly.js draws: plotly checks them, and nothing missing becomes a number."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs_app.charts import COLOURS, Figure, Series, series, slope_chart, style
from runs_app.charts_effects import Bar, effects_chart
from runs_app.comparing.choice import MOST_CONFIGURATIONS

ROOT = Path(__file__).resolve().parent.parent


def line(values: list[float | None], place: int = 0, name: str = "Front desk@1") -> Series:
    return series(chr(ord("A") + place), name, style(place), values)


def figure(*columns: list[float | None], share: bool = False) -> Figure:
    lines = [line(values, place) for place, values in enumerate(columns)]
    scenarios = [f"case_{n}" for n in range(len(columns[0]))]
    return slope_chart(scenarios, lines, title="response_latency_ms", share=share)


def traces(drawn: Figure, role: str) -> list[Figure]:
    return [trace for trace in drawn["data"] if trace["meta"]["role"] == role]


def segments(drawn: Figure) -> int:
    """How many strokes the joining lines are drawn with."""
    [links] = traces(drawn, "link")
    ys = links["y"]
    return sum(here is not None and there is not None for here, there in pairwise(ys))


values = st.lists(st.one_of(st.none(), st.floats(0, 1e5), st.just(float("nan"))), min_size=1, max_size=12)


@settings(deadline=None, max_examples=25)  # plotly loads its schema on first use
@given(st.lists(values, min_size=1, max_size=8).map(lambda rows: [row[: min(map(len, rows))] for row in rows]))
def test_every_figure_is_valid_for_plotly_and_strict_json(columns: list[list[float | None]]) -> None:
    for share in (True, False):
        drawn = figure(*columns, share=share)
        go.Figure(drawn)
        json.dumps(drawn, allow_nan=False)


def test_plotly_refuses_what_is_not_a_figure() -> None:
    drawn = figure([1.0])
    drawn["data"][0]["mode"] = "dots"
    with pytest.raises(ValueError, match="mode"):
        go.Figure(drawn)


@pytest.mark.case("F01")
def test_no_line_is_drawn_through_a_missing_value() -> None:
    """F01: 400, null, 520, 610: no stroke at the second scenario, a mean of 510, the empty series named so."""
    both = figure([400, None, 520, 610], [410, 500, 530, 620])
    assert segments(both) == 3
    assert traces(both, "link")[0]["connectgaps"] is False
    assert traces(both, "values")[0]["y"] == [400, None, 520, 610]
    assert traces(both, "centre")[0]["y"] == [510]
    empty = figure([400, None, 520, 610], [None] * 4)
    assert segments(empty) == 0
    assert traces(empty, "values")[1]["name"].endswith("(no data)")


@pytest.mark.case("F01")
def test_a_single_point_is_a_marker_without_an_interval() -> None:
    """F01: one scenario is a point."""
    drawn = figure([400])
    [point], [centre] = traces(drawn, "values"), traces(drawn, "centre")
    assert (point["mode"], point["y"]) == ("markers", [400])
    assert centre["error_y"]["visible"] is False


def test_a_scenario_stands_at_the_same_place_in_every_configuration() -> None:
    first, second = traces(figure([1, 2, 3], [4, 5, 6]), "values")
    assert [b - a for a, b in zip(first["x"], second["x"], strict=True)] == pytest.approx([1, 1, 1])
    assert max(first["x"]) < min(second["x"]) - 0.5


def test_the_interval_is_that_of_t_or_the_one_given() -> None:
    [centre] = traces(figure([1.0, 3.0] * 10), "centre")
    # t with 19 degrees of freedom at 95 %: 2.093 x sqrt(20 / 19) / sqrt(20)
    assert centre["error_y"]["array"] == pytest.approx([0.4802], abs=0.0001)
    [few] = traces(figure([1.0, 3.0] * 9), "centre")
    assert few["error_y"]["visible"] is False
    given_one = slope_chart(["a"], [series("A", "x", style(0), [0.5], (0.1, 0.8))], title="t", share=True)
    [centre] = traces(given_one, "centre")
    assert (centre["error_y"]["array"], centre["error_y"]["arrayminus"]) == ([pytest.approx(0.3)], [pytest.approx(0.4)])


@pytest.mark.case("F06")
def test_as_many_configurations_as_have_a_letter_differ_by_colour_and_shape_and_by_colour_and_dash() -> None:
    """F06: more series than colours: every pair of configurations differs in what it is drawn with."""
    drawn = traces(figure(*([[1.0]] * MOST_CONFIGURATIONS)), "values")
    assert len({(trace["meta"]["token"], trace["marker"]["symbol"]) for trace in drawn}) == MOST_CONFIGURATIONS
    assert len({(style(place).token, style(place).dash) for place in range(MOST_CONFIGURATIONS)}) == MOST_CONFIGURATIONS


def test_an_interval_that_reaches_beyond_a_share_is_not_cut_off() -> None:
    drawn = figure([1.0, 1.0, 1.0, -0.7] * 5, share=True)
    [centre] = traces(drawn, "centre")
    top = centre["y"][0] + centre["error_y"]["array"][0]
    assert top > 0.9
    low, high = drawn["layout"]["yaxis"]["range"]
    assert low < centre["y"][0] - centre["error_y"]["arrayminus"][0]
    assert high > top


def test_long_names_are_cut_in_the_middle_and_keep_their_letter() -> None:
    name = f"{'long ' * 12}@17"
    lines = [line([1.0], 0, name), line([2.0], 1, name)]
    first, second = traces(slope_chart(["a"], lines, title="t", share=False), "values")
    assert first["name"] != second["name"]
    assert first["name"].startswith("A long")
    assert first["name"].endswith("@17")
    assert len(first["name"]) <= 43


def test_a_name_is_text_and_never_markup() -> None:
    [trace] = traces(slope_chart(["a"], [line([1.0], 0, "<b>x</b>@1")], title="t", share=False), "values")
    assert trace["name"] == "A &lt;b&gt;x&lt;/b&gt;@1"


def test_figures_name_tokens_that_exist() -> None:
    tokens = (ROOT / "static" / "css" / "tokens.css").read_text()
    for trace in figure(*([[1.0]] * 8))["data"]:
        assert f"{trace['meta']['token']}:" in tokens


def _colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--series-([a-h]): (#[0-9a-f]{6});", css))


def _contrast(one: str, other: str) -> float:
    """By WCAG 2: from 1 to 21."""

    def light(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_every_configuration_has_the_colour_of_its_line_in_cards_chips_and_bars() -> None:
    styles = "".join((ROOT / f"static/css/{name}.css").read_text() for name in ("compare", "components"))
    for letter in COLOURS:
        for selector in (f".card .pair .{letter}", f".bar.{letter}", f".chip.{letter} .swatch"):
            assert re.search(rf"{re.escape(selector)} {{\s+[a-z]+: var\(--series-{letter}\);", styles), selector


def test_every_colour_of_a_configuration_can_be_told_from_its_panel() -> None:
    light, *dark = re.split(r"(?=--paper: )", (ROOT / "static/css/tokens.css").read_text())[1:]
    for theme in (light, *dark):
        found, panel = _colours(theme), re.search(r"--panel: (#[0-9a-f]{6})", theme)
        assert set(found) == set(COLOURS)
        assert panel is not None
        assert min(_contrast(colour, panel[1]) for colour in found.values()) >= 3


def test_an_effect_is_named_in_lines_as_narrow_as_a_phone() -> None:
    named = "prompt: prompt@1 of A → prompt@1 of C with model: <m1> → m2"
    drawn = effects_chart([Bar(named, 0.1, 0.0, 0.2), Bar("voice: a → b", None, None, None)], title="difference")
    lines = drawn["data"][0]["y"][0].split("<br>")
    assert lines == ["prompt: prompt@1 of A", "→ prompt@1 of C", "with model: &lt;m1&gt;", "→ m2"]
    flat = effects_chart([Bar("a", 0.1, None, None), Bar("b", 0.1, None, None)], title="difference")
    assert drawn["layout"]["height"] - flat["layout"]["height"] == 2 * 3 * 15
