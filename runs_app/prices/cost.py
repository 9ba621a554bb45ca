"""What a conversation cost, from the tokens that its agent reported and a dated table of prices.

The table is data (`table.json`). A model that it lacks has no price: nobody guesses. Where a provider tells how many
tokens were cached, or how many there were, but not of which class, the cost is a range.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

from runs_app.realtime.record import Usage

TABLE: Final = Path(__file__).with_name("table.json")
MILLION: Final = 1_000_000


class Price(BaseModel):
    """US dollars per million tokens of each class, or per minute of the call."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text_in: float = Field(default=0.0, ge=0)
    text_cached: float = Field(default=0.0, ge=0)
    text_out: float = Field(default=0.0, ge=0)
    audio_in: float = Field(default=0.0, ge=0)
    audio_cached: float = Field(default=0.0, ge=0)
    audio_out: float = Field(default=0.0, ge=0)
    per_minute: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _is_a_price(self) -> Price:
        if not self.model_fields_set:
            raise ValueError("a price names at least one class")
        return self

    @property
    def counts_tokens(self) -> bool:
        return bool(self.model_fields_set - {"per_minute"})


class Table(BaseModel):
    model_config = ConfigDict(frozen=True)

    as_of: str
    source: str
    currency: str
    models: dict[str, Price]


@dataclass(frozen=True)
class Cost:
    """US dollars, from `low` to `high`; equal where the tokens are told by class."""

    low: float
    high: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.low + other.low, self.high + other.high)

    def times(self, count: float) -> Cost:
        return Cost(self.low * count, self.high * count)

    def __str__(self) -> str:
        low, high = _dollars(self.low), _dollars(self.high)
        return low if low == high else f"{low} to {high}"


def _dollars(amount: float) -> str:
    if 0 < amount < 0.01:
        return "under $0.01"
    return f"${amount:,.2f}" if amount < 100 else f"${amount:,.0f}"


@cache
def price_table() -> Table:
    return Table.model_validate(json.loads(TABLE.read_text(encoding="utf-8")))


def price_of(model: str) -> Price | None:
    """None for a model that the table lacks."""
    return price_table().models.get(model.strip().lower())


def cost_of(usage: Usage, price: Price, *, minutes: float = 0.0) -> Cost | None:
    """Of one conversation; None when the agent told nothing that the price goes by."""
    timed = Cost(price.per_minute * minutes, price.per_minute * minutes)
    if not price.counts_tokens:
        return timed
    heard = _input(usage, price)
    said = _output(usage, price)
    return timed + heard + said if heard and said else None


def _input(usage: Usage, price: Price) -> Cost | None:
    text, audio = usage.input_text_tokens, usage.input_audio_tokens
    if text is None and audio is None:
        return _either(usage.input_tokens, (price.text_cached, price.audio_cached, price.text_in, price.audio_in))
    text, audio = text or 0, audio or 0
    full = (text * price.text_in + audio * price.audio_in) / MILLION
    savings = _savings(min(usage.input_cached_tokens or 0, text + audio), text, audio, price)
    return Cost(full - max(savings), full - min(savings))


def _savings(cached: int, text: int, audio: int, price: Price) -> tuple[float, float]:
    """What the cached tokens saved, if as many as possible were text, and if as many as possible were audio."""
    by_text, by_audio = price.text_in - price.text_cached, price.audio_in - price.audio_cached
    of_text, of_audio = min(cached, text), min(cached, audio)
    return (
        (of_text * by_text + (cached - of_text) * by_audio) / MILLION,
        ((cached - of_audio) * by_text + of_audio * by_audio) / MILLION,
    )


def _output(usage: Usage, price: Price) -> Cost | None:
    text, audio = usage.output_text_tokens, usage.output_audio_tokens
    if text is None and audio is None:
        return _either(usage.output_tokens, (price.text_out, price.audio_out))
    amount = ((text or 0) * price.text_out + (audio or 0) * price.audio_out) / MILLION
    return Cost(amount, amount)


def _either(tokens: int | None, prices: tuple[float, ...]) -> Cost | None:
    """Tokens of a class that nobody told."""
    return None if tokens is None else Cost(tokens * min(prices) / MILLION, tokens * max(prices) / MILLION)
