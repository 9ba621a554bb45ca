"""A difference with its interval and the baseline's noise, as positions on an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# of the drawing: 300 wide, no difference in the middle, ends kept free for the dot
MIDDLE: Final = 150.0
REACH: Final = 138.0
NARROWEST: Final = 0.05  # smaller differences are not blown up to fill the axis

Ends = tuple[float, float]


@dataclass(frozen=True)
class Drawing:
    """Positions on the axis; an interval or a band that is not there is None."""

    at: float
    low: float | None
    high: float | None
    noise_from: float | None
    noise_width: float | None


def draw(seen: float | None, interval: Ends | None, noise: Ends | None, *, none: float = 0.0) -> Drawing | None:
    """`none`: where there is no difference, 1 of a ratio. None where nothing was seen."""
    if seen is None:
        return None
    furthest = max(abs(number - none) for number in (seen, *(interval or ()), *(noise or ())))
    scale = REACH / (1.1 * max(NARROWEST, furthest))

    def place(number: float) -> float:
        return round(MIDDLE + scale * (number - none), 1)

    return Drawing(
        at=place(seen),
        low=place(interval[0]) if interval else None,
        high=place(interval[1]) if interval else None,
        noise_from=place(noise[0]) if noise else None,
        noise_width=round(scale * (noise[1] - noise[0]), 1) if noise else None,
    )


def noise_words(seen: float | None, noise: Ends | None) -> str:
    inside = seen is not None and noise is not None and noise[0] <= seen <= noise[1]
    return "Inside the noise of the baseline against itself" if inside else ""


def ends(low: float | None, high: float | None) -> Ends | None:
    return None if low is None or high is None else (low, high)
