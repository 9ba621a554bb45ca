"""What every client here asks for, and the one line that it reports.

A client is started as `CLIENT URL text|audio WAV` and prints one JSON object as its last line: the calls it was asked
to make, the agent's words, the bytes of its sound, and what went wrong.
"""

from __future__ import annotations

import json
import sys
import wave
from dataclasses import asdict, dataclass, field
from typing import Any

SENTENCE = "Book a table for Maya on August 6 at 7 p.m. for two."
INSTRUCTIONS = "You take bookings for a restaurant."
MODEL = "gpt-realtime"
KEY = "interop-key"
RESULT = '{"ok": true}'
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"guest_name": {"type": "string"}, "date": {"type": "string"}},
    "required": ["guest_name", "date"],
}


@dataclass(frozen=True)
class Asked:
    url: str
    mode: str
    wav: str

    def pcm(self) -> bytes:
        """The spoken sentence: 16 bit, mono, 24 kHz."""
        with wave.open(self.wav) as file:
            return file.readframes(file.getnframes())


@dataclass
class Report:
    calls: list[Any] = field(default_factory=list)
    text: str = ""
    audio_bytes: int = 0
    errors: list[str] = field(default_factory=list)

    def print(self) -> None:
        print(json.dumps(asdict(self)), flush=True)


def asked() -> Asked:
    return Asked(*sys.argv[1:4])
