"""What real servers said, recorded (transcripts/SERVER/MODE.jsonl), as scripts for our own scripted server.

A line is `{"at_ms", "from": "server"|"client", "event"}`; appends were left out, and base64 was shortened to
`<b64 N>`: N characters, which become a tone here.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tests.scripted_steps import Expect, Send, Step

FOLDER = Path(__file__).parent / "transcripts"
SHORTENED = re.compile(r"<b64 (\d+)>")

Line = dict[str, Any]


def lines(name: str) -> list[Line]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]


def server_events(name: str) -> list[dict[str, Any]]:
    return [with_sound(line["event"]) for line in lines(name) if line["from"] == "server"]


def script(told: Iterable[Line]) -> list[Step]:
    """Wait for what the recorded client sent, say what the recorded server said."""
    return [
        Send(with_sound(line["event"])) if line["from"] == "server" else Expect(line["event"]["type"]) for line in told
    ]


def with_sound(event: dict[str, Any]) -> dict[str, Any]:
    found = SHORTENED.fullmatch(str(event.get("delta", "")))
    return {**event, "delta": sound(int(found[1]))} if found else event


def sound(characters: int) -> str:
    """PCM16 of a 440 Hz tone whose base64 is as long as the recorded one was."""
    samples = characters // 4 * 3 // 2
    tone = 6_000 * np.sin(2 * np.pi * 440 * np.arange(samples) / 24_000)
    return base64.b64encode(tone.astype("<i2").tobytes()).decode()
