"""What conversations cost, worked out by hand from the dated table."""

from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from runs_app.prices.cost import Cost, Price, cost_of, price_of, price_table
from runs_app.realtime.record import Usage
from scenarios_app.spec.lint import PRICES

PRICE = Price(text_in=4, text_cached=0.4, text_out=16, audio_in=32, audio_cached=0.4, audio_out=64)


def usage(**tokens: int) -> Usage:
    return Usage(**tokens)


def test_the_table_is_dated_and_every_price_in_it_can_be_read() -> None:
    table = price_table()
    assert date.fromisoformat(table.as_of).year >= 2026
    assert price_of("gpt-realtime") == PRICE
    assert price_of(" GPT-Realtime ") == PRICE
    assert all(price.counts_tokens or price.per_minute for price in table.models.values())


def test_a_configuration_is_told_of_every_price_that_there_is() -> None:
    assert set(PRICES) == set(Price.model_fields)


def test_a_model_that_the_table_lacks_has_no_price() -> None:
    assert price_of("voice-1") is None


def test_each_class_of_tokens_has_its_own_price() -> None:
    told = usage(input_text_tokens=1_000, input_audio_tokens=2_000, output_text_tokens=500, output_audio_tokens=1_500)
    # 1,000 x 4 + 2,000 x 32 + 500 x 16 + 1,500 x 64 = 172,000 millionths
    assert cost_of(told, PRICE) == Cost(pytest.approx(0.172), pytest.approx(0.172))  # type: ignore[arg-type]


def test_cached_tokens_of_an_unknown_class_make_a_range() -> None:
    told = usage(
        input_text_tokens=1_000,
        input_audio_tokens=2_000,
        input_cached_tokens=500,
        output_text_tokens=0,
        output_audio_tokens=0,
    )
    found = cost_of(told, PRICE)
    assert found is not None
    # full 68,000; were they text, 500 x 3.6 is saved, were they audio 500 x 31.6
    assert found.low == pytest.approx((68_000 - 15_800) / 1e6)
    assert found.high == pytest.approx((68_000 - 1_800) / 1e6)


def test_more_cached_tokens_than_one_class_has_are_of_the_other() -> None:
    told = usage(
        input_text_tokens=100,
        input_audio_tokens=100,
        input_cached_tokens=150,
        output_text_tokens=0,
        output_audio_tokens=0,
    )
    found = cost_of(told, PRICE)
    assert found is not None
    # full 3,600; 100 text + 50 audio save 360 + 1,580, 50 text + 100 audio save 180 + 3,160
    assert (found.low, found.high) == (pytest.approx(260 / 1e6), pytest.approx(1_660 / 1e6))


def test_totals_alone_give_the_range_between_the_cheapest_and_the_dearest_class() -> None:
    found = cost_of(usage(input_tokens=1_000, output_tokens=1_000), PRICE)
    assert found is not None
    assert found.low == pytest.approx((400 + 16_000) / 1e6)
    assert found.high == pytest.approx((32_000 + 64_000) / 1e6)


def test_without_usage_nothing_is_known() -> None:
    assert cost_of(usage(), PRICE) is None
    assert cost_of(usage(input_tokens=5), PRICE) is None


def test_a_call_billed_by_the_minute_needs_no_tokens() -> None:
    price = price_of("gpt-live-1")
    assert price is not None
    found = cost_of(usage(), price, minutes=3.0)
    assert found is not None
    assert found.low == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Cost(0.0, 0.0), "$0.00"),
        (Cost(0.004, 0.004), "under $0.01"),
        (Cost(0.9, 0.904), "$0.90"),
        (Cost(0.9, 1.2), "$0.90 to $1.20"),
        (Cost(1234.4, 1234.4), "$1,234"),
    ],
)
def test_costs_read_as_amounts(cost: Cost, words: str) -> None:
    assert str(cost) == words


def test_a_price_without_any_class_or_below_zero_is_refused() -> None:
    with pytest.raises(ValidationError):
        Price.model_validate({})
    with pytest.raises(ValidationError):
        Price.model_validate({"text_in": -1})
