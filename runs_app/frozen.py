"""A frozen comparison in the words of a page, read from its JSON alone: nothing is computed anew.

The JSON is as comparing.export wrote it on that day. What an older or a newer one lacks is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from runs_app.comparing.drawing import Drawing, draw, ends, noise_words
from runs_app.comparing.tail_words import (
    Tail,
    common_k,
    percentile_changes,
    percentile_tails,
    repeat_changes,
    repeat_tails,
)
from runs_app.comparing.words import signed_text, value_text
from runs_app.stats.estimate import BEING_COMPUTED, Estimate, Tails
from runs_app.stats.rows import LATENCY, PASS_RATE
from runs_app.stats.summary import Summary

Json = Any

WAS_COMPUTED: Final = "the interval was still being computed"
MARKS: Final = {"Better": "up", "Worse": "down"}


@dataclass(frozen=True)
class Row:
    """A metric of the pair. Texts are ready to be shown; empty ones were not measured."""

    metric: str
    a: str
    b: str
    difference: str
    interval: str
    p_value: str
    word: str
    reason: str
    primary: bool
    noise: str = ""  # the band of the baseline against itself
    note: str = ""
    drawing: Drawing | None = None
    a_tails: tuple[Tail, ...] = ()
    b_tails: tuple[Tail, ...] = ()
    tails: tuple[Tail, ...] = ()  # of the difference

    @property
    def text(self) -> str:
        """What the drawing is called by."""
        return self.difference

    @property
    def css(self) -> str:
        return {"Better": "better", "Worse": "worse"}.get(self.word, "cant")

    @property
    def shape(self) -> str:
        return MARKS.get(self.word, "")


@dataclass(frozen=True)
class Scenario:
    name: str
    critical: bool
    a: str
    b: str
    note: str


@dataclass(frozen=True)
class Frozen:
    a: str
    b: str
    simulated: bool
    runs: tuple[tuple[int, str], ...]
    paired: int
    of: int
    left_out: tuple[str, ...]
    critical: tuple[str, ...]
    passport: tuple[str, ...]
    rows: tuple[Row, ...]
    scenarios: tuple[Scenario, ...]


def read_frozen(document: Mapping[str, Json], candidate: str = "") -> Frozen | None:
    """The pair of the baseline with `candidate` (NAME@VERSION), by default the first. None where there is no pair."""
    letters = {one["configuration"]: f"{one['name']}@{one['version']}" for one in document.get("configurations", ())}
    pairs = [pair for pair in document.get("pairs", ()) if candidate in ("", letters.get(pair["b"]))]
    if not pairs:
        return None
    pair = pairs[0]
    tails = _tails(pair, {one["configuration"]: one for one in document.get("configurations", ())})
    return Frozen(
        a=letters[pair["a"]],
        b=letters[pair["b"]],
        simulated=bool(document.get("simulated")),
        runs=tuple((run["run"], run["name"]) for run in document.get("runs", ())),
        paired=pair.get("paired", 0),
        of=pair.get("of", 0),
        left_out=tuple(name for part in ("changed", "only_a", "only_b") for name in pair.get(part, ())),
        critical=tuple(str(one.get("scenario", one)) for one in _critical(document, pair)),
        passport=tuple(_stamps(pair)),
        rows=tuple(
            _row(name, metric, *(one.get(name, ()) for one in tails))
            for name, metric in pair.get("metrics", {}).items()
        ),
        scenarios=tuple(_scenario(one, pair["a"], pair["b"]) for one in document.get("scenarios", ())),
    )


def _critical(document: Mapping[str, Json], pair: Mapping[str, Json]) -> Iterable[Json]:
    return [one for one in document.get("critical", ()) if one.get("letter", pair["b"]) == pair["b"]]


def _stamps(pair: Mapping[str, Json]) -> Iterable[str]:
    """What of the passport was not alike."""
    for stamp in pair.get("passport", ()):
        if not stamp.get("is_same", True):
            name, a, b, bias = (str(stamp.get(key, "")) for key in ("name", "a", "b", "bias"))
            yield f"{name}: {a} and {b}. {bias}".strip()


def _row(
    name: str,
    metric: Mapping[str, Json],
    a_tails: tuple[Tail, ...],
    b_tails: tuple[Tail, ...],
    tails: tuple[Tail, ...],
) -> Row:
    paired, verdict = metric.get("paired") or {}, metric.get("verdict") or {}
    ratio, noise, word = metric.get("ratio"), metric.get("noise") or {}, str(verdict.get("word", ""))
    seen, band = _seen(metric), ends(noise.get("low"), noise.get("high"))
    told = not paired.get("identical") and word != "Not comparable"
    return Row(
        metric=name,
        a=_value(name, paired.get("mean_a")),
        b=_value(name, paired.get("mean_b")),
        difference=_difference(name, paired.get("difference"), str(metric.get("change") or "")),
        interval=_percent_interval(ratio) if ratio else _interval(name, paired),
        p_value=f"{metric['p_value']:.3g}" if metric.get("p_value") is not None else "",
        word=word,
        reason=str(verdict.get("reason", "")),
        primary=metric.get("primary") is not False,
        noise=_percent_interval(noise) if ratio else _interval(name, noise),
        note=noise_words(seen, band) if told else "",
        drawing=draw(seen, _ends_of(metric), band, none=1.0 if ratio else 0.0),
        a_tails=a_tails,
        b_tails=b_tails,
        tails=() if word == "Not comparable" else tails,
    )


def _seen(metric: Mapping[str, Json]) -> float | None:
    """What the verdict rests on: of a latency the ratio."""
    ratio, paired = metric.get("ratio"), metric.get("paired") or {}
    found: float | None = ratio.get("value") if ratio else paired.get("difference")
    return found


def _ends_of(metric: Mapping[str, Json]) -> tuple[float, float] | None:
    told = metric.get("ratio") or metric.get("paired") or {}
    return ends(told.get("low"), told.get("high"))


def _tails(
    pair: Mapping[str, Json], configurations: Mapping[str, Mapping[str, Json]]
) -> list[dict[str, tuple[Tail, ...]]]:
    """Metric -> what is no mean, of A, of B, and of their difference; empty where the document has none of it."""
    both = [configurations[pair["a"]], configurations[pair["b"]]]
    sides, numbers = [_told_tails(one) for one in both], [_latency(one) for one in both]
    k = common_k(sides)
    found = [
        {PASS_RATE: repeat_tails(side, k), LATENCY: percentile_tails(own, side) if side and own else ()}
        for side, own in zip(sides, numbers, strict=True)
    ]
    difference = _told_tails(pair)
    if difference is None:
        return [*found, {}]
    thin = any(own is not None and own.p95_is_thin for own in numbers)
    changes = {PASS_RATE: repeat_changes(difference, k), LATENCY: percentile_changes(difference, is_thin=thin)}
    return [*found, changes]


def _told_tails(part: Mapping[str, Json]) -> Tails | None:
    told = part.get("tails")
    if not told:
        return None
    pass_k = {int(k): _estimate(one) for k, one in (told.get("pass_k") or {}).items()}
    return Tails(_estimate(told.get("p50") or {}), _estimate(told.get("p95") or {}), pass_k)


def _latency(configuration: Mapping[str, Json]) -> Summary | None:
    told = (configuration.get("metrics") or {}).get(LATENCY) or {}
    if not told.get("n"):
        return None
    return Summary(told.get("mean"), told.get("p50"), told.get("p95"), told["n"], told.get("of", 0))


def _estimate(told: Mapping[str, Json]) -> Estimate:
    known = {one.name: told[one.name] for one in fields(Estimate) if one.name in told}
    if known.get("why") == BEING_COMPUTED:
        known["why"] = WAS_COMPUTED
    return Estimate(**{"value": None, **known})


def _difference(metric: str, difference: float | None, change: str) -> str:
    """In the metric's unit, with the share of the baseline beside it."""
    if difference is None:
        return change
    told = signed_text(metric, difference)
    return f"{told} ({change})" if change and difference else told


