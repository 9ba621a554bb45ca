"""What browser tests of players ask the page, and calls that can be heard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.grading import builders as evidence

if TYPE_CHECKING:
    from playwright.sync_api import Page

PLAYERS = "[...document.querySelectorAll('[data-player]')]"
SHOWN = f"{PLAYERS}.find((one) => one.checkVisibility())"
# How a player stands, for when what should have been heard was not.
STATE = f"""() => {{
  const one = {SHOWN}, audio = one?.querySelector("audio");
  return JSON.stringify({{at: audio?.currentTime, paused: audio?.paused, ready: audio?.readyState, error: audio?.error,
    said: document.querySelector('[data-part="said"]')?.textContent, told: one?.querySelector('[data-part="problem"]')
    ?.textContent, dialog: Boolean(document.querySelector("dialog[open]")), focus: document.activeElement?.outerHTML
    .slice(0, 80), played: window.played, lag: window.lag}});
}}"""


def now(page: Page, what: str = "currentTime") -> Any:
    return page.evaluate(f"{SHOWN}?.querySelector('audio').{what} ?? 0")


def talking(*turns: tuple[float, float, float, float], total_ms: float) -> tuple[Any, Any]:
    """A record and its sound. Of each turn: the caller's start and end, the agent's start and end, in ms."""
    sound = evidence.recording([t[:2] for t in turns], [t[2:] for t in turns], total_ms)
    spoken = tuple(
        evidence.spoken(caller=t[:2], agent=(t[2:],), index=n, text=f"Answer {n + 1}.") for n, t in enumerate(turns)
    )
    return evidence.audio_record(turns=spoken, audio_samples=len(sound)), sound
