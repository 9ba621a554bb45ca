"""One metric of one pair as its card tells it: the difference, its interval, what it is worth, and a drawing of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from runs_app.comparing.drawing import Drawing, Ends, draw, ends, noise_words
from runs_app.comparing.loading import Column
from runs_app.comparing.tail_words import Tail
from runs_app.comparing.words import interval_text, plural, ratio_text, share_text, signed_text
from runs_app.stats.change import describe_change
from runs_app.stats.pair import MetricComparison, PairComparison
from runs_app.stats.rows import PRIMARY, MetricRule

RULES: Final = {rule.name: rule for rule in PRIMARY}
CLASSES: Final = {"Better": "better", "Worse": "worse", "Equivalent": "equivalent"}
SHAPES: Final = {"Better": "up", "Worse": "down", "Equivalent": "same", "Can't tell": "unsure", "Not comparable": "not"}


@dataclass(frozen=True)
class Difference:
    """`detail` is what a hover adds: method, level, n, exclusions. `sees`: the smallest difference that this design
    would find."""

    column: Column
    text: str
    interval: str
    p: str
    n: int
    word: str
    css: str
    shape: str
    reason: str
    note: str
    change: str
    detail: str
    sees: str
    drawing: Drawing | None
    better: int
    worse: int
    same: int
    can_ask: bool  # more repeats might tell
    tails: tuple[Tail, ...]


def difference_of(
    metric: str, pair: PairComparison, column: Column, *, timeouts: int, tails: tuple[Tail, ...] = ()
) -> Difference:
    """`timeouts`: trials of both sides that never answered. `tails`: differences of what is no mean."""
    compared = pair.metrics[metric]
    paired, verdict = compared.paired, compared.verdict
    return Difference(
        column=column,
        text=_difference_text(metric, compared),
        interval=_interval(metric, compared),
        p=_p(compared),
        n=paired.n,
        word=verdict.word,
        css=CLASSES.get(verdict.word, "cant"),
        shape=SHAPES[verdict.word],
        reason=verdict.reason,
        note=". ".join(
            filter(None, (_small(compared), _timeouts(compared, timeouts), _in_noise(compared), _too_few(compared)))
        ),
        change=describe_change(paired.mean_a, paired.mean_b),
        detail=_detail(metric, compared, column.letter),
        sees=_sees(metric, compared),
        drawing=_drawing(compared),
        better=compared.better,
        worse=compared.worse,
        same=compared.same,
        can_ask=verdict.word == "Can't tell" and verdict.code == "undecided" and paired.n > 1,
        tails=() if verdict.word == "Not comparable" else tails,
    )


def _difference_text(metric: str, compared: MetricComparison) -> str:
    text = signed_text(metric, compared.paired.difference)
    # the verdict on time rests on the ratio: it comes first, with its own interval
    return f"{ratio_text(compared.ratio.value)} ({text})" if compared.ratio else text


def _interval(metric: str, compared: MetricComparison) -> str:
    ratio = compared.ratio
    if ratio is None:
        return interval_text(metric, compared.paired.low, compared.paired.high)
    if ratio.low is None or ratio.high is None:
        return ""
    return f"[{ratio_text(ratio.low)}, {ratio_text(ratio.high)}]"


def _p(compared: MetricComparison) -> str:
    p = compared.p_value if compared.p_adjusted is None else compared.p_adjusted
    if p is None or compared.verdict.word == "Not comparable":
        return ""
    return "p < .001" if p < 0.001 else f"p {p:.3f}".replace("0.", ".")


def _detail(metric: str, compared: MetricComparison, letter: str) -> str:
    paired = compared.paired
    parts = [
        f"{100 * (1 - compared.alpha):.3g} % interval of the paired difference ({compared.method})",
        f"p {compared.p_value:.3g}" if compared.p_value is not None else "",
        f"with Holm {compared.p_adjusted:.3g}" if compared.p_adjusted is not None else "not a primary metric",
        f"by sign flips {paired.sign_flip_p:.3g}" if paired.sign_flip_p is not None else "",
        _bounds(metric, compared, letter),
        _equivalence(metric, compared),
        f"change {describe_change(paired.mean_a, paired.mean_b)}",
    ]
    return "; ".join(part for part in parts if part)


def _bounds(metric: str, compared: MetricComparison, letter: str) -> str:
    bounds = compared.bounds
    if bounds is None:
        return ""
    worst, best = signed_text(metric, bounds.worst), signed_text(metric, bounds.best)
    return f"with all trials without a verdict against {letter} {worst}, for it {best}"


def _equivalence(metric: str, compared: MetricComparison) -> str:
    found = compared.equivalence
    if found is None:
        return ""
    ends = f"[{_margin_end(metric, compared, found.low)}, {_margin_end(metric, compared, found.high)}]"
    return f"90 % interval {ends} against the margin: {'inside' if found.holds else 'not inside'}"


def _margin_end(metric: str, compared: MetricComparison, end: float) -> str:
    return ratio_text(end) if compared.ratio else signed_text(metric, end)


def _sees(metric: str, compared: MetricComparison) -> str:
    if compared.mde is None or (not compared.ratio and compared.mde >= 1):  # no share can differ by more
        return ""
    size = share_text(compared.mde) if compared.ratio else signed_text(metric, compared.mde).lstrip("+")
    return f"would see {size}"


def _small(compared: MetricComparison) -> str:
    return "Smaller than the margin that was set" if compared.verdict.small else ""


def _timeouts(compared: MetricComparison, timeouts: int) -> str:
    """The ratio counts a time-out at its limit and the milliseconds cannot, so that the two may even disagree."""
    if not timeouts or compared.ratio is None:
        return ""
    return f"The percentage counts {plural(timeouts, 'time-out')} at the limit; the ms leave them out"


def _in_noise(compared: MetricComparison) -> str:
    if compared.paired.identical or compared.verdict.word == "Not comparable":
        return ""
    return noise_words(compared.ratio.value if compared.ratio else compared.paired.difference, _noise(compared))


def _too_few(compared: MetricComparison) -> str:
    if compared.fewest <= compared.paired.n or compared.paired.n < 2 or compared.paired.identical:
        return ""
    once = " with one repeat" if compared.method == "exact McNemar" else ""
    return f"{compared.paired.n} scenarios are too few for an interval{once}: {compared.fewest} would have one"


def _noise(compared: MetricComparison) -> Ends | None:
    return (compared.noise.low, compared.noise.high) if compared.noise else None


def _drawing(compared: MetricComparison) -> Drawing | None:
    if (ratio := compared.ratio) is not None:
        return draw(ratio.value, ends(ratio.low, ratio.high), _noise(compared), none=1.0)
    paired = compared.paired
    return draw(paired.difference, ends(paired.low, paired.high), _noise(compared))


def direction(rule: MetricRule, difference: float | None) -> str:
    """better, worse or same; empty where one side has no value."""
    if difference is None:
        return ""
    if abs(difference) < 1e-9:
        return "same"
    return "better" if (difference > 0) == (rule.better == "higher") else "worse"