def _value(metric: str, value: float | None) -> str:
    return "" if value is None else value_text(metric, value)


def _interval(metric: str, paired: Mapping[str, Json]) -> str:
    low, high = paired.get("low"), paired.get("high")
    return "" if low is None or high is None else f"[{signed_text(metric, low)}, {signed_text(metric, high)}]"


def _percent_interval(ratio: Mapping[str, Json]) -> str:
    low, high = ratio.get("low"), ratio.get("high")
    return (
        ""
        if low is None or high is None
        else f"[{low - 1:+.1%}, {high - 1:+.1%}]".replace("%", "\u202f%").replace("-", "−")
    )


def _scenario(one: Mapping[str, Json], a: str, b: str) -> Scenario:
    sides = one.get("sides", {})
    return Scenario(
        name=str(one.get("scenario", "")),
        critical=bool(one.get("critical")),
        a=_outcomes(sides.get(a) or {}),
        b=_outcomes(sides.get(b) or {}),
        note=str(one.get("note") or ""),
    )


def _outcomes(side: Mapping[str, Json]) -> str:
    """`2 passed, 1 failed` over the repeats."""
    outcomes = [str(trial.get("outcome") or "not done") for trial in side.get("trials", ())]
    return ", ".join(f"{outcomes.count(name)} {name}" for name in dict.fromkeys(sorted(outcomes, reverse=True)))
