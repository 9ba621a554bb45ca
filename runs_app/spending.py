"""What earlier conversations took: seconds, and US dollars by the tokens that their agents told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Avg, DurationField, ExpressionWrapper, F, FloatField, Q, QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from pydantic import ValidationError

from runs_app.models import Outcome, Trial
from runs_app.prices.cost import Cost, Price, cost_of, price_of, price_table
from runs_app.realtime.record import Usage
from scenarios_app.spec.configuration import Configuration
from scenarios_app.spec.configuration_rules import SIMULATOR

USAGE: Final = {
    "input_tokens": "agent_input_tokens",
    "output_tokens": "agent_output_tokens",
    "input_text_tokens": "agent_input_text_tokens",
    "input_audio_tokens": "agent_input_audio_tokens",
    "input_cached_tokens": "agent_input_cached_tokens",
    "output_text_tokens": "agent_output_text_tokens",
    "output_audio_tokens": "agent_output_audio_tokens",
}
MORE: Final = {
    "backend_input": "backend_input_tokens",
    "backend_output": "backend_output_tokens",
    "billed_seconds": "session_seconds",
}
MOST_TRIALS: Final = 4000  # whose usage is looked at

Place = tuple[int, str]  # configuration version, scenario id; without a scenario: over all of them


@dataclass(frozen=True)
class Spent:
    """Of one trial, on average."""

    seconds: float | None
    cost: Cost | None


NOTHING: Final = Spent(None, None)
NO_PRICE: Final = Price(text_in=0.0)


def price_for(spec: Configuration) -> Price | None:
    """The configuration's own price table wins, where it is one."""
    if isinstance(spec.price_table, dict):
        try:
            return Price.model_validate(spec.price_table)
        except ValidationError:
            return None
    return price_of(spec.model)


def _backend_price(spec: Configuration) -> Price | None:
    """Of who thinks behind the voice; nothing where nobody does, or where that is simulated."""
    simulated = spec.backend is not None and spec.backend.endpoint == SIMULATOR
    return NO_PRICE if spec.backend_model is None or simulated else price_of(spec.backend_model)


@dataclass(frozen=True)
class Charge:
    """What trials of one configuration cost in US dollars. `cost` is null where it is not known, and `why` says so."""

    cost: Cost | None
    why: str = ""
    is_free: bool = False


def goes_by_usage(spec: Configuration) -> bool:
    """Only agents are priced: a simulated caller or judge makes none of them free, nor a real one dear."""
    return spec.endpoint != SIMULATOR and price_for(spec) is not None


def charge(
    spec: Configuration,
    label: str,
    repeats_of: Mapping[str, int],
    known: Mapping[Place, Spent],
    versions: Sequence[int],
) -> Charge:
    """Of so many repeats by scenario id. `versions`: whose usage in `known` stands for it, the first that told any."""
    if not goes_by_usage(spec):
        free = spec.endpoint == SIMULATOR
        return Charge(Cost(0.0, 0.0), is_free=True) if free else Charge(None, f"no price of {spec.model}")
    total = Cost(0.0, 0.0)
    for scenario, repeats in repeats_of.items():
        cost = next(filter(None, (spent_on(known, version, scenario).cost for version in versions)), None)
        if cost is None:
            return Charge(None, f"{label} told no usage so far")
        total += cost.times(repeats)
    return Charge(total, "" if _backend_price(spec) else f"no price of the backend {spec.backend_model}")


def charges_in_words(charges: Sequence[Charge]) -> str:
    """Of all together: what is known of it, and why that is not all."""
    if all(one.is_free for one in charges):
        return "nothing, the agents are simulated"
    total = sum((one.cost for one in charges if one.cost), Cost(0.0, 0.0))
    unknown = "; ".join(dict.fromkeys(one.why for one in charges if one.why))
    if not unknown:
        return f"{total} for the agents, at prices of {price_table().as_of}"
    return f"{total} and more: {unknown}" if total.high else f"unknown, {unknown}"


def spent(trials: QuerySet[Trial], specs: Mapping[int, Configuration]) -> dict[Place, Spent]:
    """Of the newest of these trials that have a verdict. `specs`: by configuration version, priced as each says."""
    found: dict[Place, Spent] = {}
    grouped: dict[int, list[Spent]] = {}
    for row in _rows(trials.filter(configuration_version__in=list(specs))):
        version = row["configuration_version_id"]
        one = Spent(row["lasted"].total_seconds() if row["lasted"] else None, _cost(row, specs[version]))
        found[version, row["scenario"]] = one
        grouped.setdefault(version, []).append(one)
    return found | {(version, ""): _mean(own) for version, own in grouped.items()}


def spent_on(known: Mapping[Place, Spent], version: int, scenario: str) -> Spent:
    """Of the scenario, or where it is not known there of the configuration."""
    rest = known.get((version, ""), NOTHING)
    own = known.get((version, scenario), rest)
    return Spent(own.seconds or rest.seconds, own.cost or rest.cost)


def _rows(trials: QuerySet[Trial]) -> Iterable[dict[str, Any]]:
    tokens = {name: _average(metric) for name, metric in (USAGE | MORE).items()}
    lasted = ExpressionWrapper(F("recorded_at") - F("started_at"), output_field=DurationField())
    graded = trials.filter(outcome__in=(Outcome.PASSED, Outcome.FAILED))
    newest = graded.order_by("-pk").values("pk")[:MOST_TRIALS]
    rows: Iterable[Any] = (
        Trial.objects.filter(pk__in=newest)
        .order_by()
        .values("configuration_version_id", scenario=F("scenario_version__scenario__key"))
        .annotate(lasted=Avg(lasted), **tokens)
    )
    return rows


def _average(metric: str) -> Avg:
    """Of those that measured it: SQLite casts a JSON null to 0."""
    return Avg(Cast(KT(f"metrics__{metric}"), FloatField()), filter=~Q(**{f"metrics__{metric}": None}))


def _cost(row: Mapping[str, Any], spec: Configuration) -> Cost | None:
    price = price_for(spec)
    if price is None:
        return None
    tokens = {name: None if row[name] is None else round(row[name]) for name in USAGE}
    lasted = row["lasted"].total_seconds() if row["lasted"] else 0.0
    seconds = lasted if row["billed_seconds"] is None else row["billed_seconds"]
    voice, backend = cost_of(Usage(**tokens), price, minutes=seconds / 60), _backend_cost(row, tokens, spec)
    return voice + backend if voice and backend else voice


def _backend_cost(row: Mapping[str, Any], tokens: Mapping[str, int | None], spec: Configuration) -> Cost | None:
    """None where it is not known, and where there is no backend. All tokens that GPT Live tells are the provider's
    backend's."""
    price = _backend_price(spec)
    if price is None or spec.backend_model is None:
        return None
    own = spec.own_backend is not None
    asked, told = (
        (row["backend_input"], row["backend_output"]) if own else (tokens["input_tokens"], tokens["output_tokens"])
    )
    cached = None if own else tokens["input_cached_tokens"]
    usage = Usage(
        input_text_tokens=None if asked is None else round(asked),
        output_text_tokens=None if told is None else round(told),
        input_cached_tokens=cached,
    )
    return cost_of(usage, price)


def _mean(known: Sequence[Spent]) -> Spent:
    seconds = [one.seconds for one in known if one.seconds is not None]
    costs = [one.cost for one in known if one.cost is not None]
    total = sum(costs, Cost(0.0, 0.0))
    return Spent(
        sum(seconds) / len(seconds) if seconds else None,
        total.times(1 / len(costs)) if costs else None,
    )
